import TrellisStorage

/// Conditions on names in the system catalogues. They compare names, not texts, so that the indexes of the catalogues answer
/// them: a database may have thousands of schemas.
enum CatalogNames {
  /// The names of a column that begin with a text and a full stop.
  ///
  /// - Parameter text: An expression.
  static func condition(_ column: String, beginsWith text: String) -> String {
    // Names are compared by their bytes, and the slash follows the full stop.
    "(\(column) >= (\(text) || '.')::name AND \(column) < (\(text) || '/')::name)"
  }

  /// The names of a column that begin with a prefix, which ends with a full stop.
  static func condition(_ column: String, hasPrefix prefix: String) -> String {
    condition(column, beginsWith: SQLName.literal(String(prefix.dropLast())))
  }
}
