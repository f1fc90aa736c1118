/// A node of a parsed format. Names are not resolved yet.
struct FormatNode {
  indirect enum Content {
    case constant(Bool)
    case not(FormatNode)
    case and([FormatNode])
    case or([FormatNode])
    case comparison(FormatComparison)
    /// `ANY(path, $variable, condition)`.
    case quantified(Quantifier, FormatNode, variable: String, FormatNode)
    case path(FormatPath)
    case null
    case bool(Bool)
    /// The digits as written, without underscores. Hexadecimal, octal and binary numbers are converted to decimal.
    case number(String)
    case text(String)
    case list([FormatNode])
    /// An argument, with its number.
    case argument(FormatArgument, Int)
    case arithmetic(ArithmeticOperator, FormatNode, FormatNode)
    case negative(FormatNode)
    case call(String, [FormatNode])
    /// `SUBQUERY(path, $variable, condition).@count`.
    case subquery(FormatNode, variable: String, FormatNode)
  }

  let content: Content
  /// The offset of the node, in bytes of UTF-8.
  let start: Int
}

struct FormatComparison {
  enum Relation: Equatable {
    case compare(ComparisonOperator)
    case between
    case isIn
  }

  let quantifier: Quantifier?
  let left: FormatNode
  let relation: Relation
  let options: TextOptions
  let right: FormatNode
}

/// A dotted path of names.
struct FormatPath {
  struct Step {
    let name: String
    /// Whether the name has a leading `@`.
    let isOperator: Bool
    let start: Int
    /// The member to select from the previous step. The step then has no name.
    var place: MemberPlace?
  }

  /// The variable that the path starts with; nil for the object itself.
  let variable: String?
  var steps: [Step]
}
