/// Prints the story: chapters, Swift code and its results.
struct Teller {
  func chapter(_ title: String) { print("\n\(title)") }

  /// Prints the code of the next step.
  func code(_ lines: String) {
    for line in lines.split(separator: "\n", omittingEmptySubsequences: false) { print("    \(line)") }
  }

  func say(_ sentence: String) { print("  \(sentence)") }

  func show(_ what: String, _ value: some Any) { print("  \(what): \(value)") }
}
