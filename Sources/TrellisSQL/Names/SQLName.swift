/// Quotes names and texts of a model for SQL. Values are never inserted into SQL: they are bound.
package enum SQLName {
  /// A name in double quotes.
  package static func quoted(_ name: String) -> String { enclosed(name, "\"") }

  /// A text literal, for entity names, which are fixed by the model.
  package static func literal(_ text: String) -> String { enclosed(text, "'") }

  private static func enclosed(_ text: String, _ quote: Unicode.Scalar) -> String {
    let mark = String(quote)
    // Compares scalars: a quote followed by a combining mark is another character, but still ends a name in SQL.
    guard text.unicodeScalars.contains(quote) else { return mark + text + mark }
    var result = mark
    for scalar in text.unicodeScalars {
      if scalar == quote { result.unicodeScalars.append(scalar) }
      result.unicodeScalars.append(scalar)
    }
    return result + mark
  }

  /// The columns that every table has.
  package static let id = "\"_id\""
  package static let version = "\"_version\""
  package static let entity = "\"_entity\""
  /// The table with the metadata of the file.
  package static let metadata = "\"_trellis\""
  /// The table with the models that the file has had.
  package static let models = "\"_models\""
}
