import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("When the power goes during a migration, a store is the former one or the migrated one")
struct PowerLossMigrationTests {
  /// How many moments of each migration are tried, each with every kind of loss.
  private static let moments = TestSettings.number("TRELLIS_POWER_CUTS", or: 3)

  @Test(
    "a migration that has returned lasts if it is durable, and what is lost is in the copy",
    arguments: DiaryStore.Kind.allCases, DiaryChange.allCases)
  func powerLoss(kind: DiaryStore.Kind, change: DiaryChange) throws {
    for durability in Durability.allCases { try powerLoss(kind, change, durability) }
  }

  private func powerLoss(_ kind: DiaryStore.Kind, _ change: DiaryChange, _ durability: Durability) throws {
    let diary = try DiaryStore(kind)
    let expected = try diary.expected(change, rowCount: 120)
    try expected.image.put(into: diary.folder.url)
    let disk = try TestDisk(diary.folder.url)
    disk.record()
    let store = try diary.configuration(RecordingFiles(diary.folder.url, disk), durability: durability)
      .open(expected.model)
    let returned = disk.stepCount
    store.close()
    let steps = disk.steps
    #expect(returned > 0)

    let run = "\(kind), \(change), \(durability)"
    let seed = PowerCuts.seed
    var chance = SeededGenerator(seed: seed)
    let moments = (0..<Self.moments).map { _ in chance.below(steps.count + 1) } + [returned]
    var history = DiskHistory(expected.image)
    var done = 0
    var (count, unfinished) = (0, 0)
    for moment in moments.sorted() {
      for step in steps[done..<moment] { history.apply(step) }
      done = moment
      for loss in DiskHistory.Loss.allCases {
        let place: Comment = "\(run), step \(moment) of \(steps.count), lost \(loss), seed \(seed)"
        try StoreImage(history.image(loss, &chance)).put(into: diary.folder.url)
        let isMigrated = try diary.expectWhole(expected, place)
        #expect(isMigrated || moment < returned || durability == .relaxed, place)
        count += 1
        if !isMigrated { unfinished += 1 }
      }
    }
    print("\(run): \(count) power cuts in \(steps.count) steps, \(unfinished) before the end, seed \(seed)")
  }
}
