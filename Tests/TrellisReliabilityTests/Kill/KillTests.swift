import Foundation
import Testing
import TrellisTestSupport

@testable import TrellisSaveLoop

@Suite("A program that is killed loses nothing that was saved") struct KillTests {
  /// How often the programs are killed; more by the environment variable TRELLIS_KILL_CYCLES.
  private static let cycles = TestSettings.number("TRELLIS_KILL_CYCLES", or: 5)

  /// A SQLite file is written by three processes at once, one of them with two contexts; a document has one process, with
  /// three contexts.
  private static func programs(_ kind: LoopFile.Kind) -> [[String]] {
    kind == .sqlite ? [["a", "b"], ["c"], ["d"]] : [["a", "b", "c"]]
  }

  @Test(
    "kill -9 during saves, several writers at once: no save that was told is lost, and none is there by half",
    arguments: LoopFile.Kind.allCases)
  func killing(kind: LoopFile.Kind) throws {
    let folder = try TestFolder()
    let side = try TestFolder()
    let file = LoopFile(kind: kind, url: folder.file("loop"))
    var before: [String: Int64] = [:]
    var saves: Int64 = 0
    for cycle in 0..<Self.cycles {
      let told = try runAndKill(file, afterMilliseconds: Int.random(in: 0...60))
      // The file is left as the dead have left it, for those who come next.
      let copy = try file.copy(to: side.url)
      let picture = try copy.picture()
      #expect(picture.halves == [], "cycle \(cycle)")
      for writer in Self.programs(kind).joined() {
        // One save may have been made and not told any more.
        let least = max(told[writer] ?? 0, before[writer] ?? 0)
        let most = told[writer].map { $0 + 1 } ?? ((before[writer] ?? 0) + 1)
        let found = picture.saves(of: writer)
        #expect(found >= least && found <= most, "cycle \(cycle): \(writer) told \(least), found \(found)")
      }
      #expect(try copy.findings() == [], "cycle \(cycle)")
      #expect(try copy.historyFaults(picture) == [], "cycle \(cycle)")
      before = picture.counters
      saves = picture.saves(of: SaveLoop.shared)
      if cycle % 100 == 99 { print("\(kind): killed \(cycle + 1) times, \(saves) saves, none lost") }
    }
    print("\(kind): killed \(Self.cycles) times, \(saves) saves, none lost")
    #expect(saves > 0)
  }

  /// What each writer told last.
  private func runAndKill(_ file: LoopFile, afterMilliseconds wait: Int) throws -> [String: Int64] {
    let processes = try Self.programs(file.kind).map { try LoopProcess(file, writers: $0) }
    // Not before somebody has begun to save; the others may still be opening the file.
    processes.first?.waitForFirstSave()
    Thread.sleep(forTimeInterval: Double(wait) / 1_000)
    for process in processes.shuffled() { process.kill() }
    var told: [String: Int64] = [:]
    for process in processes {
      let (numbers, wasKilled) = process.end()
      #expect(wasKilled, "a program ended by itself")
      told.merge(numbers) { $1 }
    }
    return told
  }
}
