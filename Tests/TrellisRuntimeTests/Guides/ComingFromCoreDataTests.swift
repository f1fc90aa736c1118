import Foundation
import Testing
import Trellis
import TrellisDiaryModel
import TrellisTestSupport

// The samples of Docs/ComingFromCoreData.md, as they stand there.

private enum Samples {
  static func diaries(of emotion: Emotion, in context: ManagedObjectContext) throws -> [EmotionDiary] {
    try context.fetch(EmotionDiary.where { $0.emotion == emotion }.sorted { $0.createdAt.descending })
  }

  static func search(_ keyword: String, in context: ManagedObjectContext) throws -> [EmotionDiary] {
    try context.fetch(
      EmotionDiary.where("content CONTAINS[cd] \(keyword) OR emotion CONTAINS[cd] \(keyword)")
        .sorted { $0.createdAt.descending })
  }

  static func latest(of emotion: Emotion, in context: ManagedObjectContext) throws -> EmotionDiary? {
    try context.first(EmotionDiary.latest(emotion: emotion))
  }
}

@Suite("The samples of the guide for those who come from Core Data") struct ComingFromCoreDataTests {
  private let file = TemporaryFile()

  private func contexts() throws -> [ManagedObjectContext] {
    try [StoreConfiguration.memory, .sqlite(at: file.url)].map { store in
      let container = try PersistentContainer(model: .diary, store: store)
      let context = container.newContext()
      for (number, emotion) in [Emotion.happy, .sad, .happy].enumerated() {
        _ = EmotionDiary(
          in: context, emotion: emotion, content: ["산책하고 커피", "Rain", "Sadly no CAFÉ"][number],
          createdAt: Date(timeIntervalSince1970: Double(number)))
      }
      try context.save()
      return context
    }
  }

  @Test("the three functions answer the same in every store, before and after a save")
  func functions() throws {
    for context in try contexts() {
      #expect(try Samples.diaries(of: .happy, in: context).map(\.content) == ["Sadly no CAFÉ", "산책하고 커피"])
      #expect(try Samples.search("SAD", in: context).map(\.content) == ["Sadly no CAFÉ", "Rain"])
      #expect(try Samples.search("cafe", in: context).map(\.content) == ["Sadly no CAFÉ"])
      #expect(try Samples.latest(of: .happy, in: context)?.content == "Sadly no CAFÉ")
      #expect(try Samples.latest(of: .calm, in: context) == nil)
      _ = EmotionDiary(in: context, emotion: .calm, content: "new")
      #expect(try Samples.latest(of: .calm, in: context)?.content == "new")
    }
  }

  @Test(
    "each function stands on the page as it is compiled here",
    arguments: ["ComingFromCoreData.md", "ComingFromSwiftData.md"])
  func page(name: String) throws { #expect(try GuideText(name).samples(missingFrom: #filePath) == []) }
}
