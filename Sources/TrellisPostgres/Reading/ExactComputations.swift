import TrellisModel
import TrellisStorage

/// The computations whose results are the same on the server: those without rounding and without overflow, and with the
/// functions of the store all but a few.
extension ExactConditions {
  mutating func side(_ computation: Computation) throws(StoreError) -> Side? {
    switch computation {
    case .countWhere(let path, let variable, let condition):
      guard
        let (source, link, inner) = try members(
          of: path, variable,
          { self_ throws(StoreError) in
            try self_.condition(condition)
          })
      else { return nil }
      return .sql("(SELECT count(*) FROM \(source) WHERE \(link) AND \(inner))", .bigint, isOptional: false)
    case .function(let function, let operand): return try self.function(function, operand)
    case .aggregate(let function, let path, let variable, let operand, let kind):
      return try aggregate(function, path, variable, operand, kind)
    case .conditional(let condition, let first, let second):
      guard let test = try self.condition(condition), let one = try side(first), let other = try side(second),
        let type = one.column ?? other.column ?? one.constant ?? other.constant, let yes = sql(one, as: type),
        let no = sql(other, as: type)
      else { return nil }
      return .sql("CASE WHEN \(test) THEN \(yes) ELSE \(no) END", type, isOptional: true)
    case .date(let function, let operand): return try date(function, operand)
    case .stored(let path, let inner):
      if let column = try storedColumn(path) { return column }
      return try side(inner)
    case .arithmetic(let sign, let left, let right): return try arithmetic(sign, left, right)
    case .list(let function, let operands, let kind): return try list(function, operands, kind)
    case .member(let place, let path, let variable, let operand): return try member(place, path, variable, operand)
    }
  }

  // MARK: Derived values

  /// The column with the values of a stored derived attribute. Nil for an attribute without a column.
  private mutating func storedColumn(_ path: PropertyPath) throws(StoreError) -> Side? {
    guard let step = path.onlyStep, let entity = entities[Int(path.variable)],
      let attribute = property(step, of: entity)?.attribute,
      let (table, column) = features.derived.column(of: attribute)
    else { return nil }
    let row = try paths.joinRow(of: table, to: path)
    return .sql("\(row).\(column.name)", column.type, isOptional: true)
  }

  /// An expression as SQL; nil if the server does not compute it.
  mutating func expression(_ operand: Operand) throws(StoreError) -> (sql: String, type: ServerType)? {
    try attempt { self_ throws(StoreError) in
      guard case .sql(let sql, let type, _)? = try self_.side(operand) else { return nil }
      return (sql, type)
    }
  }

  // MARK: Constants

  /// A side as SQL of a type; nil if it has another one.
  private mutating func sql(_ side: Side, as type: ServerType) -> String? {
    switch side {
    case .value(.null): "NULL::\(type.name)"
    case .value(let value): parameters.add(value, as: type)
    case .sql(let sql, let found, _): found == type ? sql : nil
    }
  }

  // MARK: Members

  /// Translates what is said about each member of a to-many.
  ///
  /// - Returns: the FROM clause, the condition that ties the members to their owner, and the translation.
  mutating func members<Result>(
    of path: PropertyPath, _ variable: Int, _ body: (inout ExactConditions) throws(StoreError) -> Result?
  ) throws(StoreError) -> (source: String, link: String, Result)? {
    let link = try paths.enter(path, variable: variable)
    let outer = entities.updateValue(paths.innermost.entity, forKey: variable)
    let inner = try body(&self)
    entities[variable] = outer
    let source = try paths.leaveScope()
    return inner.map { (source, link, $0) }
  }

  private mutating func aggregate(
    _ function: AggregateFunction, _ path: PropertyPath, _ variable: Int, _ operand: Operand, _ kind: ValueKind
  ) throws(StoreError) -> Side? {
    guard
      let (source, link, value) = try members(
        of: path, variable,
        { self_ throws(StoreError) in
          try self_.aggregated(function, operand, kind)
        })
    else { return nil }
    // If the value belonged to an outer row only, the server would compute the aggregate over the outer rows.
    return result(of: function, value.type, "SELECT \(value.sql) AS v FROM \(source) WHERE \(link)")
  }

