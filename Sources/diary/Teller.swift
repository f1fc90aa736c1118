/// How the story is printed: chapters, the Swift that is at work, and what came of it.
struct Teller {
  func chapter(_ title: String) { print("\n\(title)") }

  /// Shows the lines that do what follows.
  func code(_ lines: String) {
    for line in lines.split(separator: "\n", omittingEmptySubsequences: false) { print("    \(line)") }
  }

  func say(_ sentence: String) { print("  \(sentence)") }

  func show(_ what: String, _ value: some Any) { print("  \(what): \(value)") }
}
