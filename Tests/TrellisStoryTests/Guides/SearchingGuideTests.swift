import Foundation
import Testing
import Trellis
import TrellisJSON
import TrellisDiaryModel
import TrellisTestSupport

@Suite("The guide to searching") final class SearchingGuideTests: GuideRun {
  @Test("the samples print what the guide says, in every store", arguments: ["memory", "json", "sqlite"])
  func samples(_ kind: String) throws {
    let folder = try TestFolder()
    let stores: [String: StoreConfiguration] = [
      "memory": .memory, "json": .json(at: folder.file("d.json")), "sqlite": .sqlite(at: folder.file("d.sqlite")),
    ]
    let container = try PersistentContainer(model: .diary, store: #require(stores[kind]))
    defer { container.close() }
    let context = container.newContext()
    let walk = EmotionDiary(in: context, emotion: .sad, content: "아이스커피를 들고 한강까지 긴 산책을 했다")
    _ = EmotionDiary(in: context, emotion: .happy, content: "산책하고 커피")
    let rain = EmotionDiary(in: context, emotion: .calm, content: "Rain, and Coffee at home")
    _ = DiaryImage(in: context, imagePath: "walk.png", diary: walk)
    _ = DiaryImage(in: context, imagePath: "rain.png", diary: rain)
    try context.save()

    let query = "커피 산책"
    let found = try context.fetch(
      EmotionDiary.where { $0.content.matching(query) }.sorted { $0.content.rank(matching: query) })
    print(found.map(\.content))

    let sad = try context.fetch(EmotionDiary.where("content MATCHING \(query) AND emotion == %@", "sad"))
    print(sad.map(\.content))
    let pictures = try context.fetch(DiaryImage.where { $0.diary.content.matching("coffee") })
    print(pictures.map(\.imagePath))

    let search = SearchQuery("커피")
    print(search.rank(of: "커피") > search.rank(of: "아이스커피"), search.rank(of: "홍차"))

    let snippet = SearchQuery(query).snippet(of: found[1].content, length: 14)
    print(snippet.marked("[", "]"))
    try expectPrinted(as: "Searching")
  }

  @Test("what is not saved yet is found and left out like what is", arguments: [false, true])
  func unsaved(isSQLite: Bool) throws {
    let folder = try TestFolder()
    let container = try PersistentContainer(
      model: .diary, store: isSQLite ? .sqlite(at: folder.file("d.sqlite")) : .memory)
    defer { container.close() }
    let context = container.newContext()
    let old = EmotionDiary(in: context, emotion: .happy, content: "커피")
    let other = EmotionDiary(in: context, emotion: .happy, content: "홍차")
    try context.save()
    old.content = "녹차"
    other.content = "커피와 커피"
    let new = EmotionDiary(in: context, emotion: .happy, content: "아이스커피")
    let request = EmotionDiary.where { $0.content.matching("커피") }.sorted { $0.content.rank(matching: "커피") }
    #expect(try context.fetch(request) == [other, new])
    context.rollback()
    #expect(try context.fetch(request) == [old])
    try context.delete(old)
    #expect(try context.count(request) == 0)
    try context.save()
    #expect(try context.count(request) == 0)
    #expect(try container.check().isEmpty)
  }
}
