import StubAppKit
import DiaryModel
import Foundation
import Testing
import Trellis
import TrellisUI

@MainActor @Suite("Diffable snapshots of a list, in AppKit") struct SnapshotTests {
  private let container: PersistentContainer
  private let request = EmotionDiary.all.sorted { $0.content }

  init() throws {
    container = try PersistentContainer(
      previewing: .diary,
      { context in
        for text in ["비", "바다", "산책하고 커피"] { _ = EmotionDiary(in: context, emotion: .happy, content: text) }
      })
  }

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

  @Test("have the objects in one section, and reload those that have changed") func appKit() async throws {
    let entries = LiveListController(request, pageSize: 2, in: container.mainContext)
    var snapshots: [NSDiffableDataSourceSnapshot<Int, ObjectID<EmotionDiary>>] = []
    let following = Task { await entries.follow { snapshots.append($0.snapshot(in: 0)) } }
    while snapshots.isEmpty { await Task.yield() }
    #expect(snapshots[0].itemIdentifiers == entries.list.ids && snapshots[0].numberOfItems == 2)
    let changed = try await change()
    while snapshots.count < 2 { await Task.yield() }
    #expect(snapshots[1].itemIdentifiers == entries.list.ids && snapshots[1].numberOfItems == 2)
    #expect(snapshots[1].reloadedItemIdentifiers == [changed])
    following.cancel()
    await following.value
  }
}