  private mutating func list(
    _ function: AggregateFunction, _ operands: [Operand], _ kind: ValueKind
  ) throws(StoreError) -> Side? {
    var values: [(sql: String, type: ServerType)] = []
    for operand in operands {
      guard let value = try aggregated(function, operand, kind), values.first.map({ $0.type == value.type }) ?? true
      else { return nil }
      values.append(value)
    }
    guard let type = values.first?.type else { return nil }
    return result(of: function, type, values.map { "SELECT \($0.sql) AS v" }.joined(separator: " UNION ALL "))
  }

  /// A value that an aggregate takes. Nil if the server's aggregate would not be exact.
  private mutating func aggregated(
    _ function: AggregateFunction, _ operand: Operand, _ kind: ValueKind
  ) throws(StoreError) -> (sql: String, type: ServerType)? {
    switch function {
    case .minimum, .maximum:
      guard case .sql(let sql, let type, _)? = try side(operand), type.kind == kind, type.hasExtremes else {
        return nil
      }
      return (sql, type)
    case .sum, .average:
      guard functions != nil, let number = try number(operand), number.type.kind == kind else { return nil }
      return number
    }
  }

  private func result(of function: AggregateFunction, _ type: ServerType, _ rows: String) -> Side? {
    switch function {
    case .minimum, .maximum:
      let name = function == .minimum ? "min" : "max"
      return .sql("(SELECT \(name)(a.v) FROM (\(rows)) AS a)", type, isOptional: true)
    case .sum, .average:
      guard let found = functions?.aggregate(function, "a.v", type) else { return nil }
      return .sql("(SELECT \(found.sql) FROM (\(rows)) AS a)", found.type, isOptional: true)
    }
  }

  private mutating func member(
    _ place: MemberPlace, _ path: PropertyPath, _ variable: Int, _ operand: Operand
  ) throws(StoreError) -> Side? {
    let ending = place == .last ? " DESC NULLS LAST" : " NULLS FIRST"
    guard
      let (source, link, found) = try members(
        of: path, variable,
        { self_ throws(StoreError) -> (String, ServerType, String)? in
          guard case .sql(let sql, let type, _)? = try self_.side(operand) else { return nil }
          let (_, key, position) = self_.paths.innermost
          return (sql, type, [position, key].compactMap { $0.map { $0 + ending } }.joined(separator: ", "))
        })
    else { return nil }
    let skipped = if case .at(let number) = place { number } else { 0 }
    // There is no member before the first.
    let window = skipped < 0 ? "LIMIT 0" : "LIMIT 1 OFFSET \(skipped)"
    return .sql(
      "(SELECT \(found.0) FROM \(source) WHERE \(link) ORDER BY \(found.2) \(window))", found.1, isOptional: true)
  }

  // MARK: Dates

  private mutating func date(_ function: DateFunction, _ operand: Operand) throws(StoreError) -> Side? {
    // Only the dates of attributes are among the bounds.
    guard let table = dates.tables[function], case .path = operand,
      case .sql(let sql, .timestamp, let isOptional)? = try side(operand)
    else { return nil }
    // The number of the last bound that is not after the date.
    let place = "width_bucket(\(Self.widened(sql, .timestamp)), \(parameters.add(table.starts)))"
    let isTotal = if case .start = function.result { !isOptional } else { false }
    return .sql("(\(parameters.add(table.values)))[\(place)]", .bigint, isOptional: !isTotal)
  }

  // MARK: Numbers

  /// A number as bigint, double precision or numeric. Nil for any other value, and for one that the server does not compute.
  private mutating func number(_ operand: Operand) throws(StoreError) -> (sql: String, type: ServerType)? {
    switch try side(operand) {
    case .value(.integer(let integer)): return ("\(parameters.add(integer))", .bigint)
    case .value(let value):
      let type: ServerType
      switch value {
      case .real(let real) where !real.isNaN: type = .double
      case .text(let text) where DecimalText.canonical(text) != nil: type = .numeric
      default: return nil
      }
      return parameters.add(value, as: type).map { ($0, type) }
    case .sql(let sql, let type, _):
      switch type {
      case .bigint, .double, .numeric: return (sql, type)
      case .smallint, .integer: return ("(\(sql))::bigint", .bigint)
      case .boolean, .timestamp: return (Self.widened(sql, type), .bigint)
      case .text, .bytes, .uuid: return nil
      }
    case nil: return nil
    }
  }

  private func real(_ number: (sql: String, type: ServerType), _ functions: ServerFunctions) -> String {
    switch number.type {
    case .bigint: "(\(number.sql))::double precision"
    case .numeric: functions.call("real_of_decimal", number.sql)
    default: number.sql
    }
  }

