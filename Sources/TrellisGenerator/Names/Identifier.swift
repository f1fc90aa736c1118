/// A name as Swift spells it, with backticks where it would be a keyword.
struct Identifier: Hashable {
  /// The name itself.
  let name: String

  init(_ name: String) { self.name = name }

  /// The name where it is declared or stands alone.
  var spelled: String { Keywords.all.contains(name) ? "`\(name)`" : name }

  /// The name as the label of an argument in a call, where one word is a keyword.
  var argument: String { name == "inout" ? "`inout`" : name }

  /// The name as the label of a parameter, where few words are keywords.
  var label: String { Keywords.notLabels.contains(name) ? "`\(name)`" : name }

  /// The name after a dot, where keywords are ordinary names.
  var member: String { Keywords.special.contains(name) ? "`\(name)`" : name }

  /// The name where it stands alone beside others, which it must not be mistaken for.
  func member(besides others: String...) -> String {
    others.contains(name) ? "self.\(member)" : spelled
  }

  /// The name with its first word in small letters: `Diary` gives `diary`, `URLStore` gives `urlStore`.
  var lowerCamel: Identifier {
    let scalars = Array(name.unicodeScalars)
    let capitals = scalars.prefix { $0.properties.isUppercase }.count
    // The last capital of several begins the next word, unless nothing small follows.
    let startsWord = capitals > 1 && capitals < scalars.count && scalars[capitals].properties.isLowercase
    let count = startsWord ? capitals - 1 : capitals
    var lowered = ""
    for (place, scalar) in scalars.enumerated() {
      lowered += place < count ? scalar.properties.lowercaseMapping : String(scalar)
    }
    return Identifier(lowered)
  }

  /// Whether Swift takes the name as it is, in backticks at most. Models use letters, digits and underscores of ASCII.
  var isUsable: Bool {
    guard let first = name.utf8.first, !Keywords.special.contains(name), name != "_" else { return false }
    return Self.isLetter(first) && name.utf8.allSatisfy { Self.isLetter($0) || ($0 >= 0x30 && $0 <= 0x39) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (byte >= 0x41 && byte <= 0x5A) || (byte >= 0x61 && byte <= 0x7A) || byte == 0x5F
  }
}
