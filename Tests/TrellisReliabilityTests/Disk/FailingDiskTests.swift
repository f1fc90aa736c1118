import Foundation
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisSaveLoop

@Suite("When the disk fails, a SQLite file is as before or as after") struct FailingDiskTests {
  /// What fails, and with which of SQLite's codes.
  enum Fault: CaseIterable {
    case write, noRoom, sync, truncation, removal, opening, reading, mapping

    var kind: DiskStep.Kind {
      switch self {
      case .write, .noRoom: .write
      case .sync: .sync
      case .truncation: .truncate
      case .removal: .delete
      case .opening: .open
      case .reading: .read
      case .mapping: .map
      }
    }

    var code: Int32 {
      switch self {
      case .write: 778
      case .noRoom: 13
      case .sync: 1034
      case .truncation: 1546
      case .removal: 2570
      case .opening: 14
      case .reading: 266
      case .mapping: 5386
      }
    }
  }

  private let folder: TestFolder
  private let disk: TestDisk
  private let file: LoopFile

  init() throws {
    folder = try TestFolder()
    disk = try TestDisk(folder.url)
    file = LoopFile(kind: .sqlite, url: folder.file("loop"))
  }

  @Test(
    "each step of opening, saving and closing may fail, once or for ever: an error says so, and no save is there by half",
    arguments: Fault.allCases, [false, true])
  func everyStep(fault: Fault, isForEver: Bool) throws {
    try file.fill(saves: 60)
    let whole = try Data(contentsOf: file.url)
    var failures = 0
    for number in 1... {
      try put(whole)
      disk.fail(
        TestDisk.Failure(
          kinds: [fault.kind], number: number, isForEver: isForEver, code: fault.code, writesHalf: number % 2 == 0))
      let (told, refused) = useStore()
      let hasFailed = disk.failures > 0
      disk.fail(nil)
      let place: Comment = "\(fault) \(number) of \(disk.failures)"
      let picture = try file.picture()
      #expect(picture.halves == [], place)
      let found = picture.saves(of: "a")
      #expect(found >= told && found <= told + refused, "\(place): \(told) told, \(refused) refused, \(found) found")
      #expect(try file.findings() == [], place)
      guard hasFailed else { break }
      failures += 1
    }
    print("\(fault), \(isForEver ? "for ever" : "once"): failed at each of \(failures) steps")
    #expect(failures > 0)
  }

  @Test(
    "each step of making a store may fail, once or for ever: it can be made afterwards", arguments: Fault.allCases,
    [false, true])
  func making(fault: Fault, isForEver: Bool) throws {
    for number in 1... {
      try put(nil)
      disk.fail(TestDisk.Failure(kinds: [fault.kind], number: number, isForEver: isForEver, code: fault.code))
      do { try file.open().close() } catch { told(error) }
      let hasFailed = disk.failures > 0
      disk.fail(nil)
      try file.fill(saves: 1)
      #expect(try file.picture().halves == [] && file.findings() == [])
      guard hasFailed else { break }
    }
  }

  @Test("after a failed sync no context of the store saves any more, until it is opened again")
  func failedSync() throws {
    try file.fill(saves: 3)
    let container = try file.open()
    let loops = ["a", "b"].map { SaveLoop(writer: $0, context: container.newContext()) }
    for loop in loops { _ = try loop.save() }
    disk.fail(TestDisk.Failure(kinds: [.sync], number: 1, code: Fault.sync.code))
    failure(of: .inputOutput) { _ = try loops[0].save() }
    for loop in loops { failure(of: .inputOutput) { _ = try loop.save() } }
    failure(of: .inputOutput) { _ = try SaveLoop(writer: "c", context: container.newContext()).save() }
    #expect(disk.failures == 1)
    container.close()
    try file.fill(saves: 1)
    #expect(try file.picture().halves == [])
  }

  @Test("a full disk refuses saves, and takes them when there is room again")
  func fullDisk() throws {
    try file.fill(saves: 3)
    let container = try file.open()
    let loop = SaveLoop(writer: "a", context: container.newContext())
    _ = try loop.save()
    disk.fail(TestDisk.Failure(kinds: [.write], number: 1, isForEver: true, code: Fault.noRoom.code, writesHalf: true))
    for _ in 0..<3 { failure(of: .full) { _ = try loop.save() } }
    #expect(try container.newContext().first(Counter.where { $0.name == "a" })?.value == 4)
    disk.fail(nil)
    #expect(try loop.save() == 5)
    container.close()
    #expect(try file.picture().saves(of: "a") == 5)
  }

  // MARK: Steps

  /// - Returns: how often the last save that returned said that there had been saves, and how many saves failed.
  private func useStore() -> (told: Int64, refused: Int64) {
    var (last, refused): (Int64, Int64) = (60, 0)
    do {
      let container = try file.open()
      defer { container.close() }
      let loop = SaveLoop(writer: "a", context: container.newContext())
      for _ in 0..<3 {
        do {
          last = try loop.save()
        } catch {
          told(error)
          refused += 1
        }
      }
    } catch {
      told(error)
    }
    return (last, refused)
  }

  private func told(_ error: any Error) {
    let codes: [StoreError.Code] = [.inputOutput, .full, .cannotOpen]
    let error = failure { throw error }
    #expect(codes.contains(error?.code ?? .internalError), "\(error.map { "\($0)" } ?? "")")
  }

  private func put(_ whole: Data?) throws {
    for end in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: file.url.path + end) }
    try whole?.write(to: file.url)
  }
}
