package import TrellisQuery
package import TrellisSchema

/// One value of a request, or one list of values.
package enum BoundValue: Sendable {
  case single(StoredValue)
  case list([StoredValue])
}

/// The source of a statement's parameter: a value of the request and its form.
package struct Parameter: Hashable, Sendable {
  package enum Form: Hashable, Sendable {
    case plain
    /// Folded in the same way as the column.
    case folded(TextOptions)
    /// The smallest text after all texts with the value as their prefix.
    case endOfPrefix
    /// Decimals as their canonical text.
    case canonical
    /// The full-text query for a search.
    case searchTerms
    /// Bytes as a reference to the file that contains them.
    case reference
  }

  /// The position among the request's values.
  package let value: Int
  package let form: Form
}

extension StoredValue {
  /// Whether SQLite would store the value as null.
  var isNil: Bool {
    switch self {
    case .null: true
    case .real(let real): real.isNaN
    default: false
    }
  }
}

extension [StoredValue] {
  var hasNull: Bool { contains { $0.isNil } }
}
