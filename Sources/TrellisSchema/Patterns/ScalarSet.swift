/// A set of Unicode scalars: ranges and classes, or the complement of those.
struct ScalarSet: Sendable {
  enum Class: Sendable {
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

  var ranges: [ClosedRange<Unicode.Scalar>] = []
  var classes: [(Class, isNegated: Bool)] = []
  var isNegated = false

  static let anyButNewline = ScalarSet(ranges: ["\n"..."\n"], isNegated: true)

  static func only(_ scalar: Unicode.Scalar) -> ScalarSet { ScalarSet(ranges: [scalar...scalar]) }

  func contains(_ scalar: Unicode.Scalar) -> Bool {
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
