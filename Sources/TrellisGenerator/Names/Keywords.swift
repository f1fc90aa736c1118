/// Swift keywords, by the positions in which generated code uses names.
enum Keywords {
  /// Keywords that need backticks in a declaration or on their own, including contextual keywords that can begin an
  /// expression.
  static let all: Set<String> = [
    "Any", "Protocol", "Self", "Type", "actor", "any", "as", "associatedtype", "async", "await", "borrow", "break",
    "case",
    "catch", "class", "consume", "continue", "copy", "default", "defer", "deinit", "didSet", "discard", "do", "each",
    "else",
    "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "get", "guard", "if", "import", "in",
    "init",
    "inout", "internal", "is", "let", "macro", "nil", "nonisolated", "operator", "package", "precedencegroup",
    "private",
    "protocol", "public", "repeat", "rethrows", "return", "self", "set", "some", "static", "struct", "subscript",
    "super",
    "switch", "then", "throw", "throws", "true", "try", "typealias", "unsafe", "var", "where", "while", "willSet",
    "yield",
  ]

  /// Keywords that need backticks even as a parameter label.
  static let notLabels: Set<String> = ["inout", "let", "var"]

  /// Keywords that have a special meaning even after a dot.
  static let special: Set<String> = ["init", "self", "Self", "Type", "Protocol", "Any"]
}
