import Foundation
import Testing
import TrellisTestSupport

/// The samples of `Docs/Encryption.md` need a library with encryption, so they run in a package of their own.
@Suite("The page about encryption") struct EncryptionPageTests {
  @Test("has samples that run")
  func page() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let samples = tests.appending(path: "Packages/Encryption/Tests/EncryptionTests/GuideTests.swift")
    #expect(try GuideText("Encryption.md").samples(missingFrom: samples.path) == [])
  }
}

@Suite("The choice of the SQLite library") struct LibraryChoiceTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private struct NotBuilt: Error {}

  /// What a process prints for each of its words.
  private func outcomes(_ words: String...) throws -> [String] {
    guard let program = BuiltProgram.url(of: "TrellisLibraryProcess") else { throw NotBuilt() }
    let process = Process()
    process.executableURL = program
    process.arguments = [folder.file("shelf").path] + words
    var environment = ProcessInfo.processInfo.environment
    environment["TRELLIS_SQLITE_LIBRARY"] = nil
    process.environment = environment
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    return String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private var systemFile: String {
    #if canImport(Darwin)
      "/usr/lib/libsqlite3.dylib"
    #else
      "libsqlite3.so.0"
    #endif
  }

  private var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []).sorted()
  }

  @Test("a store works with the functions of the program")
  func table() throws {
    #expect(
      try outcomes("table", "work", "work", "openings") == [
        "table: chosen", "work: 1 books, 0 findings", "work: 2 books, 0 findings", "openings: opened through the table",
      ])
  }

  @Test("a store works with a library in a file")
  func file() throws {
    #expect(
      try outcomes("file=\(systemFile)", "work", "openings") == [
        "file=\(systemFile): chosen", "work: 1 books, 0 findings", "openings: not opened through the table",
      ])
  }

  @Test("a process that chooses nothing has the system's library, and may say so")
  func system() throws {
    #expect(try outcomes("work", "system") == ["work: 1 books, 0 findings", "system: chosen"])
  }

  @Test("a second library is refused, and the first one stays", arguments: ["table", "system"])
  func second(_ first: String) throws {
    let other = first == "table" ? "system" : "table"
    let said = try outcomes(first, "work", other, "file=\(systemFile)", "work", first)
    try #require(said.count == 6)
    #expect(said[2].contains("[other-library]") && said[3].contains("[other-library]"), "\(said)")
    #expect(said[4] == "work: 2 books, 0 findings" && said[5] == "\(first): chosen")
  }

  @Test("the message names the function that a table lacks, and another library may be chosen then")
  func lacking() throws {
    let said = try outcomes("lacking=sqlite3_bind_pointer", "work", "system", "work")
    try #require(said.count == 4)
    #expect(said[0].contains("The test's SQLite: it lacks sqlite3_bind_pointer."), "\(said)")
    // Nothing is taken in the place of what the program wanted.
    #expect(said[0].contains("[library-unavailable]") && said[1].contains("[library-unavailable]"), "\(said)")
    #expect(said[3] == "work: 1 books, 0 findings")
  }

  @Test("a library that is missing, too old or given in a newer form is refused")
  func unusable() throws {
    let said = try outcomes("file=/nowhere/libsqlite3.so", "old", "newer")
    try #require(said.count == 3)
    #expect(said.allSatisfy { $0.contains("[library-unavailable]") }, "\(said)")
    let reasons = ["/nowhere/libsqlite3.so", "too old", "does not know"]
    #expect(zip(said, reasons).allSatisfy { $0.contains($1) }, "\(said)")
  }

  @Test("without encryption in the library, a key is refused before a file is made")
  func noKeys() throws {
    let said = try outcomes("system", "key")
    #expect(said.last?.contains("[no-encryption]") == true, "\(said)")
    #expect(names == [])
  }

  @Test("a library that takes a key and does not encrypt leaves no file")
  func pretending() throws {
    let said = try outcomes("pretending", "key", "work", "key")
    try #require(said.count == 4)
    #expect(said[1].contains("[no-encryption]"), "\(said)")
    #expect(said[2] == "work: 1 books, 0 findings")
    #expect(said[3].contains("[not-encrypted]"), "\(said)")
    #expect(names == ["shelf"])
  }
}
