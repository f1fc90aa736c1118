/// A pattern is a regular expression that Swift's `Regex` reads, of a size that it reads safely.
enum Patterns {
  static func check(_ pattern: String, of path: String, at offset: Int, _ findings: Findings) {
    if let fault = fault(in: pattern) {
      findings.error(
        .invalidPattern, at: offset, "The pattern of attribute '\(path)' is no regular expression: \(fault).")
    }
  }

  private static func fault(in pattern: String) -> String? {
    if pattern.utf8.count > Limits.patternLength {
      return "it has \(pattern.utf8.count) bytes; a pattern may have \(Limits.patternLength)"
    }
    if depth(of: pattern) > Limits.patternDepth {
      return "its groups lie in each other more than \(Limits.patternDepth) levels deep"
    }
    do {
      _ = try Regex(pattern)
      return nil
    } catch {
      return String(describing: error).shown
    }
  }

  private static func depth(of pattern: String) -> Int {
    var depth = 0
    var deepest = 0
    for byte in pattern.utf8 {
      if "([".utf8.contains(byte) { depth += 1 }
      if ")]".utf8.contains(byte) { depth = max(0, depth - 1) }
      deepest = max(deepest, depth)
    }
    return deepest
  }

  /// Whether the whole text matches; nil where trying could take long, because a pattern can need a time that doubles with
  /// each letter.
  static func matches(_ text: String, _ pattern: String) -> Bool? {
    let isRepeatedGroup = zip(pattern.utf8, pattern.utf8.dropFirst()).contains {
      $0 == UInt8(ascii: ")") && "*+{".utf8.contains($1)
    }
    let repetitions = pattern.utf8.count { "*+{?".utf8.contains($0) }
    guard !isRepeatedGroup, repetitions <= 3 || text.utf8.count <= 8, text.utf8.count <= 100,
      let regex = try? Regex(pattern)
    else { return nil }
    do {
      return try regex.matchingSemantics(.unicodeScalar).wholeMatch(in: text) != nil
    } catch {
      return nil
    }
  }
}
