import TrellisModel
import TrellisStorage

/// The full-text indexes of searchable attributes: GIN indexes over the tokens of each text. The server
/// maintains them for every writer. They find every text that matches, and some others, so the rows are tested in memory.
struct SearchIndexes: Sendable {
  struct Index: Sendable {
    /// The entity that declares the attribute, and the number of the attribute.
    let entity: Int
    let property: Int
    /// The name, not quoted.
    let name: String
    let statement: String
    /// The name of the table, not quoted and not fitted.
    let table: String
  }

  private(set) var indexes: [Index] = []

  init() {}

  /// The indexes that a model needs.
  ///
  /// - Parameter functions: the functions of the store; without them there are no indexes.
  init(_ setup: PostgresSetup, _ functions: ServerFunctions?) {
    guard let functions else { return }
    let names = setup.layout.names
    for entity in setup.model.entities {
      for property in entity.properties {
        guard let attribute = property.attribute, attribute.description.isSearchable, attribute.entity == entity.index,
          let place = attribute.column, let column = setup.layout.column(place, of: entity.index)
        else { continue }
        let name = "\(Self.prefix)\(entity.name).\(attribute.name)"
        let table = setup.model.name(ofEntity: entity.root)
        indexes.append(
          Index(
            entity: entity.index, property: attribute.index, name: names.fitted(name),
            statement:
              "CREATE INDEX \(names.identifier(name)) ON \(names.table(table)) USING gin ((\(functions.tokens(column))))",
            table: table))
      }
    }
  }

  static let prefix = "_search."

  func keeping(_ isKept: (Index) -> Bool) -> SearchIndexes {
    var result = SearchIndexes()
    result.indexes = indexes.filter(isKept)
    return result
  }

  /// Whether an index has the texts of an attribute.
  func have(_ attribute: Attribute) -> Bool {
    indexes.contains { $0.entity == attribute.entity && $0.property == attribute.index }
  }
}

extension ServerFunctions {
  /// The tokens of a text.
  func tokens(_ sql: String) -> String { call("tokens", sql) }

  /// The query for the texts that have the words of a search, and for those whose words the server does not know. Nil for
  /// a search without words, which finds nothing.
  static func query(_ search: String) -> String? {
    let terms = SearchTokens.terms(of: search).map { "'\($0.text)'\($0.isPrefix ? ":*" : "")" }
    return terms.isEmpty ? nil : "(\(terms.joined(separator: " & "))) | '?'"
  }
}
