import CTestDisk
import Foundation
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisSaveLoop

@Suite("A SQLite file that may not be written, or that somebody holds, is left alone and can be read")
struct RightsTests {
  private let folder: TestFolder
  private let file: LoopFile

  init() throws {
    folder = try TestFolder()
    file = LoopFile(kind: .sqlite, url: folder.file("loop"))
    try file.fill(saves: 3)
  }

  /// Whether nothing keeps this program from writing whatever the rights say, and the system knows no way to do without that for
  /// a while. On Linux it does, so there these tests run for everybody.
  private static let isAboveRights: Bool = {
    #if os(Windows)
      return true
    #elseif os(Linux)
      return false
    #else
      return geteuid() == 0
    #endif
  }()

  private func withRights(file fileRights: Int, folder folderRights: Int, _ body: () throws -> Void) throws {
    let files = FileManager.default
    try files.setAttributes([.posixPermissions: fileRights], ofItemAtPath: file.url.path)
    try files.setAttributes([.posixPermissions: folderRights], ofItemAtPath: folder.url.path)
    defer {
      _ = trellis_disk_act_as_stranger(0)
      try? files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
    }
    #if !os(Windows)
      try #require(geteuid() != 0 || trellis_disk_act_as_stranger(1) == 1, "root cannot act as another user here")
    #endif
    try body()
  }

  @Test(
    "a file or a folder without the right to write is an error, and opens for reading", .enabled(if: !isAboveRights),
    arguments: [(0o444, 0o777), (0o666, 0o555), (0o444, 0o555)])
  func readOnly(fileRights: Int, folderRights: Int) throws {
    let before = try Data(contentsOf: file.url)
    try withRights(file: fileRights, folder: folderRights) {
      failure(of: .readOnly) { try file.open().close() }
      let container = try file.open(readOnly: true)
      #expect(try container.newContext().first(Counter.where { $0.name == "a" })?.value == 3)
      failure(of: .readOnly) { _ = try SaveLoop(writer: "a", context: container.newContext()).save() }
      container.close()
    }
    #expect(try Data(contentsOf: file.url) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["loop"])
  }

  @Test("a file that may not be read is an error that says so", .enabled(if: !isAboveRights))
  func unreadable() throws {
    try withRights(file: 0o000, folder: 0o777) {
      for readOnly in [false, true] { failure(of: .cannotOpen) { try file.open(readOnly: readOnly).close() } }
    }
  }

  @Test("a file that somebody else holds is busy after the time-out, and is saved to afterwards")
  func busy() throws {
    let container = try file.open(busyTimeout: 0.1)
    let loop = SaveLoop(writer: "a", context: container.newContext())
    #expect(try loop.save() == 4)
    let other = try PlainSQLite(file.url)
    _ = try other.rows("BEGIN IMMEDIATE")
    failure(of: .busy) { _ = try loop.save() }
    // Readers do not wait.
    #expect(try container.newContext().first(Counter.where { $0.name == "a" })?.value == 4)
    _ = try other.rows("COMMIT")
    #expect(try loop.save() == 5)
    container.close()
  }
}
