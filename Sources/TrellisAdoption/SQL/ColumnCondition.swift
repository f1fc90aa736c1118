import TrellisForeignFiles
/// What a condition of a table says of a single column.
enum ColumnCondition: Hashable {
  /// Values, by the collation of the condition if it has one, and otherwise by that of the column.
  case allowed(String, [ForeignValue], collation: String? = nil)
  /// A bound, and whether it is a value itself.
  case minimum(String, ForeignValue, isIncluded: Bool)
  case maximum(String, ForeignValue, isIncluded: Bool)
  case minimumLength(String, Int)
  case maximumLength(String, Int)
  case required(String)

  /// The column.
  var column: String {
    switch self {
    case .allowed(let column, _, _), .minimum(let column, _, _), .maximum(let column, _, _),
      .minimumLength(let column, _), .maximumLength(let column, _), .required(let column):
      column
    }
  }

  /// The parts of a condition.
  ///
  /// - Returns: nil if a part is about something else, so that the condition as a whole has no words here.
  static func all(of text: String, in table: SourceTable) -> [ColumnCondition]? {
    guard let expression = SQLExpression(text) else { return nil }
    return Reader(table: table).all(of: expression)
  }
}

private struct Reader {
  let table: SourceTable

  func all(of expression: SQLExpression) -> [ColumnCondition]? {
    switch expression {
    case .all(let members):
      let parts = members.compactMap(all)
      return parts.count == members.count ? parts.flatMap { $0 } : nil
    case .any(let members): return alternative(members)
    case .binary(let symbol, let left, let right): return comparison(symbol, left, right)
    case .not(.isNull(let operand)): return column(operand).map { [.required($0)] }
    case .among(let operand, let members):
      guard let column = column(operand), let values = literals(members) else { return nil }
      return [.allowed(column, values, collation: collation(operand))]
    default: return nil
    }
  }

  /// A condition that a null fulfils anyway, or values of one column.
  private func alternative(_ members: [SQLExpression]) -> [ColumnCondition]? {
    var columns: Set<String> = []
    var others: [[ColumnCondition]] = []
    for member in members {
      if case .isNull(let operand) = member {
        guard let column = column(operand) else { return nil }
        columns.insert(column)
      } else {
        guard let found = all(of: member), !found.isEmpty else { return nil }
        others.append(found)
        columns.formUnion(found.map(\.column))
      }
    }
    guard columns.count == 1, let column = columns.first else { return nil }
    if others.count <= 1 { return others.first ?? [] }
    var values: [ForeignValue] = []
    var collations: Set<String?> = []
    for other in others {
      guard other.count == 1, case .allowed(_, let more, let collation) = other[0] else { return nil }
      values += more
      collations.insert(collation)
    }
    guard collations.count == 1 else { return nil }
    return [.allowed(column, values, collation: collations.first ?? nil)]
  }

  private static let mirrored = ["=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="]

  private func comparison(
    _ symbol: String, _ left: SQLExpression, _ right: SQLExpression
  ) -> [ColumnCondition]? {
    if literal(left) != nil, literal(right) == nil, let mirrored = Self.mirrored[symbol] {
      return comparison(mirrored, right, left)
    }
    guard let value = literal(right) else { return nil }
    if case .call(let function, let arguments) = left, arguments.count == 1, let column = column(arguments[0]) {
      guard ["length", "char_length", "character_length"].contains(function), case .integer(let count) = value,
        let count = Int(exactly: count), (0...1_000_000_000).contains(count)
      else { return nil }
      return length(symbol, column, count)
    }
    guard let column = column(left) else { return nil }
    switch symbol {
    case "=": return [.allowed(column, [value], collation: collation(left))]
    case "<>" where value == .text(""): return [.minimumLength(column, 1)]
    case "<", "<=": return [.maximum(column, value, isIncluded: symbol == "<=")]
    case ">", ">=": return [.minimum(column, value, isIncluded: symbol == ">=")]
    default: return nil
    }
  }

  private func length(_ symbol: String, _ column: String, _ count: Int) -> [ColumnCondition]? {
    switch symbol {
    case "=": [.minimumLength(column, count), .maximumLength(column, count)]
    case "<=": [.maximumLength(column, count)]
    case "<": count > 0 ? [.maximumLength(column, count - 1)] : nil
    case ">=": [.minimumLength(column, count)]
    case ">": [.minimumLength(column, count + 1)]
    case "<>" where count == 0: [.minimumLength(column, 1)]
    default: nil
    }
  }

  private func collation(_ expression: SQLExpression) -> String? {
    if case .collated(_, let name) = expression { name } else { nil }
  }

  private func column(_ expression: SQLExpression) -> String? {
    if case .collated(let operand, _) = expression { return column(operand) }
    guard case .column(let name, _) = expression else { return nil }
    return table.columns.first { $0.name == name }?.name
      ?? table.columns.first { $0.name.lowercased() == name.lowercased() }?.name
  }

  /// A constant. In SQLite, a name in quotes that is no column is a text.
  private func literal(_ expression: SQLExpression) -> ForeignValue? {
    switch expression {
    case .literal(let value) where value != .null: value
    case .column(let text, isQuoted: true) where column(expression) == nil: .text(text)
    default: nil
    }
  }

  private func literals(_ members: [SQLExpression]) -> [ForeignValue]? {
    let values = members.filter { $0 != .literal(.null) }.compactMap(literal)
    return values.count == members.filter { $0 != .literal(.null) }.count && !values.isEmpty ? values : nil
  }
}
