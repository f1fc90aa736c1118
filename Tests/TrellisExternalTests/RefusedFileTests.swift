import CSQLite
import Foundation
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisPictureLoop

/// Stores with files that wait to be collected, so that an opening has something to do beside reading.
@Suite("A store that is refused is byte for byte as it was, and its folder too") struct RefusedFileTests {
  /// How many files are damaged at random for each kind of store; a long run says so.
  private static let count = TestSettings.number("TRELLIS_REFUSED_FILES", or: 60)

  /// A kind of damage.
  enum Damage: Sendable, CustomTestStringConvertible {
    case sql(String)
    case bytes(String, @Sendable (inout Data) -> Void)

    var testDescription: String {
      switch self {
      case .sql(let text), .bytes(let text, _): text
      }
    }
  }

  // MARK: SQLite

  private static func entry(_ key: String, _ value: String) -> Damage {
    .sql("UPDATE _trellis SET value = \(value) WHERE key = '\(key)'")
  }

  static let sqliteDamages: [Damage] =
    ["'seven'", "''", "0", "-1", "1.5", "x'01'", "9223372036854775807", "9223372036854775000"]
    .map { entry("nextKey", $0) }
    + ["'one'", "''", "0", "99"].map { entry("format", $0) }
    + [
      .sql("DELETE FROM _trellis WHERE key = 'nextKey'"), .sql("DELETE FROM _trellis WHERE key = 'format'"),
      .sql("UPDATE _trellis SET value = 1 WHERE key IN ('checksum', 'storage')"),
      .sql("UPDATE _trellis SET value = 'entity Other' WHERE key IN ('checksum', 'storage')"),
      .sql("DELETE FROM _trellis"), .sql("DROP TABLE _trellis"),
      .sql("DELETE FROM sqlite_schema WHERE name = '_trellis'"),
      .sql("UPDATE sqlite_schema SET rootpage = 1000 WHERE name = '_trellis'"),
      .sql("UPDATE sqlite_schema SET sql = 'CREATE TABLE' WHERE name = 'Picture'"),
    ]

  static let fileDamages: [Damage] = [
    .bytes("no database") { $0[0] = 0 },
    .bytes("another program's") { $0[71] ^= 1 },
    .bytes("a newer format") { $0[63] = 99 },
    .bytes("texts as UTF-16, little end first") { $0[59] = 2 },
    .bytes("texts as UTF-16, big end first") { $0[59] = 3 },
    .bytes("an unknown encoding") { $0[59] = 7 },
    .bytes("a page size that is none") { $0[16] = 3 },
    .bytes("a schema page of no kind") { $0[100] = 0 },
    .bytes("cut within the header") { $0.removeSubrange(70...) },
    .bytes("cut behind the header") { $0.removeSubrange(100...) },
    .bytes("cut within the first page") { $0.removeSubrange(2_000...) },
    .bytes("zeros behind the first page") { data in
      for place in 4_096..<data.count { data[place] = 0 }
    },
  ]

  @Test("a damaged SQLite file, with and without a log beside it", arguments: sqliteDamages, [false, true])
  func sqlite(damage: Damage, hasLog: Bool) throws {
    try expectUntouched(AlbumFiles(.sqlite, hasLog: hasLog), damage)
  }

  @Test("a SQLite file damaged outside of SQL", arguments: fileDamages)
  func sqliteBytes(damage: Damage) throws {
    try expectUntouched(AlbumFiles(.sqlite, hasLog: false), damage)
  }

  // MARK: JSON

  private static func text(_ old: String, _ new: String) -> Damage {
    .bytes("\(old) → \(new)") { data in
      guard let place = data.range(of: Data(old.utf8)) else { return data = Data() }
      data.replaceSubrange(place, with: Data(new.utf8))
    }
  }

  static let jsonDamages: [Damage] =
    ["0", "-1", "\"7\"", "null", "1.5", "9223372036854775807", "9223372036854775000", "9223372036854775808", "1e400"]
    .map { text("\"nextKey\": 5", "\"nextKey\": \($0)") }
    + [
      text("\"nextKey\"", "\"next\""), text("\"trellis\": 1", "\"trellis\": 0"),
      text("\"trellis\": 1", "\"trellis\": 99"), text("\"trellis\"", "\"other\""), text("\"model\"", "\"nextKey\""),
      text("\"storage\"", "\"stored\""),
      text("\"_key\": 4", "\"_key\": 3"), text("\"_key\": 4", "\"_key\": 9223372036854775807"),
      text("\"file\": \"", "\"file\": \"../"), text("\"entities\"", "\"pairs\""), text("{", "["),
      .bytes("a byte that no UTF-8 has") { $0[$0.count / 2] = 0xFF },
      .bytes("cut in the middle") { $0.removeSubrange(($0.count / 2)...) },
      .bytes("one bracket too many") { $0.append(UInt8(ascii: "}")) },
    ]

