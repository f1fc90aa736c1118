import Foundation
import Testing
import Trellis
import TrellisDiaryModel

@Suite("Fetching by format strings") struct FormatFetchingTests {
  private let context: ManagedObjectContext
  private let walk: EmotionDiary
  private let rain: EmotionDiary
  private let tag: TrellisDiaryModel.Tag

  init() throws {
    context = try PersistentContainer(model: .diary, store: .memory).newContext()
    walk = EmotionDiary(in: context, emotion: .happy, content: "산책하고 커피", createdAt: Date(timeIntervalSince1970: 100))
    rain = EmotionDiary(in: context, emotion: .sad, content: "Rain, Café", createdAt: Date(timeIntervalSince1970: 200))
    tag = TrellisDiaryModel.Tag(in: context, name: "friends")
    walk.tags.append(tag)
    walk.images.append(DiaryImage(in: context, imagePath: "1.png"))
    walk.images.append(DiaryImage(in: context, imagePath: "2.jpg"))
    try context.save()
  }

  private func contents(_ request: FetchRequest<EmotionDiary.Columns>) throws -> [String] {
    try context.fetch(request.sorted { $0.createdAt }).map(\.content)
  }

  @Test("interpolations and arguments bind values, and nothing else")
  func binding() throws {
    let keyword = "커피"
    #expect(
      try contents(EmotionDiary.where("content CONTAINS[cd] \(keyword) OR emotion == %@", "angry")) == [walk.content])
    let attack = "' OR TRUEPREDICATE OR content == '"
    #expect(try contents(EmotionDiary.where("content CONTAINS \(attack)")) == [])
    #expect(try contents(EmotionDiary.where("\(key: "content") CONTAINS[cd] %@", "cafe")) == [rain.content])
  }

  @Test("every type of a model can be an argument")
  func arguments() throws {
    #expect(try contents(EmotionDiary.where("emotion == %@", Emotion.sad)) == [rain.content])
    #expect(try contents(EmotionDiary.where("emotion IN %@", [Emotion.sad, .happy])).count == 2)
    #expect(try contents(EmotionDiary.where("createdAt > %@", Date(timeIntervalSince1970: 150))) == [rain.content])
    let days = Date(timeIntervalSince1970: 50)...Date(timeIntervalSince1970: 150)
    #expect(try contents(EmotionDiary.where("createdAt BETWEEN %@", days)) == [walk.content])
    #expect(try contents(EmotionDiary.where("id == %@", rain.id)) == [rain.content])
    #expect(try contents(EmotionDiary.where("SELF == %@", walk)) == [walk.content])
    #expect(try contents(EmotionDiary.where("SELF IN %@", [walk.objectID, rain.objectID])).count == 2)
    #expect(try contents(EmotionDiary.where("%@ IN tags", tag)) == [walk.content])
    #expect(try contents(EmotionDiary.where("images.@count > %d", 1)) == [walk.content])
    #expect(try contents(EmotionDiary.where("mood == %@", String?.none)).count == 2)
    #expect(try context.count(DiaryImage.where("diary.emotion == 'happy' AND imagePath ENDSWITH '.png'")) == 1)
  }

  @Test("a format and typed conditions hold together, before and after a save")
  func combined() throws {
    let request = EmotionDiary.where { $0.emotion == .happy }.where("ANY images.imagePath LIKE '*.png'")
    #expect(try contents(request) == [walk.content])
    walk.emotion = .calm
    #expect(try contents(request) == [])
    try context.save()
    #expect(try contents(EmotionDiary.where("emotion = 'calm' AND createdAt < now()")) == [walk.content])
  }

  @Test("variables are bound later, and a request without their values says which is missing")
  func variables() throws {
    let format: PredicateFormat = "emotion == $emotion"
    #expect(try contents(EmotionDiary.where(format.binding(["emotion": Emotion.sad]))) == [rain.content])
    let error = #expect(throws: PredicateFormatError.self) { try contents(EmotionDiary.where(format)) }
    #expect(error?.code == .unboundVariable)
  }

  @Test("a mistake is thrown by the fetch, with the place and the nearest name")
  func mistakes() throws {
    let error = #expect(throws: PredicateFormatError.self) { try contents(EmotionDiary.where("emotoin == 'happy'")) }
    #expect(error?.suggestion == "emotion")
    let text = "stars >"
    #expect(throws: PredicateFormatError.self) {
      try context.count(EmotionDiary.where(PredicateFormat(verbatim: text)))
    }
  }

  @Test("typed conditions reach what the language has: masks, patterns, lengths, sums and counts")
  func typed() throws {
    #expect(try contents(EmotionDiary.where { $0.content.like("rain*", .caseInsensitive) }) == [rain.content])
    #expect(try contents(EmotionDiary.where { $0.content.matches("[A-Z]\\w+, .*") }) == [rain.content])
    #expect(try contents(EmotionDiary.where { $0.content.length == 7 }) == [walk.content])
    #expect(
      try contents(EmotionDiary.where { $0.images.count { $0.imagePath.hasSuffix(".png") } == 1 }) == [walk.content])
    #expect(try contents(EmotionDiary.where { $0.images.maximum { $0.imagePath } == "2.jpg" }) == [walk.content])
  }
}
