import CSQLite
import Foundation
import Synchronization
import Testing
import Trellis
import TrellisModel
import TrellisTestSupport

@testable import TrellisPictureLoop

@Suite("Nothing leads out of the folder, and damage is an error") struct DamageTests {
  /// A store with one picture of 2,000 bytes in a file.
  private func filled(_ kind: AlbumStore.Kind) throws -> (AlbumStore, file: URL) {
    let store = try AlbumStore(kind)
    let container = try store.open()
    defer { container.close() }
    let context = container.newContext()
    _ = Picture(in: context, name: "a", content: AlbumStore.bytes(2_000))
    try context.save()
    let name = try #require(try store.files().first)
    return (store, store.folder.appending(path: name))
  }

  /// What reading the picture does: an error from the handle, nil and a report from the property.
  private func expectUnreadable(
    _ store: AlbumStore, _ code: StoreError.Code, _ place: SourceLocation = #_sourceLocation
  ) throws {
    let reports = Reports()
    let container = try store.open { reports.add($0) }
    defer { container.close() }
    let context = container.newContext()
    let picture = try #require(try context.first(Picture.all), sourceLocation: place)
    let error = #expect(throws: StoreError.self, sourceLocation: place) { try picture.snapshot.content?.load() }
    #expect(error?.code == code, sourceLocation: place)
    #expect(picture.content == nil, sourceLocation: place)
    #expect(reports.codes == [.loadFailed], sourceLocation: place)
    #expect(throws: ContextError.self, sourceLocation: place) { try context.fetch(Picture.all) }
    // Whoever does not look at the data can go on.
    picture.name = "b"
    try context.save()
    let findings = try container.check()
    #expect(findings.map(\.code) == [.externalFile], sourceLocation: place)
    #expect(findings.first?.properties == ["content"], sourceLocation: place)
    // And setting it is the repair.
    picture.content = AlbumStore.bytes(2_500)
    try context.save()
    #expect(try container.check().isEmpty, sourceLocation: place)
  }

  @Test(
    "a file that is missing, cut or changed is an error with a code, and setting the value repairs it",
    arguments: AlbumStore.Kind.allCases)
  func damaged(_ kind: AlbumStore.Kind) throws {
    for damage in 0..<3 {
      let (store, file) = try filled(kind)
      var bytes = try Data(contentsOf: file)
      switch damage {
      case 0:
        try FileManager.default.removeItem(at: file)
        try expectUnreadable(store, .missingFile)
      case 1:
        try bytes.prefix(1_999).write(to: file)
        try expectUnreadable(store, .damaged)
      default:
        bytes[1_000] ^= 1
        try bytes.write(to: file)
        try expectUnreadable(store, .damaged)
      }
    }
  }

  @Test("a symbolic link in a file's place is not followed", arguments: AlbumStore.Kind.allCases)
  func links(_ kind: AlbumStore.Kind) throws {
    let (store, file) = try filled(kind)
    let elsewhere = store.home.file("elsewhere")
    try FileManager.default.moveItem(at: file, to: elsewhere)
    try FileManager.default.createSymbolicLink(at: file, withDestinationURL: elsewhere)
    try expectUnreadable(store, .inputOutput)
    #expect(try Data(contentsOf: elsewhere) == AlbumStore.bytes(2_000))
  }

  @Test("a pipe in a file's place makes nobody wait") func pipe() throws {
    let (store, file) = try filled(.sqlite)
    try FileManager.default.removeItem(at: file)
    try #require(mkfifo(file.path, 0o600) == 0)
    try expectUnreadable(store, .inputOutput)
  }

  @Test(
    "a symbolic link in the folder's place is neither read nor written through", arguments: AlbumStore.Kind.allCases)
  func linkedFolder(_ kind: AlbumStore.Kind) throws {
    let (store, _) = try filled(kind)
    let elsewhere = store.home.file("elsewhere")
    try FileManager.default.moveItem(at: store.folder, to: elsewhere)
    try FileManager.default.createSymbolicLink(at: store.folder, withDestinationURL: elsewhere)
    let before = try store.files(elsewhere)
    let container = try store.open()
    defer { container.close() }
    let context = container.newContext()
    let picture = try #require(try context.first(Picture.all))
    #expect(throws: StoreError.self) { try picture.snapshot.content?.load() }
    picture.content = AlbumStore.bytes(3_000)
    #expect(throws: StoreError.self) { try context.save() }
    #expect(throws: StoreError.self) { try container.collectExternalFiles() }
    #expect(try store.files(elsewhere) == before)
  }

  @Test("folder and files are their owner's alone", arguments: AlbumStore.Kind.allCases)
  func rights(_ kind: AlbumStore.Kind) throws {
    let (store, file) = try filled(kind)
    for (url, rights) in [(store.folder, 0o700), (file, 0o600)] {
      #expect(try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int == rights)
    }
  }

