/// The syntax tree of a pattern.
package indirect enum PatternTree {
  case empty
  case set(ScalarSet)
  case sequence([PatternTree])
  case choice([PatternTree])
  case repeated(PatternTree, least: Int, most: Int?)
  case start, end
}

/// Parses the text of a pattern.
///
/// The language is the common subset of regular expressions: literals, `.`, `[a-z]`, `[^…]`, `\d \w \s` and their
/// opposites, `\p{Lu}`, `\u{1F600}`, groups, `|`, `? * + {n} {n,} {n,m}`, `^` and `$`. A `?` after a repetition changes
/// nothing, because the whole text has to match.
package struct PatternParser {
  private let scalars: [Unicode.Scalar]
  private var position = 0
  private var depth = 0

  package init(_ text: String) { scalars = Array(text.unicodeScalars) }

  package mutating func parse() throws(PatternError) -> PatternTree {
    let tree = try choice()
    if peek == ")" { throw error("this parenthesis closes none") }
    return tree
  }

  private var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  private func error(_ message: String) -> PatternError { PatternError(position: position, message: message) }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard peek == scalar else { return false }
    position += 1
    return true
  }

  private mutating func next(_ missing: String) throws(PatternError) -> Unicode.Scalar {
    guard let scalar = peek else { throw error(missing) }
    position += 1
    return scalar
  }

  // MARK: Structure

  private mutating func choice() throws(PatternError) -> PatternTree {
    var alternatives = [try sequence()]
    while take("|") { alternatives.append(try sequence()) }
    return alternatives.count == 1 ? alternatives[0] : .choice(alternatives)
  }

  private mutating func sequence() throws(PatternError) -> PatternTree {
    var terms: [PatternTree] = []
    while let scalar = peek, scalar != "|", scalar != ")" { terms.append(try repetition(of: try atom())) }
    return terms.isEmpty ? .empty : .sequence(terms)
  }

  private mutating func atom() throws(PatternError) -> PatternTree {
    let scalar = try next("something is missing here")
    switch scalar {
    case "(": return try group()
    case "[": return .set(try bracket())
    case ".": return .set(.anyButNewline)
    case "^": return .start
    case "$": return .end
    case "\\": return .set(try escape())
    case "*", "+", "?", "{":
      position -= 1
      throw error("there is nothing here that '\(scalar)' could repeat")
    default: return .set(.only(scalar))
    }
  }

  private mutating func group() throws(PatternError) -> PatternTree {
    depth += 1
    guard depth <= Pattern.depthLimit else { throw error("groups are nested deeper than \(Pattern.depthLimit)") }
    if take("?") {
      guard take(":") else { throw error("of the groups that begin with '(?' only '(?:' is supported") }
    }
    let inner = try choice()
    guard take(")") else { throw error("a closing parenthesis is missing") }
    depth -= 1
    return inner
  }

  // MARK: Repetitions

  private mutating func repetition(of atom: PatternTree) throws(PatternError) -> PatternTree {
    var tree = atom
    while let scalar = peek {
      switch scalar {
      case "*": tree = .repeated(tree, least: 0, most: nil)
      case "+": tree = .repeated(tree, least: 1, most: nil)
      case "?": tree = .repeated(tree, least: 0, most: 1)
      case "{":
        tree = try counted(tree)
        _ = take("?")
        continue
      default: return tree
      }
      position += 1
      // A lazy repetition matches the same whole texts as a greedy one.
      if take("?") { continue }
      if peek == "+" { throw error("possessive repetitions are not supported") }
    }
    return tree
  }

  private mutating func counted(_ tree: PatternTree) throws(PatternError) -> PatternTree {
    position += 1
    let least = try number()
    var most: Int? = least
    if take(",") { most = peek == "}" ? nil : try number() }
    guard take("}") else { throw error("a closing brace is missing") }
    if let most, most < least { throw error("the repetition's greatest number is below its least") }
    return .repeated(tree, least: least, most: most)
  }

  private mutating func number() throws(PatternError) -> Int {
    var value = 0
    var digits = 0
    while let scalar = peek, let digit = scalar.properties.numericValue, scalar.isASCII {
      value = value * 10 + Int(digit)
      digits += 1
      position += 1
      if value > Pattern.sizeLimit { throw error("a repetition may go up to \(Pattern.sizeLimit)") }
    }
    guard digits > 0 else { throw error("a number is missing") }
    return value
  }

  // MARK: Sets

  private mutating func bracket() throws(PatternError) -> ScalarSet {
    var set = ScalarSet()
    set.isNegated = take("^")
    var isFirst = true
    while true {
      let scalar = try next("a closing bracket is missing")
      if scalar == "]" && !isFirst { return set }
      isFirst = false
      try addElement(scalar, to: &set)
    }
  }

  private mutating func addElement(_ scalar: Unicode.Scalar, to set: inout ScalarSet) throws(PatternError) {
    var low = scalar
    if scalar == "\\" {
      let escaped = try escape()
      guard escaped.classes.isEmpty, let single = escaped.ranges.first else {
        set.classes += escaped.classes
        return
      }
      low = single.lowerBound
    }
    guard peek == "-", position + 1 < scalars.count, scalars[position + 1] != "]" else {
      set.ranges.append(low...low)
      return
    }
    position += 1
    var high = try next("a closing bracket is missing")
    if high == "\\" {
      guard let single = try escape().ranges.first else { throw error("a range needs a character at its end") }
      high = single.lowerBound
    }
    guard low <= high else { throw error("the range's end lies before its start") }
    set.ranges.append(low...high)
  }

  private mutating func escape() throws(PatternError) -> ScalarSet {
    let scalar = try next("a character is missing after the backslash")
    switch scalar {
    case "d", "D": return ScalarSet(classes: [(.digit, isNegated: scalar == "D")])
    case "w", "W": return ScalarSet(classes: [(.word, isNegated: scalar == "W")])
    case "s", "S": return ScalarSet(classes: [(.space, isNegated: scalar == "S")])
    case "p", "P": return ScalarSet(classes: [(.category(try category()), isNegated: scalar == "P")])
    case "n": return .only("\n")
    case "r": return .only("\r")
    case "t": return .only("\t")
    case "u": return .only(try codePoint())
    default:
      guard !scalar.properties.isAlphabetic, scalar.properties.numericType == nil else {
        position -= 1
        throw error("'\\\(scalar)' is not supported")
      }
      return .only(scalar)
    }
  }

  private mutating func category() throws(PatternError) -> String {
    guard take("{") else { throw error("a brace is missing, as in \\p{Lu}") }
    var name = ""
    while let scalar = peek, scalar != "}" {
      name.unicodeScalars.append(scalar)
      position += 1
    }
    guard take("}"), (1...2).contains(name.count), "LMNPSZC".contains(name.prefix(1)) else {
      throw error("only general categories such as L, Lu or Nd are supported")
    }
    return name
  }

  private mutating func codePoint() throws(PatternError) -> Unicode.Scalar {
    guard take("{") else { throw error("a brace is missing, as in \\u{1F600}") }
    var digits = ""
    while let scalar = peek, scalar != "}", digits.count < 7 {
      digits.unicodeScalars.append(scalar)
      position += 1
    }
    guard take("}"), let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else {
      throw error("this is no code point")
    }
    return scalar
  }
}

