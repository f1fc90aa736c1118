import CSQLite
import Foundation
import Testing
import Trellis
import TrellisJSON
import TrellisStorage
import TrellisTestSupport

@testable import TrellisSaveLoop

@Suite("A full disk does not prevent opening a store") struct FullDiskTests {
  private let folder: TestFolder
  private let disk: TestDisk
  private let file: LoopFile

  init() throws {
    folder = try TestFolder()
    disk = try TestDisk(folder.url)
    file = LoopFile(kind: .sqlite, url: folder.file("loop"))
    try file.fill(saves: 3)
  }

  /// From a step on, the disk has no room.
  private func fill(
    _ kind: DiskStep.Kind = .write, from number: Int = 1, isForEver: Bool = true, code: Int32 = 13
  ) {
    disk.fail(TestDisk.Failure(kinds: [kind], number: number, isForEver: isForEver, code: code))
  }

  private func value(in container: PersistentContainer) throws -> Int64? {
    try container.newContext().first(Counter.where { $0.name == "a" })?.value
  }

  @Test("it is read, a save of a new object is refused with the code full, and is done when there is room")
  func insert() throws {
    fill()
    let container = try file.open()
    #expect(try value(in: container) == 3)
    let context = container.newContext()
    let counter = Counter(in: context, name: "new")
    for _ in 0..<2 {
      failure(of: .full) { try context.save() }
      #expect(context.insertedObjects.count == 1 && counter.name == "new")
    }
    disk.fail(nil)
    try context.save()
    let other = try file.open()
    let second = other.newContext()
    _ = Counter(in: second, name: "other")
    try second.save()
    counter.value = 7
    try context.save()
    other.close()
    container.close()
    #expect(try file.findings() == [])
  }

