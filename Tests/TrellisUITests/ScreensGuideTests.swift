import Foundation
import Observation
import Testing
import Trellis
import TrellisDiaryModel
import TrellisTestSupport
import TrellisUI

@MainActor @Suite("The guide to screens") struct ScreensGuideTests {
  @Test("a list without views") func withoutViews() throws {
    let container = try PersistentContainer(previewing: .diary) { context in
      _ = EmotionDiary(in: context, emotion: .happy, content: "a")
      _ = EmotionDiary(in: context, emotion: .sad, content: "b")
    }
    let entries = LiveListController(EmotionDiary.all.sorted { $0.content }, pageSize: 20, in: container.mainContext)
    withObservationTracking {
      print(entries.list.map(\.content), entries.list.hasMore)
    } onChange: {
      print("changed")
    }
    entries.request = EmotionDiary.where { $0.emotion == .happy }
    #expect(entries.list.map(\.content) == ["a"])
  }

  /// Those with views are compiled and run in a package of their own.
  @Test("each sample stands in a file that is compiled") func samples() throws {
    let stubs = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Packages/Stubs")
    let missing = try GuideText("Screens.md").samples(
      missingFrom: #filePath, stubs.appending(path: "Sources/DiaryScreens/GuideScreens.swift").path,
      stubs.appending(path: "Tests/ScreensTests/GuideViewsTests.swift").path)
    #expect(missing == [])
  }
}
