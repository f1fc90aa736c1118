import DiaryModel
import DiaryScreens
import Foundation
import Testing
import Trellis
import TrellisUI
import StubUIKit

@MainActor @Suite("Diffable snapshots of a list") struct SnapshotTests {
  private let container: PersistentContainer
  private let request = EmotionDiary.all.sorted { $0.content }

  init() throws { container = try PersistentContainer(previewing: .diary, SampleEntries.seed) }

  /// Changes one entry, adds one, and deletes one.
  private func change() async throws -> ObjectID<EmotionDiary> {
    try await container.perform { context in
      let entry = try #require(try context.first(EmotionDiary.where { $0.content == "비" }))
      entry.mood = "wet"
      _ = EmotionDiary(in: context, emotion: .sad, content: "눈")
      try context.delete(try #require(try context.first(EmotionDiary.where { $0.content == "바다" })))
      try context.save()
      return entry.objectID
    }
  }

  @Test("have the sections and the objects, and reconfigure those that have changed") func uiKit() async throws {
    let entries = LiveListController(request, sections: .by { $0.emotion }, in: container.mainContext)
    typealias Snapshot = NSDiffableDataSourceSnapshot<
      LiveListSection<EmotionDiary.Columns, Emotion>.ID, ObjectID<EmotionDiary>
    >
    var snapshots: [Snapshot] = []
    let following = Task { await entries.follow { snapshots.append($0.snapshot()) } }
    while snapshots.isEmpty { await Task.yield() }
    #expect(snapshots[0].sectionIdentifiers.map(\.value) == [.happy])
    #expect(snapshots[0].itemIdentifiers == entries.list.ids && snapshots[0].reconfiguredItemIdentifiers.isEmpty)
    let changed = try await change()
    while snapshots.count < 2 { await Task.yield() }
    #expect(snapshots[1].sectionIdentifiers.map(\.value) == [.happy, .sad])
    #expect(snapshots[1].itemIdentifiers == entries.list.ids && snapshots[1].numberOfItems == 3)
    #expect(snapshots[1].reconfiguredItemIdentifiers == [changed])
    following.cancel()
    await following.value
  }
}
