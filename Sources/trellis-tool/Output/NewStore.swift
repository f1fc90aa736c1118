import Foundation
import TrellisJSON
import TrellisPostgres
import TrellisStorage

/// A store that a command makes. What is not complete, or breaks rules, does not stay.
struct NewStore {
  let path: String
  let kind: StoreOperand.Kind
  /// The key of the file. Nil if it is not encrypted.
  let key: StoreKey.Source?
  /// Whether the schema of a server was there before, without a store. It stays, whatever becomes of the store.
  private let isInPresentSchema: Bool

  /// - Throws: ``ToolFailure`` if there is a file of the name, or a store in the schema of the server.
  init(_ path: String) throws(ToolFailure) {
    self.path = path
    if let place = ServerPlace(path) {
      kind = .server(place)
      key = nil
      let state: PostgresStore.SchemaState
      do { state = try PostgresStore.state(place.connectionString, schema: place.schema) } catch {
        throw ToolFailure(store: error, path)
      }
      if state == .withStore { throw Self.isThere(place) }
      isInPresentSchema = state == .withoutStore
      return
    }
    try ServerPlace.refuseOtherForms(path)
    isInPresentSchema = false
    kind = path.lowercased().hasSuffix(".json") ? .document : .sqlite
    key = kind == .sqlite ? try StoreKey.next() : nil
    guard !FileManager.default.fileExists(atPath: path) else {
      throw ToolFailure(
        .failure, "error: \(path) exists already, and a new store is written. Choose another name, or remove the file.")
    }
  }

  private static func isThere(_ place: ServerPlace) -> ToolFailure {
    ToolFailure(
      .failure,
      "error: \(place.name) has a store already, and a new one is made. Name another schema, as ?schema=NAME, or drop it."
    )
  }

  /// How the store is made and opened.
  var configuration: StoreConfiguration { StoreConfiguration(path, kind, key: key, migration: .automatic) }

  /// Makes the store and checks it by the rules of its model.
  func fill(
    keepsBroken: Bool, isChecked: Bool = true, _ body: () throws(ToolFailure) -> Void
  ) throws(ToolFailure) -> ExitStatus {
    if case .server(let place) = kind, !isInPresentSchema {
      // Of commands that run at the same time, one makes the schema, and no other drops it.
      let isMade: Bool
      do { isMade = try PostgresStore.createSchema(place.connectionString, schema: place.schema) } catch {
        throw ToolFailure(store: error, path)
      }
      if !isMade { throw Self.isThere(place) }
    }
    do throws(ToolFailure) {
      try body()
      if !isChecked { return .success }
      let store = try StoreOperand(path, key: key)
      let findings = try store.findings(limit: 1_000)
      if findings.isEmpty { return .success }
      for finding in findings { Console.complain("\(finding)\n") }
      if keepsBroken { return .failure }
      throw ToolFailure(
        .failure,
        "error: \(store.name) would break the rules of its model, so it was not kept. Repair the source, or keep it with --force."
      )
    } catch {
      remove()
      throw error
    }
  }

  /// Removes what was made: the files, or the schema that this command has created.
  func remove() {
    if case .server(let place) = kind {
      if isInPresentSchema {
        return Console.complain("What was made in \(place.name) stays there, because the schema was there before.\n")
      }
      do { try PostgresStore.dropSchema(place.connectionString, schema: place.schema) } catch {
        Console.complain("\(place.name) could not be dropped: \(error)\n")
      }
      return
    }
    for ending in ["", "-wal", "-shm", "-journal", ".external"] {
      try? FileManager.default.removeItem(atPath: path + ending)
    }
  }
}