// MARK: - Scalar set

/// A set of Unicode scalars: ranges and classes, or the complement of those.
package struct ScalarSet: Sendable {
  package enum Class: Sendable {
    case digit, word, space
    /// A general category by its one-letter or two-letter name, as in `\p{Lu}`.
    case category(String)

    func contains(_ scalar: Unicode.Scalar) -> Bool {
      switch self {
      case .digit: scalar.properties.generalCategory == .decimalNumber
      case .word: scalar == "_" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
      case .space: scalar.properties.isWhitespace
      case .category(let name): scalar.properties.generalCategory.shortName.hasPrefix(name)
      }
    }
  }

  package internal(set) var ranges: [ClosedRange<Unicode.Scalar>] = []
  var classes: [(Class, isNegated: Bool)] = []
  var isNegated = false

  static let anyButNewline = ScalarSet(ranges: ["\n"..."\n"], isNegated: true)

  static func only(_ scalar: Unicode.Scalar) -> ScalarSet { ScalarSet(ranges: [scalar...scalar]) }

  package func contains(_ scalar: Unicode.Scalar) -> Bool {
    let isListed =
      ranges.contains { $0.contains(scalar) }
      || classes.contains { $0.0.contains(scalar) != $0.isNegated }
    return isListed != isNegated
  }

  /// As ``contains(_:)``, but a listed scalar also stands for its other case.
  func containsAnyCase(of scalar: Unicode.Scalar) -> Bool {
    let cases = [scalar, scalar.only(\.lowercaseMapping), scalar.only(\.uppercaseMapping)]
    let isListed =
      ranges.contains { range in cases.contains { range.contains($0) } }
      || classes.contains { $0.0.contains(scalar) != $0.isNegated }
    return isListed != isNegated
  }
}

extension Unicode.Scalar {
  /// The scalar's other case if that is a single scalar, otherwise the scalar itself.
  fileprivate func only(_ mapping: KeyPath<Unicode.Scalar.Properties, String>) -> Unicode.Scalar {
    let mapped = properties[keyPath: mapping].unicodeScalars
    return mapped.count == 1 ? mapped.first ?? self : self
  }
}

extension Unicode.GeneralCategory {
  /// The two-letter name of the category in the Unicode Standard, table 4-4.
  var shortName: String {
    switch self {
    case .uppercaseLetter: "Lu"
    case .lowercaseLetter: "Ll"
    case .titlecaseLetter: "Lt"
    case .modifierLetter: "Lm"
    case .otherLetter: "Lo"
    case .nonspacingMark: "Mn"
    case .spacingMark: "Mc"
    case .enclosingMark: "Me"
    case .decimalNumber: "Nd"
    case .letterNumber: "Nl"
    case .otherNumber: "No"
    case .connectorPunctuation: "Pc"
    case .dashPunctuation: "Pd"
    case .openPunctuation: "Ps"
    case .closePunctuation: "Pe"
    case .initialPunctuation: "Pi"
    case .finalPunctuation: "Pf"
    case .otherPunctuation: "Po"
    case .mathSymbol: "Sm"
    case .currencySymbol: "Sc"
    case .modifierSymbol: "Sk"
    case .otherSymbol: "So"
    case .spaceSeparator: "Zs"
    case .lineSeparator: "Zl"
    case .paragraphSeparator: "Zp"
    case .control: "Cc"
    case .format: "Cf"
    case .surrogate: "Cs"
    case .privateUse: "Co"
    case .unassigned: "Cn"
    @unknown default: "Cn"
    }
  }
}
