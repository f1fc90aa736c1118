import Foundation
import TrellisJSON
import TrellisPostgres
import TrellisStorage

/// A store that a command makes. What is not complete, or breaks rules, does not stay.
struct NewStore {
  let path: String
  let kind: StoreOperand.Kind

  /// - Throws: ``ToolFailure`` if there is a file of the name, or a schema on the server.
  init(_ path: String) throws(ToolFailure) {
    self.path = path
    if let place = ServerPlace(path) {
      kind = .server(place)
      guard try !Self.hasSchema(place) else {
        throw ToolFailure(
          .failure,
          "error: \(place.name) exists already, and a new schema is made. Name another one, as ?schema=NAME, or drop it."
        )
      }
      return
    }
    kind = path.lowercased().hasSuffix(".json") ? .document : .sqlite
    guard !FileManager.default.fileExists(atPath: path) else {
      throw ToolFailure(
        .failure, "error: \(path) exists already, and a new store is written. Choose another name, or remove the file.")
    }
  }

  private static func hasSchema(_ place: ServerPlace) throws(ToolFailure) -> Bool {
    do { return try PostgresStore.hasSchema(place.connectionString, place.schema) } catch {
      throw ToolFailure(store: error, place.name)
    }
  }

  /// How the store is made and opened.
  var configuration: StoreConfiguration { StoreConfiguration(path, kind, migration: .automatic) }

  /// Makes the store and checks it by the rules of its model.
  func fill(
    keepsBroken: Bool, isChecked: Bool = true, _ body: () throws(ToolFailure) -> Void
  ) throws(ToolFailure) -> ExitStatus {
    do throws(ToolFailure) {
      try body()
      if !isChecked { return .success }
      let store = try StoreOperand(path)
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

  func remove() {
    if case .server(let place) = kind {
      do { try PostgresStore.dropSchema(place.connectionString, place.schema) } catch {
        Console.complain("\(place.name) could not be dropped: \(error)\n")
      }
      return
    }
    for ending in ["", "-wal", "-shm", "-journal", ".external"] {
      try? FileManager.default.removeItem(atPath: path + ending)
    }
  }
}
