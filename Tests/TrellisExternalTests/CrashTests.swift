import Foundation
import Testing
import Trellis
import TrellisJSON
@testable import TrellisStorage
import TrellisTestSupport

@testable import TrellisPictureLoop

@Suite("Neither a crash nor a failing disk loses a file or leaves a reference to none") struct CrashTests {
  /// How often a program is killed; more by the environment variable TRELLIS_KILL_CYCLES.
  private static let cycles = TestSettings.number("TRELLIS_KILL_CYCLES", or: 6)

  @Test("kill -9 during saves with large data and collections, in a separate process", arguments: ["sqlite", "json"])
  func killing(_ ending: String) throws {
    let program = try #require(
      BuiltProgram.url(of: "TrellisPictureLoop"), "the program TrellisPictureLoop is not beside the tests")
    let folder = try TestFolder()
    let file = folder.file("album.\(ending)")
    var total = 0
    for cycle in 0..<Self.cycles {
      let told = try runAndKill(program, file, afterMilliseconds: Int.random(in: 0...80))
      guard FileManager.default.fileExists(atPath: file.path) else { continue }
      let found = try PictureLoop.verify(file) { Issue.record("cycle \(cycle): \($0)") }
      #expect(found >= max(told, total), "cycle \(cycle): told \(told), found \(found)")
      try expectNothingLeft(file)
      total = found
    }
    print("\(Self.cycles) times killed, \(total) saves in \(ending), none lost")
    #expect(total > 0)
  }

  /// Opening has collected what the killed program left: each file there is one that a row refers to.
  private func expectNothingLeft(_ file: URL) throws {
    let container = try PersistentContainer(model: .album, store: PictureLoop.configuration(file), log: nil)
    defer { container.close() }
    let snapshots = try container.newContext().fetch(Picture.all).map(\.snapshot)
    let handles = snapshots.flatMap { [$0.content, $0.preview] }.compactMap(\.self).filter(\.isInFile)
    let names = try FileManager.default.contentsOfDirectory(atPath: file.path + ".external")
    #expect(Set(names).subtracting(["lock", "uncollected"]) == Set(handles.map(\.digest.text)))
  }

  /// The last number of a save that the program has told.
  private func runAndKill(_ program: URL, _ file: URL, afterMilliseconds wait: Int) throws -> Int {
    let process = Process()
    let output = Pipe()
    process.executableURL = program
    process.arguments = [file.path]
    process.standardOutput = output
    try process.run()
    // Not before it has begun to save.
    var told = output.fileHandleForReading.availableData
    Thread.sleep(forTimeInterval: Double(wait) / 1_000)
    kill(process.processIdentifier, SIGKILL)
    told.append(output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    let text = String(decoding: told, as: UTF8.self)
    if text.contains("failed") { Issue.record("\(text)") }
    return text.split(separator: "\n").last.flatMap { Int($0) } ?? 0
  }

  // MARK: A failing disk

  private func open(_ kind: AlbumStore.Kind, _ file: URL, _ files: FailingFiles) throws -> PersistentContainer {
    let configuration = StoreConfiguration { model in
      switch kind {
      case .json:
        return try JSONStore(
          path: file.path, model: model, options: DocumentOptions(largestInRow: AlbumStore.limit), files: files)
      case .sqlite:
        var options = OpenOptions(durability: .durable, busyTimeoutMilliseconds: 5_000, isReadOnly: false)
        options.largestInRow = AlbumStore.limit
        options.files = files
        return try SQLiteStore(url: file, model: model, options: options)
      }
    }
    return try PersistentContainer(model: .album, store: configuration, log: nil) { _ in }
  }

  /// The pictures' names with their data's size, read without a failure.
  private func pictures(_ store: AlbumStore) throws -> [String] {
    let container = try store.open()
    defer { container.close() }
    #expect(try container.check().isEmpty)
    return try container.newContext().fetch(Picture.all.sorted { $0.name.ascending }).map {
      "\($0.name) \($0.content?.count ?? -1)"
    }
  }

  @Test(
    "the n-th step of the file system fails, once or for ever: the state before or the state after",
    arguments: AlbumStore.Kind.allCases, [false, true])
  func failing(_ kind: AlbumStore.Kind, _ forEver: Bool) throws {
    var failures = 0
    for step in 1...200 {
      let store = try AlbumStore(kind)
      let files = FailingFiles()
      let before = ["a 2000", "b 2000"], after = ["a 5000", "c 2000"]
      var (hasFailed, tried) = (false, 0)
      do {
        let container = try open(kind, store.file, files)
        defer { container.close() }
        let context = container.newContext()
        for name in ["a", "b"] {
          _ = Picture(in: context, name: name, content: AlbumStore.bytes(2_000, name == "a" ? 0 : 1))
        }
        try context.save()
        let pictures = try context.fetch(Picture.all.sorted { $0.name.ascending })
        pictures[0].content = AlbumStore.bytes(5_000)
        try context.delete(pictures[1])
        _ = Picture(in: context, name: "c", content: AlbumStore.bytes(2_000, 2))
        files.fail(at: step, forEver: forEver)
        do {
          try context.save()
          _ = try container.collectExternalFiles()
        } catch is StoreError {
          hasFailed = true
        }
        // What was not saved is still in memory.
        if context.hasChanges { #expect(pictures[0].content == AlbumStore.bytes(5_000)) }
        tried = files.tried
        files.fail(at: nil, forEver: false)
      }
      let found = try pictures(store)
      #expect(found == before || found == after, "step \(step)")
      if tried < step { break }
      failures += hasFailed ? 1 : 0
    }
    print("\(failures) steps failed, \(kind), \(forEver ? "for ever" : "once")")
    #expect(failures > 8 && failures < 150)
  }

  @Test("a save that fails keeps the bytes, and can be tried again", arguments: AlbumStore.Kind.allCases)
  func again(_ kind: AlbumStore.Kind) throws {
    let store = try AlbumStore(kind)
    let container = try store.open()
    defer { container.close() }
    let context = container.newContext()
    _ = Picture(in: context, name: "a", content: AlbumStore.bytes(2_000))
    try context.save()
    let other = container.newContext()
    let picture = Picture(in: other, name: "a", content: AlbumStore.bytes(3_000))
    #expect(throws: (any Error).self) { try other.save() }
    #expect(picture.snapshot.content?.isInFile == false)
    #expect(try container.collectExternalFiles() == 1, "the file of the save that failed")
    picture.name = "b"
    try other.save()
    #expect(picture.content == AlbumStore.bytes(3_000))
    #expect(try container.check().isEmpty)
  }
}
