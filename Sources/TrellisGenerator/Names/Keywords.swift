/// The words that Swift reads as its own in places where generated code has names.
enum Keywords {
  /// Those that need backticks where they are declared or stand alone. Words that are keywords in some contexts only are
  /// among them where an expression could begin with them.
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

  /// Those that need backticks even as the label of a parameter.
  static let notLabels: Set<String> = ["inout", "let", "var"]

  /// Those that mean something of their own even after a dot.
  static let special: Set<String> = ["init", "self", "Self", "Type", "Protocol", "Any"]
}
