import TrellisSchema

/// `TERNARY`, and aggregates of lists.
extension FormatChecker {
  /// `TERNARY(condition, value, value)`.
  mutating func ternary(_ arguments: [FormatNode], _ start: Int) throws(PredicateFormatError) -> FormatSide {
    guard arguments.count == 3 else {
      throw error(
        .wrongArgument, "TERNARY takes a condition and two values, as in TERNARY(stars > 3, 'good', 'bad').", at: start)
    }
    let condition = try self.condition(arguments[0])
    let sides = (try side(arguments[1]), try side(arguments[2]))
    let (first, second, type) = try unified(sides.0, sides.1, at: (arguments[1].start, arguments[2].start))
    // For data stored externally, an SQLite store only has the references.
    if type == .data { throw error(.unsupported, "TERNARY does not choose between data.", at: start) }
    return .typed(.computed(.conditional(condition, first, second)), type)
  }

  /// The maximum number of values of a function, because each becomes part of a store's statement.
  private static let listLimit = 100

  /// `max({stars, 3})` and similar calls.
  mutating func ofList(
    _ name: String, _ list: [PlacedSide], at start: Int
  ) throws(PredicateFormatError) -> FormatSide {
    guard let function = Self.aggregates[name] else { return .typed(.value(.integer(Int64(list.count))), .integer) }
    guard list.count <= Self.listLimit else {
      throw error(
        .tooLong, "The list has more than \(Self.listLimit) values; compute the result before, and bind it.", at: start)
    }
    var values: [(operand: Operand, type: FormatType, start: Int)] = []
    for element in list {
      if element.side.isNull { continue }
      let (operand, type) = try typed(element.side, at: element.start)
      values.append((operand, type, element.start))
    }
    let type = try common(values, function)
    let operands = values.map { value in
      switch (value.type, type) {
      case (.integer, .decimal): Self.converted(value.operand, .decimal)
      case (.decimal, .real): Self.converted(value.operand, .real)
      default: value.operand
      }
    }
    let isMean = function == .average && type == .integer
    return .typed(.computed(.list(function, operands, type.kind)), isMean ? .real : type)
  }

  private func common(
    _ values: [(operand: Operand, type: FormatType, start: Int)], _ function: AggregateFunction
  ) throws(PredicateFormatError) -> FormatType {
    var common = values.first?.type ?? .integer
    for (_, type, start) in values {
      if type.isNumber && common.isNumber {
        common = Self.wider(common, type)
      } else if type != common || (type != .text && type != .date) || function == .sum || function == .average {
        throw error(
          .typeMismatch, "This is \(type.name); the values of a list are numbers, or for min and max texts or dates.",
          at: start)
      }
    }
    return common
  }

  private static func converted(_ operand: Operand, _ function: ValueFunction) -> Operand {
    if case .value(let value) = operand { return .value(ValueArithmetic.apply(function, value)) }
    return .computed(.function(function, operand))
  }
}
