import DiaryModel
import DiaryScreens
import Foundation
import StubSwiftUI
import Testing
import Trellis
import TrellisUI
import StubUIKit

@MainActor @Suite("The samples of the guide to screens") struct GuideViewsTests {
  private let container: PersistentContainer

  init() throws {
    container = try PersistentContainer(previewing: .diary) { context in
      try GuideViews.seed(context)
      for name in ["sea", "가을", "나무"] { _ = Tag(in: context, name: name) }
    }
  }

  @Test("show what they are for") func views() throws {
    #expect(Stage(GuideViews.tags.trellisContainer(container)).lines == ["sea", "가을", "나무"])
    #expect(Stage(GuideViews.index.trellisContainer(container)).lines == ["# ㄱ", "1", "# ㄴ", "1", "# S", "1"])
    #expect(Stage(GuideViews.newEntry.trellisContainer(container)).lines == ["1 tags"])
    let search = Stage(GuideViews.search.trellisContainer(container))
    #expect(search.lines.last == "산책하고 커피")
    search.type("x", into: "Search")
    _ = search.evaluations()
    #expect(search.lines == ["Search: x"])
  }

  @Test("a form closes when it has saved") func form() throws {
    let entry = try #require(try container.mainContext.first(EmotionDiary.all))
    var isShown = true
    let binding = Binding(get: { isShown }, set: { isShown = $0 })
    let stage = Stage(GuideViews.form(entry.objectID, isShown: binding).trellisContainer(container))
    stage.type("", into: "Content")
    _ = stage.evaluations()
    stage.tap("Save")
    #expect(isShown && stage.lines.count == 3, "\(stage.lines)")
    stage.type("비", into: "Content")
    _ = stage.evaluations()
    stage.tap("Save")
    #expect(!isShown && entry.content == "비")
  }

  @Test("a data source follows a list") func following() async throws {
    var shown: [Int] = []
    func show<Section, Item>(_ snapshot: NSDiffableDataSourceSnapshot<Section, Item>) async {
      shown.append(snapshot.numberOfItems)
    }
    let entries = LiveListController(
      EmotionDiary.all.sorted { $0.content }, sections: .by { $0.emotion }, in: container.mainContext)
    let following = Task {
      await entries.follow { update in await show(update.snapshot()) }
    }
    while shown.isEmpty { await Task.yield() }
    following.cancel()
    await following.value
    #expect(shown == [1])
  }
}
