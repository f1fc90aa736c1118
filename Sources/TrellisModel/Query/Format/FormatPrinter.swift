extension QueryPredicate {
  /// The predicate as a format that parses to the same tree. An `and` or `or` with fewer than two terms parses to its
  /// meaning.
  ///
  /// - Parameter entity: the number of the entity that the predicate is for.
  /// - Parameter model: The model of the entity.
  /// - Throws: ``EvaluationError`` if the predicate is nested too deep.
  /// - Complexity: linear in the number of nodes and values.
  public func formatText(of entity: Int, in model: Model) throws(EvaluationError) -> String {
    try checkDepth()
    var printer = FormatPrinter(model, entity)
    printer.print(self)
    return printer.text
  }
}

extension Operand {
  /// The value of an expression that a model has, as a format.
  func formatText(of entity: Int, in model: Model) -> String {
    var printer = FormatPrinter(model, entity)
    printer.print(self, as: .integer)
    return printer.text
  }
}

/// Prints a predicate that passed the depth check.
struct FormatPrinter {
  let model: Model
  private(set) var text = ""
  /// The entities of the variables in scope, and the text of each variable.
  var scopes: [(variable: Int, entity: Int, text: String)]

  init(_ model: Model, _ entity: Int) {
    self.model = model
    scopes = [(0, entity, "")]
  }

  // MARK: Conditions

  mutating func print(_ predicate: QueryPredicate) {
    switch predicate {
    case .constant(let value): text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .not(let inner):
      text += "NOT "
      printTerm(inner)
    case .and(let terms): print(terms, " AND ", none: "TRUEPREDICATE")
    case .or(let terms): print(terms, " OR ", none: "FALSEPREDICATE")
    case .comparison(let comparison): print(comparison)
    case .isIn(let operand, let values, let kind): print(operand, values, kind)
    case .quantified(let quantifier, let path, let variable, let condition):
      text += ["ANY(", "ALL(", "NONE("][quantifier == .any ? 0 : quantifier == .all ? 1 : 2]
      print(path)
      within(path, variable) { printer in printer.print(condition) }
    }
  }

  private mutating func printTerm(_ predicate: QueryPredicate) {
    text += "("
    print(predicate)
    text += ")"
  }

  private mutating func print(_ terms: [QueryPredicate], _ separator: String, none: String) {
    if terms.isEmpty { text += none }
    for (place, term) in terms.enumerated() {
      if place > 0 { text += separator }
      switch term {
      case .and, .or, .not: printTerm(term)
      default: print(term)
      }
    }
  }

  /// Prints `, $v1, …)` with the variable bound inside.
  private mutating func within(_ path: PropertyPath, _ variable: Int, _ body: (inout FormatPrinter) -> Void) {
    text += ", $v\(variable), "
    scopes.append((variable, relationship(path)?.destination ?? -1, "$v\(variable)"))
    body(&self)
    scopes.removeLast()
    text += ")"
  }

