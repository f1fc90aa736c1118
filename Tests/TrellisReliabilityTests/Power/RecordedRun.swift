import Foundation
import Trellis
import TrellisStorage
import TrellisTestSupport

@testable import TrellisSaveLoop

/// A store that was made, saved to, closed, opened again and saved to, with every step of its disk.
struct RecordedRun {
  let steps: [DiskStep]
  /// After how many steps each save had begun, and after how many it had returned.
  private let begun: [Int]
  private let returned: [Int]

  /// - Parameters:
  ///   - open: makes or opens the store.
  ///   - save: saves once to what was opened.
  init(
    _ disk: TestDisk, saves: Int, open: () throws -> PersistentContainer,
    save: (PersistentContainer, ManagedObjectContext) throws -> Void
  ) throws {
    disk.record()
    var (begun, returned): ([Int], [Int]) = ([], [])
    for part in [saves - saves / 3, saves / 3] {
      let container = try open()
      defer { container.close() }
      let context = container.newContext()
      for _ in 0..<part {
        begun.append(disk.stepCount)
        try save(container, context)
        returned.append(disk.stepCount)
      }
    }
    steps = disk.steps
    (self.begun, self.returned) = (begun, returned)
  }

  /// A SQLite file of the save loop.
  init(_ durability: Durability, saves: Int) throws {
    let folder = try TestFolder()
    let file = LoopFile(kind: .sqlite, url: folder.file("loop"))
    try self.init(TestDisk(folder.url), saves: saves) {
      try file.open(durability)
    } save: { _, context in
      _ = try SaveLoop(writer: "a", context: context, longestFiller: 20_000).save()
    }
  }

  /// How many saves had begun, and how many had returned, when so many steps were done.
  func saves(at step: Int) -> (begun: Int, returned: Int) {
    (begun.count { $0 <= step }, returned.count { $0 <= step })
  }

  /// How often data was brought to the disk during a save, on an average, and the most often.
  var syncsPerSave: (average: Double, most: Int) {
    let counts = zip(begun, returned).map { start, end in steps[start..<end].count { $0.kind == .sync } }
    return (Double(counts.reduce(0, +)) / Double(max(1, counts.count)), counts.max() ?? 0)
  }
}
