import CSQLite
import Foundation
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

/// The stores that migrations are tried on.
enum MigratedKind: CaseIterable, CustomStringConvertible {
  case file, schema

  /// The kinds that this machine has.
  static var present: [MigratedKind] { TestServer.isThere ? allCases : [.file] }

  /// A store with a graph.
  func store(_ graph: PlainGraph) throws -> MigratedStore {
    switch self {
    case .file: try MigratedFile(graph)
    case .schema: try MigratedSchema(graph)
    }
  }

  var description: String {
    switch self {
    case .file: "file"
    case .schema: "schema on a server"
    }
  }
}

/// A store with a graph, and the same in memory, to be migrated in both ways.
class MigratedStore {
  let stored: Model
  private let memory: MemoryStore

  init(_ graph: PlainGraph) throws {
    stored = try Model(graph.model.description)
    memory = MemoryStore(stored)
    _ = try memory.reserveKeys(1_000)
    _ = try memory.save(graph.request(stored))
  }

  fileprivate init(_ other: MigratedStore) { (stored, memory) = (other.stored, other.memory) }

  /// Makes the store and saves the graph.
  func fill(_ graph: PlainGraph) throws {
    let store = try open(stored)
    _ = try store.reserveKeys(1_000)
    _ = try store.connect().save(graph.request(stored))
  }

  func inMemory(_ current: Model) -> StateMigration {
    StateMigration(Migration(from: stored, to: current), of: memory.snapshot(), now: 1_767_225_600_000_000)
  }

  // MARK: Kinds

  /// Whether a copy is made before anything is lost.
  var keepsCopies: Bool { true }
  /// The copy from before the migration; nil if there is none.
  var backup: MigratedStore? { nil }

  func open(_ model: Model, migration: MigrationPolicy = .automatic) throws -> any Store {
    fatalError("a kind of stores opens its own")
  }

  /// All that the store consists of, to compare it with what it was before.
  func image() throws -> [Data] { [] }

  func plan(_ current: Model) throws -> MigrationPlan? { nil }

  func contents(_ store: any Store, _ model: Model) throws -> StoreContents { StoreContents(model) }

  /// What is wrong with the store itself.
  ///
  /// - Parameter isMigrated: otherwise the first save may change the declared indexes.
  func faults(_ store: any Store, _ model: Model, isMigrated: Bool) throws -> [String] { [] }
}

// MARK: - Migrated file

/// A SQLite file.
final class MigratedFile: MigratedStore {
  let folder: TestFolder
  let url: URL

  override init(_ graph: PlainGraph) throws {
    folder = try TestFolder()
    url = folder.file("store.db")
    try super.init(graph)
    try fill(graph)
  }

  private init(_ other: MigratedFile, at url: URL) {
    folder = other.folder
    self.url = url
    super.init(other)
  }

  override var backup: MigratedStore? {
    let url = URL(fileURLWithPath: "\(url.path).before-\(stored.checksum)")
    return FileManager.default.fileExists(atPath: url.path) ? MigratedFile(self, at: url) : nil
  }

  override func open(_ model: Model, migration: MigrationPolicy = .automatic) throws -> any Store {
    try StoreConfiguration.sqlite(
      at: url, durability: .relaxed, busyTimeout: 0.1, filesAbove: 64, connections: 1, migration: migration
    ).open(model)
  }

  /// The bytes of the file and of its write-ahead log.
  override func image() -> [Data] {
    ["", "-wal"].map { (try? Data(contentsOf: URL(fileURLWithPath: url.path + $0))) ?? Data() }
  }

  private var options: OpenOptions {
    var options = OpenOptions(durability: .relaxed, busyTimeoutMilliseconds: 100, isReadOnly: false)
    options.largestInRow = 64
    return options
  }

  override func plan(_ current: Model) throws -> MigrationPlan? {
    try FileMigration(path: url.path, model: current, options: options).plan()
  }

  override func contents(_ store: any Store, _ model: Model) throws -> StoreContents {
    let database = try Database(path: url.path, options: options)
    return try StoreContents(store, model) { try database.pairs(of: $0) }
  }

  override func faults(_ store: any Store, _ model: Model, isMigrated: Bool) throws -> [String] {
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
