/// A Swift identifier, in backticks if it is a keyword.
struct Identifier: Hashable {
  /// The name without backticks.
  let name: String

  init(_ name: String) { self.name = name }

  /// The name in a declaration or on its own.
  var spelled: String { Keywords.all.contains(name) ? "`\(name)`" : name }

  /// The name as an argument label in a call. Only `inout` needs backticks there.
  var argument: String { name == "inout" ? "`inout`" : name }

  /// The name as a parameter label. Few keywords need backticks there.
  var label: String { Keywords.notLabels.contains(name) ? "`\(name)`" : name }

  /// The name after a dot, where most keywords are ordinary names.
  var member: String { Keywords.special.contains(name) ? "`\(name)`" : name }

  /// The name on its own, qualified with `self` if one of the other names would shadow it.
  func member(besides others: String...) -> String {
    others.contains(name) ? "self.\(member)" : spelled
  }

  /// The name with its first word in lowercase: `Diary` gives `diary`, `URLStore` gives `urlStore`.
  var lowerCamel: Identifier {
    let scalars = Array(name.unicodeScalars)
    let capitals = scalars.prefix { $0.properties.isUppercase }.count
    // The last of several capitals begins the next word, unless no lowercase letter follows.
    let startsWord = capitals > 1 && capitals < scalars.count && scalars[capitals].properties.isLowercase
    let count = startsWord ? capitals - 1 : capitals
    var lowered = ""
    for (place, scalar) in scalars.enumerated() {
      lowered += place < count ? scalar.properties.lowercaseMapping : String(scalar)
    }
    return Identifier(lowered)
  }

  /// Whether Swift accepts the name, at most with backticks. Names of models consist of ASCII letters, digits and
  /// underscores.
  var isUsable: Bool {
    guard let first = name.utf8.first, !Keywords.special.contains(name), name != "_" else { return false }
    return Self.isLetter(first) && name.utf8.allSatisfy { Self.isLetter($0) || ($0 >= 0x30 && $0 <= 0x39) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (byte >= 0x41 && byte <= 0x5A) || (byte >= 0x61 && byte <= 0x7A) || byte == 0x5F
  }
}
