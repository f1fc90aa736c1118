import Foundation
import TrellisStorage

/// The statements for notes, which are texts in the table with the metadata.
struct NoteStatements {
  private let names: SQLNames

  init(_ names: SQLNames) { self.names = names }

  private static let prefix = "note:"

  /// The change of a note, which returns one row if the note had the expected bytes.
  func change(_ note: StoreNote) -> ServerStatement {
    var parameters = ServerParameters()
    parameters.add(Self.prefix + note.name)
    let former = note.former.map { parameters.add(Self.text($0)) }
    let value = note.value.map { parameters.add(Self.text($0)) }
    let table = names.metadata
    let condition = former.map { "\"key\" = $1 AND \"value\" = \($0)" }
    let text =
      switch (condition, value) {
      case (let condition?, let value?): "UPDATE \(table) SET \"value\" = \(value) WHERE \(condition) RETURNING 1"
      case (let condition?, nil): "DELETE FROM \(table) WHERE \(condition) RETURNING 1"
      case (nil, let value?):
        "INSERT INTO \(table) (\"key\", \"value\") VALUES ($1, \(value)) ON CONFLICT DO NOTHING RETURNING 1"
      case (nil, nil): "SELECT 1 WHERE NOT EXISTS (SELECT FROM \(table) WHERE \"key\" = $1)"
      }
    return ServerStatement(text, parameters)
  }

  /// The notes whose names begin with a prefix.
  func read(beginningWith prefix: String) -> ServerStatement {
    var parameters = ServerParameters()
    parameters.add(Self.prefix + prefix)
    return ServerStatement(
      "SELECT substr(\"key\", \(Self.prefix.count + 1)), \"value\" FROM \(names.metadata) "
        + "WHERE starts_with(\"key\", $1)", parameters)
  }

  private static func text(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

  static func bytes(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map { Array($0) } }
}

extension PostgresConnection: NoteConnection {
  package func notes(beginningWith prefix: String) throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    try readAll(NoteStatements(layout.names).read(beginningWith: prefix), doing: "read the notes") { result, row in
      guard let name = result.text(row, 0), let text = result.text(row, 1), let bytes = NoteStatements.bytes(text)
      else {
        throw StoreError(
          .damaged, "A note of \(store.name) cannot be read.", remedy: "Restore the database from a backup.")
      }
      found[name] = bytes
    }
    return found
  }
}
