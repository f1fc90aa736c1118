/// A part of a format, as it is written: names are names still.
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
    /// The digits as written, without underscores; hexadecimal and such as decimal.
    case number(String)
    case text(String)
    case list([FormatNode])
    /// With its number among the arguments.
    case argument(FormatArgument, Int)
    case arithmetic(ArithmeticOperator, FormatNode, FormatNode)
    case negative(FormatNode)
    case call(String, [FormatNode])
    /// `SUBQUERY(path, $variable, condition).@count`.
    case subquery(FormatNode, variable: String, FormatNode)
  }

  let content: Content
  /// Where it begins, in bytes of UTF-8.
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

/// Names with points between them.
struct FormatPath {
  struct Step {
    let name: String
    /// Whether it began with `@`.
    let isOperator: Bool
    let start: Int
    /// Which of the members that the step before leads to; there is no name then.
    var place: MemberPlace?
  }

  /// The variable that the path begins with; nil for the object itself.
  let variable: String?
  var steps: [Step]
}