  @Test("a damaged document", arguments: jsonDamages)
  func json(damage: Damage) throws {
    try expectUntouched(AlbumFiles(.json, hasLog: false), damage)
  }

  // MARK: Random

  @Test("files damaged at random; more by TRELLIS_REFUSED_FILES", arguments: AlbumStore.Kind.allCases)
  func random(kind: AlbumStore.Kind) throws {
    let seed = TestSettings.seed()
    var random = SeededGenerator(seed: seed)
    let files = try AlbumFiles(kind, hasLog: kind == .sqlite)
    var refused = 0
    for round in 1...max(1, Self.count) {
      let store = try AlbumStore(kind)
      try files.write(to: store)
      var data = try Data(contentsOf: store.file)
      // The beginning is where opening reads.
      for _ in 0...random.below(8) { data[random.below(min(data.count, 6_000))] = UInt8(random.below(256)) }
      try data.write(to: store.file)
      let before = try AlbumFiles.contents(of: store)
      guard (try? store.open().close()) == nil else { continue }
      refused += 1
      #expect(try AlbumFiles.contents(of: store) == before, "seed \(seed), round \(round)")
    }
    #expect(refused > 0, "seed \(seed)")
  }

  private func expectUntouched(_ files: AlbumFiles, _ damage: Damage) throws {
    let store = try AlbumStore(files.kind)
    try files.write(to: store)
    // So much for the store as it is: opening it has something to do.
    #expect(FileManager.default.fileExists(atPath: store.folder.appending(path: "uncollected").path))
    switch damage {
    case .sql(let text): try store.run(text)
    case .bytes(_, let change):
      var data = try Data(contentsOf: store.file)
      change(&data)
      try data.write(to: store.file)
    }
    let before = try AlbumFiles.contents(of: store)
    for readOnly in [true, false] {
      let isAccepted = (try? store.open(readOnly: readOnly).close()) != nil
      // A store that is only read gives out no keys.
      #expect(!isAccepted || readOnly)
      #expect(try AlbumFiles.contents(of: store) == before, "readOnly: \(readOnly)")
    }
  }
}

/// The files of an album of which every second picture was deleted.
private struct AlbumFiles {
  let kind: AlbumStore.Kind
  private let contents: [String: Data]

  /// - Parameter hasLog: whether a program ended without closing the store.
  init(_ kind: AlbumStore.Kind, hasLog: Bool) throws {
    self.kind = kind
    let store = try AlbumStore(kind)
    let container = try store.open()
    let context = container.newContext()
    let pictures = (0..<4).map { Picture(in: context, name: "\($0)", content: AlbumStore.bytes(2_000, $0)) }
    try context.save()
    for picture in pictures.prefix(2) { try context.delete(picture) }
    try context.save()
    if !hasLog { container.close() }
    contents = try Self.contents(of: store)
    container.close()
  }

  func write(to store: AlbumStore) throws {
    try FileManager.default.createDirectory(at: store.folder, withIntermediateDirectories: true)
    for (name, data) in contents { try data.write(to: store.home.file(name)) }
  }

  /// Everything in the store's folder by its name. What SQLite's processes share beside a log is no part of it.
  static func contents(of store: AlbumStore) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    let folder = store.home.url.path
    for name in FileManager.default.enumerator(atPath: folder)?.compactMap({ $0 as? String }) ?? [] {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder), !isFolder.boolValue,
        !name.hasSuffix("-shm"), !name.hasSuffix(".lock")
      else { continue }
      contents[name] = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
    }
    return contents
  }
}

extension AlbumStore {
  /// Runs SQL that Trellis would not run. What lies in a log stays there, and so does what this writes.
  fileprivate func run(_ sql: String) throws {
    let hasLog = FileManager.default.fileExists(atPath: file.path + "-wal")
    var database: OpaquePointer?
    defer { _ = trellis_sqlite3_close_v2(database) }
    try #require(trellis_sqlite3_open_v2(file.path, &database, Int32(TRELLIS_SQLITE_OPEN_READWRITE), nil) == 0)
    let handle = try #require(database)
    if hasLog { _ = trellis_sqlite3_db_config(handle, Int32(TRELLIS_SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE), 1) }
    let code = trellis_sqlite3_exec(handle, "PRAGMA writable_schema = ON; \(sql)", nil, nil, nil)
    try #require(code == 0, "\(String(cString: trellis_sqlite3_errmsg(handle)))")
  }
}