  @Test("a file opened by a link to it has one folder only") func linkedStore() throws {
    let (store, _) = try filled(.sqlite)
    let link = store.home.file("link.store")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: store.file)
    let container = try store.open(link)
    defer { container.close() }
    #expect(try container.newContext().first(Picture.all)?.content == AlbumStore.bytes(2_000))
  }

  // MARK: References

  /// Puts a text where the reference is.
  private func write(_ reference: String, _ store: AlbumStore) throws {
    var database: OpaquePointer?
    defer { _ = trellis_sqlite3_close_v2(database) }
    try #require(trellis_sqlite3_open_v2(store.file.path, &database, Int32(TRELLIS_SQLITE_OPEN_READWRITE), nil) == 0)
    let handle = try #require(database)
    let hex = reference.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    let sql = "UPDATE Picture SET content = CAST(x'\(hex)' AS TEXT)"
    try #require(trellis_sqlite3_exec(handle, sql, nil, nil, nil) == 0)
  }

  @Test("a reference that is none is an error, whatever it holds, and nothing is collected by it") func references()
    throws
  {
    let (store, file) = try filled(.sqlite)
    let digest = file.lastPathComponent
    let hostile = [
      "", ":", "../../../../etc/passwd", "../../../../etc/passwd:5", "\(digest)", "\(digest):", "\(digest):-1",
      "\(digest):+2000", "\(digest):02000", "\(digest):2000 ", "\(digest.uppercased()):2000",
      "/\(digest.dropFirst()):2000",
      "\(digest):99999999999999999999", "\(digest)/..:2000", "\(digest)\u{0}:2000",
      String(repeating: "a", count: 10_000),
    ]
    for reference in hostile {
      try write(reference, store)
      let container = try store.open()
      defer { container.close() }
      let error = #expect(throws: StoreError.self) { try container.newContext().fetch(Picture.all) }
      #expect(error?.code == .unreadableValue, "\(reference)")
      #expect(throws: StoreError.self) { try container.collectExternalFiles() }
      #expect(try container.check().contains { $0.code == .unreadableValue }, "\(reference)")
    }
    #expect(FileManager.default.fileExists(atPath: file.path))
  }

  @Test("of 10,000 hostile texts none is a reference; TRELLIS_HOSTILE_NAMES") func hostileNames() {
    let count = TestSettings.number("TRELLIS_HOSTILE_NAMES", or: 10_000)
    let seed = TestSettings.seed()
    var generator = SeededGenerator(seed: seed)
    let pieces = [
      "..", "/", "\\", ":", "\u{0}", "a", "0", "f", "G", "-", "~", "%2e", "한", "é", "C:", "\n", "lock", "new", "9",
    ]
    for _ in 0..<count {
      var text = (0..<Int.random(in: 0...90, using: &generator)).map { _ in
        pieces.randomElement(using: &generator) ?? ""
      }.joined()
      if Bool.random(using: &generator) { text = String(repeating: "a", count: 64) + text }
      guard let parts = ExternalFile.parts(of: text) else { continue }
      // Then it is one as the store writes it, and its name has digits alone.
      #expect(ExternalFile.reference(parts.digest, parts.size) == text, "seed \(seed)")
    }
  }

  @Test("a document's reference that is none is refused with its place") func documents() throws {
    let (store, file) = try filled(.json)
    let text = try String(contentsOf: store.file, encoding: .utf8)
    let digest = file.lastPathComponent
    let good = "{\"file\": \"\(digest)\", \"size\": 2000}"
    try #require(text.contains(good))
    for bad in [
      "{}", "{\"file\": \"\(digest)\"}", "{\"size\": 2000}", "{\"file\": \"../a\", \"size\": 1}",
      "{\"file\": \"\(digest)\", \"size\": -1}", "{\"file\": \"\(digest)\", \"size\": 2000, \"path\": \"/etc\"}",
      "{\"file\": \"\(digest)\", \"file\": \"\(digest)\", \"size\": 2000}", "{\"file\": 1, \"size\": 2000}", "[]", "7",
    ] {
      try Data(text.replacingOccurrences(of: good, with: bad).utf8).write(to: store.file)
      let error = #expect(throws: StoreError.self) { try store.open().close() }
      #expect(error?.message.contains("Picture.content") == true, "\(bad): \(error?.message ?? "")")
    }
    #expect(FileManager.default.fileExists(atPath: file.path))
  }
}

/// What was reported.
private final class Reports: Sendable {
  private let problems = Mutex<[ContextError.Code]>([])

  func add(_ problem: ContextError) { problems.withLock { $0.append(problem.code) } }

  var codes: [ContextError.Code] { problems.withLock { $0 } }
}