  private mutating func arithmetic(
    _ sign: ArithmeticOperator, _ left: Operand, _ right: Operand
  ) throws(StoreError) -> Side? {
    guard let functions else { return nil }
    if sign == .concatenate { return try concatenation(left, right) }
    guard let a = try number(left), let b = try number(right) else { return nil }
    let (kind, type): (String, ServerType)
    switch (a.type, b.type) {
    case (.bigint, .bigint): (kind, type) = ("integer", .bigint)
    case (.double, _), (_, .double): (kind, type) = ("real", .double)
    default: (kind, type) = ("decimal", .numeric)
    }
    let name: String
    switch sign {
    case .add: name = "add"
    case .subtract: name = "subtract"
    case .multiply: name = "multiply"
    case .divide: name = "divide"
    case .power where type != .double: name = "power"
    case .remainder where type != .double: name = "remainder"
    default: return nil
    }
    let (first, second) =
      switch type {
      case .double: (real(a, functions), real(b, functions))
      case .numeric: ("(\(a.sql))::numeric", "(\(b.sql))::numeric")
      default: (a.sql, b.sql)
      }
    return .sql(functions.call("\(kind)_\(name)", first, second), type, isOptional: true)
  }

  private mutating func concatenation(_ left: Operand, _ right: Operand) throws(StoreError) -> Side? {
    func text(_ side: Side?, _ parameters: inout ServerParameters) -> String? {
      switch side {
      case .value(let value): if case .text = value { parameters.add(value, as: .text) } else { nil }
      case .sql(let sql, .text, _): sql
      case .sql, nil: nil
      }
    }
    let (a, b) = (try side(left), try side(right))
    guard let first = text(a, &parameters), let second = text(b, &parameters) else { return nil }
    return .sql("((\(first) || \(second)) COLLATE \"C\")", .text, isOptional: true)
  }

  private mutating func function(_ function: ValueFunction, _ operand: Operand) throws(StoreError) -> Side? {
    if function == .length { return try length(operand) }
    guard let functions, let number = try number(operand) else { return nil }
    let sql = number.sql
    func answer(_ sql: String, _ type: ServerType) -> Side { .sql(sql, type, isOptional: true) }
    switch (function, number.type) {
    case (.absolute, .bigint): return answer(functions.call("integer_abs", sql), .bigint)
    case (.absolute, let type): return answer("abs(\(sql))", type)
    case (.negative, .bigint): return answer(functions.call("integer_negate", sql), .bigint)
    case (.negative, let type): return answer("(-(\(sql)))", type)
    case (.ceiling, .bigint), (.floor, .bigint), (.truncated, .bigint), (.rounded, .bigint): return answer(sql, .bigint)
    case (.ceiling, .double): return answer("ceil(\(sql))", .double)
    case (.floor, .double): return answer("floor(\(sql))", .double)
    case (.truncated, .double): return answer("trunc(\(sql))", .double)
    case (.ceiling, _): return answer(functions.call("decimal_ceiling", sql), .numeric)
    case (.floor, _): return answer(functions.call("decimal_floor", sql), .numeric)
    case (.truncated, _): return answer(functions.call("decimal_truncate", sql), .numeric)
    case (.rounded, .numeric): return answer(functions.call("decimal_round", sql), .numeric)
    case (.decimal, .double): return answer(functions.call("decimal_of_real", sql), .numeric)
    case (.decimal, _): return answer("(\(sql))::numeric", .numeric)
    case (.real, _): return answer(real(number, functions), .double)
    default: return nil
    }
  }

  private mutating func length(_ operand: Operand) throws(StoreError) -> Side? {
    guard case .sql(let sql, let type, let isOptional)? = try side(operand) else { return nil }
    switch type {
    case .text: return .sql("char_length(\(sql))::bigint", .bigint, isOptional: isOptional)
    case .bytes: return .sql("octet_length(\(sql))::bigint", .bigint, isOptional: isOptional)
    default: return nil
    }
  }
}

extension ExactConditions.Side {
  /// The type of an expression.
  fileprivate var column: ServerType? { if case .sql(_, let type, _) = self { type } else { nil } }

  /// The type of a constant; nil for one that fits any type.
  fileprivate var constant: ServerType? {
    switch self {
    case .value(.integer): .bigint
    case .value(.real): .double
    case .value(.text): .text
    case .value(.blob): .bytes
    default: nil
    }
  }
}
