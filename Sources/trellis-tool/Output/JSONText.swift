import Foundation

/// JSON for other programs, in lines.
enum JSONText {
  /// A text in quotes.
  static func quoted(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
  }

  /// An object on one line, with its keys in order.
  static func object(_ members: [(key: String, value: String)]) -> String {
    members.isEmpty
      ? "{}" : "{ " + members.map { "\(JSONText.quoted($0.key)): \($0.value)" }.joined(separator: ", ") + " }"
  }

  static func list(_ values: [String]) -> String { "[" + values.joined(separator: ", ") + "]" }

  /// A list with one element a line, so that a line can be found and compared.
  static func lines(_ values: [String]) -> String {
    values.isEmpty ? "[]\n" : "[\n  \(values.joined(separator: ",\n  "))\n]\n"
  }
}
