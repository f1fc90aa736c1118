/// Names and texts of a model inside SQL. Values never come this way: they are bound.
package enum SQLName {
  /// A name in double quotes.
  package static func quoted(_ name: String) -> String { enclosed(name, "\"") }

  /// A text literal, for names of entities, which the model fixes.
  package static func literal(_ text: String) -> String { enclosed(text, "'") }

  private static func enclosed(_ text: String, _ quote: Character) -> String {
    var result = String(quote)
    for character in text {
      result.append(character)
      if character == quote { result.append(character) }
    }
    result.append(quote)
    return result
  }

  /// The columns that every table has.
  package static let id = "\"_id\""
  package static let version = "\"_version\""
  package static let entity = "\"_entity\""
  /// The table with what Trellis knows about the file.
  package static let metadata = "\"_trellis\""
}
