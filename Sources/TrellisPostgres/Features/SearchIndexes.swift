import TrellisModel
import TrellisStorage

/// The indexes of searchable attributes: GIN indexes over the tokens of each text, and over the trigrams of its letters
/// where the server has the extension. The server maintains them for every writer. They find every text that matches, and
/// some others, so the rows are tested again.
struct SearchIndexes: Sendable {
  enum Kind: Sendable {
    case tokens, trigrams
  }

  struct Index: Sendable {
    let kind: Kind
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
  /// Nil where there are no indexes of trigrams.
  private(set) var trigrams: Trigrams?

  init() {}

  /// The indexes that a model needs.
  ///
  /// - Parameters:
  ///   - functions: the functions of the store; without them there are no indexes.
  ///   - trigrams: nil if the server has none.
  init(_ setup: PostgresSetup, _ functions: ServerFunctions?, _ trigrams: Trigrams?) {
    guard let functions else { return }
    self.trigrams = trigrams
    let names = setup.layout.names
    for entity in setup.model.entities {
      for property in entity.properties {
        guard let attribute = property.attribute, attribute.description.isSearchable, attribute.entity == entity.index,
          let place = attribute.column, let column = setup.layout.column(place, of: entity.index)
        else { continue }
        let table = setup.model.name(ofEntity: entity.root)
        func add(_ kind: Kind, _ prefix: String, _ key: String) {
          let name = "\(prefix)\(entity.name).\(attribute.name)"
          indexes.append(
            Index(
              kind: kind, entity: entity.index, property: attribute.index, name: names.fitted(name),
              statement: "CREATE INDEX \(names.identifier(name)) ON \(names.table(table)) USING gin (\(key))",
              table: table))
        }
        add(.tokens, Self.prefix, "(\(functions.tokens(column)))")
        if let trigrams {
          add(.trigrams, "\(Self.prefix)_trigrams.", "(\(functions.letters(column))) \(trigrams.schema).gin_trgm_ops")
        }
      }
    }
  }

  static let prefix = "_search."

  func keeping(_ isKept: (Index) -> Bool) -> SearchIndexes {
    var result = self
    result.indexes = indexes.filter(isKept)
    return result
  }

  /// Whether an index of a kind has the texts of an attribute.
  func have(_ kind: Kind, of attribute: Attribute) -> Bool {
    indexes.contains { $0.kind == kind && $0.entity == attribute.entity && $0.property == attribute.index }
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