  @Test("a delete is saved with the room that is left, before any key is reserved")
  func delete() throws {
    fill(isForEver: false)
    let container = try file.open()
    #expect(disk.failures == 1)
    let context = container.newContext()
    try context.delete(try #require(try context.first(Parent.all)))
    try context.save()
    #expect(try context.count(Parent.all) == 2)
    container.close()
    #expect(try file.findings() == [])
  }

  @Test("a disk that becomes full while the store is open refuses an insert, and the context stays as it was")
  func inBetween() throws {
    let container = try file.open()
    let context = container.newContext()
    let counter = Counter(in: context, name: "new")
    fill()
    failure(of: .full) { try context.save() }
    #expect(context.insertedObjects.count == 1 && counter.name == "new" && context.hasChanges)
    disk.fail(nil)
    try context.save()
    container.close()
    #expect(try file.findings() == [])
  }

  @Test("keys that another program has reserved in the meantime are not used twice")
  func takenKeys() throws {
    fill()
    let container = try file.open()
    let context = container.newContext()
    _ = Counter(in: context, name: "new")
    disk.fail(nil)
    let plain = try PlainSQLite(file.url)
    _ = try plain.rows("UPDATE _trellis SET value = 1 << 60 WHERE key = 'nextKey'")
    failure(of: .changedByOthers) { try context.save() }
    container.close()
    let again = try file.open()
    let second = again.newContext()
    _ = Counter(in: second, name: "new")
    try second.save()
    again.close()
    #expect(try file.findings() == [])
  }

  @Test("many programs that were opened without room save beside each other")
  func several() throws {
    fill()
    let containers = try (0..<3).map { _ in try file.open() }
    let contexts = containers.map { $0.newContext() }
    for (number, context) in contexts.enumerated() { _ = Counter(in: context, name: "new \(number)") }
    disk.fail(nil)
    var saved = 0
    for context in contexts {
      do {
        try context.save()
        saved += 1
      } catch let error as StoreError {
        // Two of them had the same keys.
        #expect(error.code == .changedByOthers)
      }
    }
    #expect(saved >= 1)
    for container in containers { container.close() }
    let container = try file.open()
    #expect(try container.newContext().count(Counter.all) == 2 + saved)
    container.close()
    #expect(try file.findings() == [])
  }

  @Test("without room for the shared memory it is read, and says so when it is saved to")
  func sharedMemory() throws {
    fill(.map, code: 4_874)
    let container = try file.open()
    #expect(try value(in: container) == 3)
    let context = container.newContext()
    _ = Counter(in: context, name: "new")
    let error = failure(of: .full) { try context.save() }
    #expect(error?.remedy.contains("open the store again") == true)
    #expect(context.insertedObjects.count == 1)
    container.close()
    disk.fail(nil)
    try file.fill(saves: 1)
    #expect(try file.findings() == [])
  }

  /// What an opening may find.
  enum Found: CaseIterable { case closed, copy, log }

  @Test("no write of an opening is needed for reading, wherever the disk becomes full", arguments: Found.allCases)
  func everyWrite(_ found: Found) throws {
    let names = ["", "-wal", "-shm", "-journal"]
    var kept: [String: Data] = [:]
    switch found {
    case .closed: kept[""] = try Data(contentsOf: file.url)
    case .copy:
      let container = try file.open()
      try container.backUp(to: folder.file("copy"))
      container.close()
      kept[""] = try Data(contentsOf: folder.file("copy"))
    case .log:
      let container = try file.open()
      _ = try SaveLoop(writer: "b", context: container.newContext()).save()
      for name in ["", "-wal"] { kept[name] = try Data(contentsOf: URL(filePath: file.url.path + name)) }
      container.close()
    }
    for number in 1... {
      for name in names { try? FileManager.default.removeItem(atPath: file.url.path + name) }
      for (name, bytes) in kept { try bytes.write(to: URL(filePath: file.url.path + name)) }
      fill(from: number)
      let container = try file.open()
      #expect(try value(in: container) == 3, "\(found) \(number)")
      container.close()
      let hasFailed = disk.failures > 0
      disk.fail(nil)
      #expect(try file.findings() == [], "\(found) \(number)")
      guard hasFailed else { break }
    }
  }

  @Test("a copy for which there is no room is named, and not its store", arguments: [1, 3])
  func copy(_ number: Int) throws {
    let container = try file.open()
    defer { container.close() }
    let copy = folder.file("copy")
    fill(from: number)
    let error = #expect(throws: StoreError.self) { try container.backUp(to: copy) }
    disk.fail(nil)
    #expect(error?.code == .full)
    #expect(error?.message == "There is no room for \(copy.path).")
    #expect(!FileManager.default.fileExists(atPath: copy.path))
  }

  @Test("a document whose lock has no room is read, and says so when it is saved to")
  func document() throws {
    let place = LoopFile(kind: .json, url: folder.file("loop.json"))
    try place.fill(saves: 2)
    let path = place.url.path
    let configuration = StoreConfiguration { model in try JSONStore(path: path, model: model, files: FullFiles()) }
    let container = try PersistentContainer(model: .loop, store: configuration, log: nil)
    #expect(try value(in: container) == 2)
    let context = container.newContext()
    _ = Counter(in: context, name: "new")
    failure(of: .full) { try context.save() }
    #expect(context.insertedObjects.count == 1)
    container.close()
    let missing = folder.file("missing.json").path
    let other = StoreConfiguration { model in try JSONStore(path: missing, model: model, files: FullFiles()) }
    failure(of: .full) { _ = try PersistentContainer(model: .loop, store: other, log: nil) }
  }
}

/// A file system on which nothing can be created.
private struct FullFiles: FileOperations {
  private let system = SystemFiles()
  private var problem: FileProblem { FileProblem(.full, "No space left on device") }

  func resolved(_ path: String) -> String { system.resolved(path) }
  func stamp(_ path: String) throws(FileProblem) -> FileStamp? { try system.stamp(path) }

  func read<Content: FileContent>(_ path: String, limit: Int, followingLinks: Bool) throws(FileProblem) -> (
    bytes: Content, stamp: FileStamp
  ) { try system.read(path, limit: limit, followingLinks: followingLinks) }

  func read(
    _ path: String, inPiecesOf size: Int, followingLinks: Bool,
    _ body: (UnsafeRawBufferPointer) throws(FileProblem) -> Bool
  ) throws(FileProblem) {
    try system.read(path, inPiecesOf: size, followingLinks: followingLinks, body)
  }

  func mayWrite(to path: String) -> Bool { system.mayWrite(to: path) }
  func create(_ path: String, permissions: UInt32) throws(FileProblem) -> any OpenFile { throw problem }
  func rename(_ path: String, to other: String) throws(FileProblem) { throw problem }
  func rename(_ path: String, toUnused other: String) throws(FileProblem) { throw problem }
  func syncFolder(_ path: String) throws(FileProblem) {}
  func remove(_ path: String) throws(FileProblem) { try system.remove(path) }
  func lock(_ path: String) throws(FileProblem) -> any OpenFile { throw problem }
  func share(_ path: String) throws(FileProblem) -> any OpenFile { throw problem }
  func isFolder(_ path: String) throws(FileProblem) -> Bool { try system.isFolder(path) }
  func makeFolder(_ path: String) throws(FileProblem) { throw problem }
  func names(in folder: String) throws(FileProblem) -> [String] { try system.names(in: folder) }
}
