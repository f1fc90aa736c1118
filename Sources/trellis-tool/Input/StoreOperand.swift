import Foundation
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisPostgres
import TrellisRuntime
import TrellisStorage

/// A store that a command is given: a file, or a schema of a server. It carries its model.
struct StoreOperand {
  /// Where the objects are.
  enum Kind: Equatable {
    case sqlite, document
    case server(ServerPlace)

    /// The kind of an operand: the address of a server, or a file, by its first bytes.
    ///
    /// - Throws: ``ToolFailure`` if there is no such file.
    init(of path: String) throws(ToolFailure) {
      if let server = ServerPlace(path) {
        self = .server(server)
        return
      }
      try ServerPlace.refuseOtherForms(path)
      try InputFile.needRegular(path)
      let url = URL(fileURLWithPath: path)
      let file = try? FileHandle(forReadingFrom: url)
      defer { try? file?.close() }
      let start = (try? file?.read(upToCount: StoreKey.lengthOfStart)) ?? Data()
      let isDatabase = start.starts(with: Data("SQLite format 3\u{0}".utf8)) || StoreKey.isCiphertext(start)
      self = isDatabase ? .sqlite : .document
    }
  }

  let path: String
  let kind: Kind
  let model: Model
  /// The key of the file. Nil if it is not encrypted.
  let key: StoreKey.Source?

  /// The store in messages: the path of a file, or the place on a server, without a password.
  var name: String { ServerPlace.name(path) }

  /// The name of the file or of the schema.
  var shortName: String {
    if case .server(let place) = kind { place.schema } else { URL(fileURLWithPath: path).lastPathComponent }
  }

  /// Reads the model that a store carries. Nothing is written to the store.
  ///
  /// - Throws: ``ToolFailure`` if there is no such store.
  init(_ path: String) throws(ToolFailure) { try self.init(path, key: StoreKey.of(path)) }

  /// - Parameter key: The key of an encrypted file.
  init(_ path: String, key: StoreKey.Source?) throws(ToolFailure) {
    self.path = path
    self.key = key
    kind = try Kind(of: path)
    let url = URL(fileURLWithPath: path)
    do {
      switch kind {
      case .server(let place): model = try PostgresStore.storedModel(place.connectionString, schema: place.schema)
      case .sqlite: model = try SQLiteStore.storedModel(at: url, key: key.map { FileKey($0) })
      case .document: model = try DocumentSource(try Data(contentsOf: url, options: .mappedIfSafe), path: path).model
      }
    } catch {
      throw ToolFailure(store: error, path)
    }
  }

  /// How the store is opened with its own model.
  ///
  /// - Parameter isReadOnly: Whether nothing is written to the store.
  func configuration(readOnly isReadOnly: Bool) -> StoreConfiguration {
    let url = URL(fileURLWithPath: path)
    return switch kind {
    case .sqlite: .sqlite(at: url, readOnly: isReadOnly, key: key)
    case .document: .json(at: url, readOnly: isReadOnly)
    case .server(let place):
      isReadOnly
        ? .postgresReading(place.connectionString, schema: place.schema)
        : .postgres(place.connectionString, schema: place.schema, connections: 2)
    }
  }

  /// Opens the store with objects that need no generated code.
  ///
  /// - Throws: ``ToolFailure``.
  func container(readOnly isReadOnly: Bool) throws(ToolFailure) -> PersistentContainer {
    do {
      let container = try PersistentContainer(
        model: ObjectModel(dynamic: model.description, checksum: model.checksum),
        store: configuration(readOnly: isReadOnly), log: nil)
      CallLimit.current?.watch(container)
      return container
    } catch {
      throw ToolFailure(store: error, path)
    }
  }

  /// Opens the store without its object graph.
  ///
  /// - Throws: ``ToolFailure``.
  func store(readOnly isReadOnly: Bool) throws(ToolFailure) -> any Store {
    do { return try configuration(readOnly: isReadOnly).open(model) } catch { throw ToolFailure(store: error, path) }
  }
}

extension StoreOperand {
  /// What breaks the rules of the store's model, and what is damaged.
  func findings(limit: Int) throws(ToolFailure) -> [StoreFinding] {
    let container = try container(readOnly: true)
    defer { container.close() }
    do { return try container.check(limit: limit) } catch { throw ToolFailure(store: error, path) }
  }
}

extension ToolFailure {
  /// The failure of an operation on a store.
  init(store error: any Error, _ path: String) {
    if let failure = error as? ToolFailure {
      self = failure
    } else if let error = error as? StoreError {
      self.init(error.code == .cannotOpen ? .unreadable : .failure, "error: \(error)")
    } else {
      self.init(.failure, "error: \(ServerPlace.name(path)): \(error)")
    }
  }
}

extension StoreConfiguration {
  /// How a store is opened with another model than its own.
  init(_ path: String, _ kind: StoreOperand.Kind, key: StoreKey.Source?, migration: MigrationPolicy) {
    let url = URL(fileURLWithPath: path)
    self =
      switch kind {
      case .sqlite: .sqlite(at: url, migration: migration, key: key)
      case .document: .json(at: url, migration: migration)
      case .server(let place):
        .postgres(place.connectionString, schema: place.schema, connections: 2, migration: migration)
      }
  }
}
