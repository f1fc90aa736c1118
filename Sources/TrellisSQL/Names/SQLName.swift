/// Names and texts of a model inside SQL. Values never come this way: they are bound.
package enum SQLName {
  /// A name in double quotes.
  package static func quoted(_ name: String) -> String { enclosed(name, "\"") }

  /// A text literal, for names of entities, which the model fixes.
  package static func literal(_ text: String) -> String { enclosed(text, "'") }

  private static func enclosed(_ text: String, _ quote: Unicode.Scalar) -> String {
    let mark = String(quote)
    // By scalars: a quote with a combining mark after it would be another character, but ends a name in SQL all the same.
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
  /// The table with what Trellis knows about the file.
  package static let metadata = "\"_trellis\""
  /// The table with the models that the file has had.
  package static let models = "\"_models\""
}
