import Foundation
import Trellis
import TrellisStorage
import TrellisTestSupport

@testable import TrellisSaveLoop

/// A SQLite store that was made, saved to, closed, opened again and saved to, with every step of its disk.
struct RecordedRun {
  let steps: [DiskStep]
  /// After how many steps each save had begun, and after how many it had returned.
  private let begun: [Int]
  private let returned: [Int]

  init(_ durability: Durability, saves: Int) throws {
    let folder = try TestFolder()
    let disk = try TestDisk(folder.url)
    disk.record()
    let file = LoopFile(kind: .sqlite, url: folder.file("loop"))
    var (begun, returned): ([Int], [Int]) = ([], [])
    for part in [saves - saves / 3, saves / 3] {
      let container = try file.open(durability)
      defer { container.close() }
      let loop = SaveLoop(writer: "a", context: container.newContext(), longestFiller: 20_000)
      for _ in 0..<part {
        begun.append(disk.stepCount)
        _ = try loop.save()
        returned.append(disk.stepCount)
      }
    }
    steps = disk.steps
    (self.begun, self.returned) = (begun, returned)
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
