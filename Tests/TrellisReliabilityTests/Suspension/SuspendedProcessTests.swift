import Foundation
import Testing
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@testable import TrellisSaveLoop

@Suite("A program that the system stops after its container was suspended is in nobody's way")
struct SuspendedProcessTests {
  private let folder: TestFolder
  private let side: TestFolder

  init() throws {
    folder = try TestFolder()
    side = try TestFolder()
  }

  /// The number of suspensions; more by the environment variable TRELLIS_SUSPENSIONS.
  private static let cycles = TestSettings.number("TRELLIS_SUSPENSIONS", or: 20)

  @Test("another program saves while it is stopped, and no save that was reported is lost")
  func stopping() throws {
    var generator = SeededGenerator(seed: TestSettings.seed())
    let file = LoopFile(kind: .sqlite, url: folder.file("loop"))
    try file.fill(saves: 1)
    let stopped = try LoopProcess(file, writers: ["b", "c"])
    stopped.waitForFirstSave()
    let container = try file.open(busyTimeout: 60)
    let loop = SaveLoop(writer: "a", context: container.newContext())
    var (longest, saved) = (Duration.zero, Int64(1))
    for cycle in 0..<Self.cycles {
      Thread.sleep(forTimeInterval: Double.random(in: 0..<0.02, using: &generator))
      try stopped.suspend()
      #if os(Linux)
        #expect(try OpenFiles.of(file, process: "\(stopped.number)") == [], "cycle \(cycle)")
      #endif
      let start = ContinuousClock.now
      saved = try loop.save()
      longest = max(longest, ContinuousClock.now - start)
      try stopped.resume()
    }
    container.close()
    stopped.kill()
    var (told, wasKilled) = stopped.end()
    #expect(wasKilled, "the program ended by itself")
    told["a"] = saved
    let copy = try file.copy(to: side.url)
    let picture = try copy.picture()
    #expect(picture.halves == [])
    for writer in ["a", "b", "c"] {
      let (found, told) = (picture.saves(of: writer), told[writer] ?? 0)
      #expect(found == told || found == told + 1, "\(writer) reported \(told), found \(found)")
    }
    #expect(try copy.findings() == [])
    #expect(try copy.historyFaults(picture) == [])
    print(
      "\(Self.cycles) suspensions, \(picture.saves(of: SaveLoop.shared)) saves; beside a stopped program one took \(longest)"
    )
  }

  @Test("suspensions at random moments of several threads: nothing is lost, and no file is open")
  func threads() throws {
    var generator = SeededGenerator(seed: TestSettings.seed())
    let file = LoopFile(kind: .sqlite, url: folder.file("loop"))
    try file.fill(saves: 1)
    let container = try file.open(busyTimeout: 60)
    let (isOver, told) = (Flag(), (0..<4).map { _ in Counted() })
    let writers = (0..<4).map { number in
      started {
        let context = container.newContext()
        let loop = SaveLoop(writer: "w\(number)", context: context)
        while !isOver.isSet {
          do {
            told[number].set(try loop.save())
            _ = try context.count(Child.where("parent.writer == 'a' AND filler CONTAINS[cd] 'xxy'"))
          } catch  where error.isOfSuspension {
            context.rollback()
          }
        }
      }
    }
    for cycle in 0..<Self.cycles {
      Thread.sleep(forTimeInterval: Double.random(in: 0..<0.01, using: &generator))
      try container.suspend(within: .seconds(60))
      #expect(try OpenFiles.of(file) == [], "cycle \(cycle)")
      if Bool.random(using: &generator) {
        let other = try PlainSQLite(file.url)
        _ = try other.rows("BEGIN EXCLUSIVE; COMMIT")
      }
      container.resume()
    }
    _ = isOver.set()
    for writer in writers { try writer.value() }
    container.close()
    let picture = try file.picture()
    #expect(picture.halves == [])
    for (number, told) in told.enumerated() { #expect(picture.saves(of: "w\(number)") == told.value) }
    #expect(try file.findings() == [])
    #expect(try file.historyFaults(picture) == [])
    print("\(Self.cycles) suspensions of four writers, \(picture.saves(of: SaveLoop.shared)) saves")
  }
}

/// How often a writer has saved.
private final class Counted: Sendable {
  private let number = Locked<Int64>(0)

  func set(_ value: Int64) { number.withLock { $0 = value } }
  var value: Int64 { number.withLock { $0 } }
}
