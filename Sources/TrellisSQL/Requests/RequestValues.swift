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
    /// Folded as the column is.
    case folded(TextOptions)
    /// The least text after all that have the value as their prefix.
    case endOfPrefix
    /// Decimals as canonical text.
    case canonical
    /// What a full-text table is asked for by a query.
    case searchTerms
    /// Bytes as the reference to the file that holds them.
    case reference
  }

  /// The place among the values.
  package let value: Int
  package let form: Form
}

extension StoredValue {
  /// Whether SQLite would keep the value as null.
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
