import CSQLite
import Foundation
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

/// A file with a graph, and the same in memory, to be migrated in both ways.
final class MigratedStore {
  let folder: TestFolder
  let url: URL
  let stored: Model
  private let memory: MemoryStore

  init(_ graph: PlainGraph) throws {
    folder = try TestFolder()
    url = folder.file("store.db")
    stored = try Model(graph.model.description)
    memory = MemoryStore(stored)
    let request = graph.request(stored)
    let file = try open(stored)
    _ = try file.reserveKeys(1_000)
    _ = try memory.reserveKeys(1_000)
    _ = try file.connect().save(request)
    _ = try memory.save(request)
  }

  private init(_ other: MigratedStore, at url: URL) {
    (folder, stored, memory) = (other.folder, other.stored, other.memory)
    self.url = url
  }

  /// The copy of the file from before the migration; nil if there is none.
  var backup: MigratedStore? {
    let url = URL(fileURLWithPath: "\(url.path).before-\(stored.checksum)")
    return FileManager.default.fileExists(atPath: url.path) ? MigratedStore(self, at: url) : nil
  }

  func open(_ model: Model, migration: MigrationPolicy = .automatic) throws -> any Store {
    try StoreConfiguration.sqlite(
      at: url, durability: .relaxed, busyTimeout: 0.1, filesAbove: 64, connections: 1, migration: migration
    ).open(model)
  }

  /// The bytes of the file and of its write-ahead log.
  var bytes: [Data] {
    ["", "-wal"].map { (try? Data(contentsOf: URL(fileURLWithPath: url.path + $0))) ?? Data() }
  }

  // MARK: Memory

  func inMemory(_ current: Model) -> StateMigration {
    StateMigration(Migration(from: stored, to: current), of: memory.snapshot(), now: 1_767_225_600_000_000)
  }

  // MARK: File

  private var options: OpenOptions {
    var options = OpenOptions(durability: .relaxed, busyTimeoutMilliseconds: 100, isReadOnly: false)
    options.largestInRow = 64
    return options
  }

  func plan(_ current: Model) throws -> MigrationPlan? {
    try FileMigration(path: url.path, model: current, options: options).plan()
  }

  func contents(_ store: any Store, _ model: Model) throws -> StoreContents {
    try StoreContents(store, Database(path: url.path, options: options), model)
  }

  /// What is wrong with the file itself.
  ///
  /// - Parameter isMigrated: otherwise the first save changes the declared indexes.
  func faults(_ store: any Store, _ model: Model, isMigrated: Bool) throws -> [String] {
    var faults: [String] = []
    try store.connect().check { faults.append("the check finds: \($0)") }
    let database = try Database(path: url.path, options: options)
    for row in try database.texts("PRAGMA integrity_check", 1) where row != ["ok"] {
      faults.append("integrity: \(row)")
    }
    for row in try database.texts("PRAGMA foreign_key_check", 4) { faults.append("foreign key: \(row)") }
    let found = try SchemaStructure(of: database).facts
    let expected = try Self.freshStructure(model, folder.file("fresh.db"), options)
    for name in Set(found.keys).union(expected.keys).sorted() where found[name] != expected[name] {
      if !isMigrated && name.hasPrefix(IndexPlan.declaredPrefix) { continue }
      faults.append("\(name) is \(found[name]?.sorted() ?? []), not \(expected[name]?.sorted() ?? [])")
    }
    if case .differs = try Metadata.fit(of: model, in: database) { faults.append("the file would be migrated again") }
    return faults
  }

  private static func freshStructure(
    _ model: Model, _ url: URL, _ options: OpenOptions
  ) throws -> [String: Set<String>] {
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    let store = try StoreConfiguration.sqlite(at: url, durability: .relaxed, filesAbove: 64).open(model)
    let facts = try SchemaStructure(of: Database(path: url.path, options: options)).facts
    withExtendedLifetime(store) {}
    return facts
  }
}
