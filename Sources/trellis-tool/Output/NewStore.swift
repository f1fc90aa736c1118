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
    guard case .server(let place) = kind else { return try complete(keepsBroken, isChecked, body) }
    let claim = try SchemaClaim(place, isOptional: isInPresentSchema)
    defer { claim.end() }
    try makeSchema(place)
    return try complete(keepsBroken, isChecked, body)
  }

  /// Makes the schema, unless it was there before without a store.
  private func makeSchema(_ place: ServerPlace) throws(ToolFailure) {
    do {
      // Another command may have made the store since.
      if try PostgresStore.state(place.connectionString, schema: place.schema) != .withStore,
        try isInPresentSchema || PostgresStore.createSchema(place.connectionString, schema: place.schema)
      {
        return
      }
    } catch {
      throw ToolFailure(store: error, path)
    }
    throw Self.isThere(place)
  }

  private func complete(
    _ keepsBroken: Bool, _ isChecked: Bool, _ body: () throws(ToolFailure) -> Void
  ) throws(ToolFailure) -> ExitStatus {
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

/// A schema that exists while a command makes a store in another one, so that of commands at the same time one makes it.
private struct SchemaClaim {
  private let place: ServerPlace
  private let schema: String
  private let isOwn: Bool

  /// - Parameter isOptional: Whether the role may have no right to create schemas.
  /// - Throws: ``ToolFailure`` if another command makes the store.
  init(_ place: ServerPlace, isOptional: Bool) throws(ToolFailure) {
    self.place = place
    var name = place.schema
    // A name has at most 63 bytes.
    while name.utf8.count > 57 { name.removeLast() }
    schema = name + " (new)"
    do { isOwn = try PostgresStore.createSchema(place.connectionString, schema: schema) } catch {
      guard isOptional else { throw ToolFailure(store: error, place.name) }
      isOwn = false
      return
    }
    if !isOwn {
      throw ToolFailure(
        .failure,
        "error: Another command makes a store in \(place.name). If it has ended without removing it, drop the schema \"\(schema)\"."
      )
    }
  }

  /// Lets other commands make a store there.
  func end() {
    guard isOwn else { return }
    do { try PostgresStore.dropSchema(place.connectionString, schema: schema) } catch {
      Console.complain("The schema \"\(schema)\" could not be dropped: \(error)\n")
    }
  }
}