  private mutating func print(_ comparison: Comparison) {
    let type = self.type(comparison.left) ?? self.type(comparison.right) ?? FormatType(comparison.kind)
    print(comparison.left, as: comparison.left.isConstant && comparison.right.isConstant ? Self.alone(type) : type)
    text += " \(comparison.relation.spelling.word)"
    let letters: [(TextOptions, String)] = [(.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n")]
    let options = letters.filter { comparison.options.contains($0.0) }.map(\.1).joined()
    text += options.isEmpty ? " " : "[\(options)] "
    print(comparison.right, as: type)
  }

  private mutating func print(_ operand: Operand, _ values: [StoredValue], _ kind: ValueKind) {
    let type = self.type(operand) ?? FormatType(kind)
    print(operand, as: Self.alone(type))
    text += " IN {"
    for (place, value) in values.enumerated() {
      if place > 0 { text += ", " }
      text += FormatValueText.text(value, type)
    }
    text += "}"
  }

  // MARK: Values

  /// The type in which to print a constant if the other side does not determine it. A decimal is printed with a cast.
  private static func alone(_ type: FormatType) -> FormatType { type == .decimal ? .integer : type }

  /// - Parameter type: the type of a constant, as determined by the other side.
  fileprivate mutating func print(_ operand: Operand, as type: FormatType) {
    switch operand {
    case .value(let value): text += FormatValueText.text(value, type)
    case .path(let path): print(path)
    case .count(let path):
      print(path)
      text += ".@count"
    case .entity(let path):
      print(path)
      text += ".entity"
    case .now: text += "now()"
    case .parameter(let number): text += "$p\(number)"
    case .computed(let computation): print(computation, as: type)
    }
  }

  private mutating func print(_ computation: Computation, as given: FormatType) {
    switch computation {
    case .arithmetic(let sign, let left, let right): print(left, sign, right)
    case .function(let function, let operand): print(function, operand)
    case .date(let function, let operand):
      text += function.result.name + "("
      print(operand, as: .date)
      text += FormatDateFunctions.calendar(function) + ")"
    case .aggregate(let function, let path, let variable, let operand, let kind):
      text += Self.name(function)
      text += "("
      print(path)
      within(path, variable) { printer in printer.print(operand, as: Self.alone(FormatType(kind))) }
    case .countWhere(let path, let variable, let condition):
      text += "SUBQUERY("
      print(path)
      within(path, variable) { printer in printer.print(condition) }
      text += ".@count"
    case .member(let place, let path, let variable, let operand):
      let word =
        switch place {
        case .first: "FIRST"
        case .last: "LAST"
        case .at(let number): String(number)
        }
      scopes.append((variable, relationship(path)?.destination ?? -1, "\(text(path))[\(word)]"))
      print(operand, as: given)
      scopes.removeLast()
    case .conditional(let condition, let first, let second):
      let type = self.type(.computed(computation)).map { $0 } ?? Self.alone(given)
      text += "TERNARY("
      print(condition)
      for (value, other) in [(first, second), (second, first)] {
        text += ", "
        // A decimal needs no cast if the other side is a decimal.
        print(value, as: self.type(other) == .decimal ? .decimal : Self.alone(type))
      }
      text += ")"
    case .list(let function, let operands, _):
      let type = self.type(.computed(computation)) ?? .integer
      text += Self.name(function)
      text += "({"
      for (place, operand) in operands.enumerated() {
        if place > 0 { text += ", " }
        print(operand, as: Self.alone(type))
      }
      text += "})"
    case .stored(let path, _): print(path)
    }
  }

  private static func name(_ function: AggregateFunction) -> String {
    switch function {
    case .sum: "sum"
    case .average: "average"
    case .minimum: "min"
    case .maximum: "max"
    }
  }

  private mutating func print(_ left: Operand, _ sign: ArithmeticOperator, _ right: Operand) {
    let common = type(.computed(.arithmetic(sign, left, right))) ?? .integer
    text += sign == .remainder ? "modulus:by:(" : "("
    // A decimal needs no cast if the other side is a decimal.
    print(left, as: type(right) == .decimal ? .decimal : Self.alone(common))
    switch sign {
    case .add, .concatenate: text += " + "
    case .subtract: text += " - "
    case .multiply: text += " * "
    case .divide: text += " / "
    case .power: text += " ** "
    case .remainder: text += ", "
    case .bitAnd: text += " & "
    case .bitOr: text += " | "
    case .bitXor: text += " ^ "
    case .shiftLeft: text += " << "
    case .shiftRight: text += " >> "
    }
    if common == .date, case .computed(.function(.microseconds, let seconds)) = right {
      // Seconds added to a date.
      print(seconds, as: .integer)
    } else if common == .date, type(right)?.isNumber == true {
      // Microseconds added to a date. The format has no words for them; what is read would be seconds.
      text += "CAST("
      print(right, as: .integer)
      text += ", 'NSDate')"
    } else {
      print(right, as: type(left) == .decimal ? .decimal : Self.alone(common))
    }
    text += ")"
  }

  private mutating func print(_ function: ValueFunction, _ operand: Operand) {
    let type = self.type(operand) ?? .integer
    let (before, after) =
      switch function {
      case .lowercase: ("lowercase(", ")")
      case .uppercase: ("uppercase(", ")")
      case .length: ("length(", ")")
      case .absolute: ("abs(", ")")
      case .negative: ("-(", ")")
      case .ceiling: ("ceiling(", ")")
      case .floor: ("floor(", ")")
      case .truncated: ("trunc(", ")")
      case .rounded: ("round(", ")")
      case .decimal: ("CAST(", ", 'Decimal')")
      case .real: ("CAST(", ", 'Double')")
      // Occurs only after a date and a sign, where it is not printed.
      case .microseconds: ("(", ")")
      case .squareRoot: ("sqrt(", ")")
      case .naturalLogarithm: ("ln(", ")")
      case .logarithm: ("log(", ")")
      case .exponential: ("exp(", ")")
      case .complement: ("~(", ")")
      case .text: ("CAST(", ", 'NSString')")
      case .seconds: ("CAST(", ", 'NSNumber')")
      }
    text += before
    print(operand, as: function == .lowercase || function == .uppercase || function == .length ? .text : type)
    text += after
  }

  private mutating func print(_ path: PropertyPath) { text += text(path) }

  private func text(_ path: PropertyPath) -> String {
    let scope = scopes.last { $0.variable == Int(path.variable) }
    var words = path.variable == 0 ? [] : [scope?.text ?? "$v\(path.variable)"]
    var entity = scope?.entity
    for step in path.steps {
      let property = property(step, of: entity)
      let name = property?.name ?? "?"
      words.append(words.isEmpty && FormatKeywords.all.contains(name.lowercased()) ? "#\(name)" : name)
      entity = property?.relationship?.destination
    }
    return words.isEmpty ? "SELF" : words.joined(separator: ".")
  }
}

// MARK: - Types

/// The types of operands, so that constants on the other side are printed accordingly.
extension FormatPrinter {
  func property(_ number: Int, of entity: Int?) -> Property? {
    guard let entity, model.entities.indices.contains(entity) else { return nil }
    let properties = model.entities[entity].properties
    return properties.indices.contains(number) ? properties[number] : nil
  }

  func relationship(_ path: PropertyPath) -> Relationship? { last(path)?.relationship }

  func last(_ path: PropertyPath) -> Property? {
    var entity = scopes.last { $0.variable == Int(path.variable) }?.entity
    var last: Property?
    for step in path.steps {
      last = property(step, of: entity)
      entity = last?.relationship?.destination
    }
    return last
  }

  /// The type of an operand; nil for a constant.
  func type(_ operand: Operand) -> FormatType? {
    switch operand {
    case .value, .parameter: nil
    case .count: .integer
    case .entity: .entity
    case .now: .date
    case .path(let path): last(path)?.attribute.map { FormatType($0) } ?? .object(nil)
    case .computed(.countWhere): .integer
    case .computed(.aggregate(let function, let path, let variable, let operand, let kind)):
      function == .average && kind == .integer ? .real : type(operand, of: variable, path) ?? FormatType(kind)
    case .computed(.function(let function, let operand)): type(function, operand)
    case .computed(.date(let function, _)): FormatDateFunctions.type(function)
    case .computed(.member(_, let path, let variable, let operand)): type(operand, of: variable, path)
    case .computed(.conditional(_, let first, let second)): type(ofEither: [first, second])
    case .computed(.list(let function, let operands, let kind)):
      function == .average && kind == .integer
        ? .real : operands.lazy.compactMap { type($0) }.first { $0.kind == kind } ?? FormatType(kind)
    case .computed(.stored(_, let operand)): type(operand)
    case .computed(.arithmetic(.concatenate, _, _)): .text
    case .computed(.arithmetic(_, let left, let right)): type(left, right)
    }
  }

  /// The type of an operand in which a variable stands for the members of a to-many relationship.
  func type(_ operand: Operand, of variable: Int, _ path: PropertyPath) -> FormatType? {
    var inside = self
    inside.scopes.append((variable, relationship(path)?.destination ?? -1, ""))
    return inside.type(operand)
  }

  func type(_ function: ValueFunction, _ operand: Operand) -> FormatType? {
    switch function {
    case .lowercase, .uppercase: .text
    case .length: .integer
    case .decimal: .decimal
    case .real, .squareRoot, .naturalLogarithm, .logarithm, .exponential, .seconds: .real
    case .complement: .integer
    case .text: .text
    case .absolute, .negative, .ceiling, .floor, .truncated, .rounded, .microseconds: constantType(operand)
    }
  }

  func type(_ left: Operand, _ right: Operand) -> FormatType? {
    // Seconds are added to dates only, including constant dates.
    if case .computed(.function(.microseconds, _)) = right { return .date }
    let types = [constantType(left), constantType(right)]
    return [.date, .real, .decimal].first { types.contains($0) } ?? .integer
  }

  /// The common type of alternatives; nil if all are constants.
  private func type(ofEither operands: [Operand]) -> FormatType? {
    let known = operands.compactMap { type($0) }
    guard let first = known.first, first.isNumber else { return known.first }
    let types = known + operands.map { if case .value(.real) = $0 { .real } else { first } }
    return [.real, .decimal].first { types.contains($0) } ?? first
  }

  /// The type of an operand. For a constant it follows from the value, with a text as a decimal.
  private func constantType(_ operand: Operand) -> FormatType? {
    guard case .value(let value) = operand else { return type(operand) }
    return switch value {
    case .real: .real
    case .text: .decimal
    default: .integer
    }
  }
}

// MARK: - Format value text

/// The keywords. A property with such a name is written with `#`.
enum FormatKeywords {
  static let all: Set<String> = Set(searches.map { $0.spelling.word.lowercased() }).union([
    "and", "or", "not", "any", "some", "all", "none", "in", "between", "null", "nil", "true", "false", "yes", "no",
    "truepredicate", "falsepredicate", "self",
  ])

  /// The operators that are words.
  static let searches = ComparisonOperator.allCases.filter(\.isSearch)
}

/// Constants in format notation.
enum FormatValueText {
  static func text(_ value: StoredValue, _ type: FormatType) -> String {
    switch (value, type) {
    case (.null, _): "NIL"
    case (.real(let real), _): text(real)
    case (.integer(0), .bool): "FALSE"
    case (.integer(1), .bool): "TRUE"
    case (.integer(let micros), .date): "CAST(\(QuotedText.text(DateText.text(micros))), 'NSDate')"
    case (.integer(let key), .object): "CAST(\(key), 'ObjectID')"
    case (.integer(let integer), _): String(integer)
    case (.text(let digits), .decimal): DecimalNumber(digits).map(\.text) ?? QuotedText.text(digits)
    case (.text(let digits), .integer), (.text(let digits), .real):
      "CAST(\(DecimalNumber(digits).map(\.text) ?? QuotedText.text(digits)), 'Decimal')"
    case (.text(let text), _): QuotedText.text(text)
    case (.blob(let bytes), .uuid) where bytes.count == 16: QuotedText.text(UUIDText.text(bytes))
    case (.blob(let bytes), _): "CAST(\(QuotedText.text(Base64Text.text(bytes))), 'NSData')"
    // The format has no notation for a file, so this prints its reference.
    case (.file(let file), _): QuotedText.text(file.reference)
    }
  }

  /// A number that exceeds all reals parses as an infinity.
  private static func text(_ real: Double) -> String {
    if real.isNaN { return "NIL" }
    return real.isInfinite ? (real < 0 ? "-1e999" : "1e999") : real.description
  }
}

extension FormatType {
  /// The type of values of a kind if nothing else determines it.
  package init(_ kind: ValueKind) {
    self =
      switch kind {
      case .integer: .integer
      case .real: .real
      case .decimal: .decimal
      case .text: .text
      case .blob: .data
      }
  }
}
