import TrellisQuery
import TrellisSchema
import TrellisStorage

/// Computed values. SQLite calls the same functions as evaluation in memory, so that overflow, division and rounding
/// are the same.
extension PredicateTranslator {
  mutating func computation(_ computation: Computation) throws(StoreError) -> String {
    switch computation {
    case .arithmetic(let sign, let left, let right):
      return "trellis_compute(\(sign.word), \(try plain(left)), \(try plain(right)))"
    case .function(.length, let operand):
      let content = try self.operand(operand).content
      if case .column(let column) = content, column.isExternal { return Self.externalLength(column.sql) }
      return "trellis_apply(\(ValueFunction.length.word), \(plain(content)))"
    case .function(let function, let operand): return "trellis_apply(\(function.word), \(try plain(operand)))"
    case .aggregate(let function, let path, let variable, let operand, let kind):
      return try aggregate(function, path, variable, operand, kind)
    case .countWhere(let path, let variable, let condition):
      let (owner, relationship) = try toMany(path)
      let link = try enter(relationship, owner: owner, variable: variable)
      let terms = try [link] + conjuncts(condition)
      return "(SELECT count(*) FROM \(try leaveScope()) WHERE \(terms.joined(separator: " AND ")))"
    case .member(let place, let path, let variable, let operand): return try member(place, path, variable, operand)
    case .conditional(let condition, let first, let second):
      let choice = "CASE WHEN \(try self.condition(condition)) THEN \(try plain(first)) ELSE \(try plain(second)) END"
      // SQLite compares an expression by a collation that is named anywhere inside it, unless a subquery lies between.
      return choice.contains(Self.decimalOrder) ? "(SELECT \(choice))" : choice
    case .list(let function, let operands, let kind):
      var values: [String] = []
      for operand in operands { values.append("SELECT \(try plain(operand)) AS v") }
      let rows = values.isEmpty ? "SELECT NULL AS v WHERE 0" : values.joined(separator: " UNION ALL ")
      return "(SELECT \(Self.aggregate(function, kind)) FROM (\(rows)))"
    }
  }

  private mutating func member(
    _ place: MemberPlace, _ path: PropertyPath, _ variable: Int, _ operand: Operand
  ) throws(StoreError) -> String {
    let (owner, relationship) = try toMany(path)
    let link = try enter(relationship, owner: owner, variable: variable)
    let value = try plain(operand)
    guard let scope = scopes.last else { throw Self.unknown("variable") }
    let direction = place == .last ? " DESC" : ""
    let order = [scope.place, scope.key].compactMap { $0.map { $0 + direction } }.joined(separator: ", ")
    let skipped: Int
    if case .at(let number) = place { skipped = number } else { skipped = 0 }
    // There is no member before the first.
    let window = skipped < 0 ? "LIMIT 0" : "LIMIT 1 OFFSET \(skipped)"
    return "(SELECT \(value) FROM \(try leaveScope()) WHERE \(link) ORDER BY \(order) \(window))"
  }

  private static func aggregate(_ function: AggregateFunction, _ kind: ValueKind) -> String {
    let order = kind == .decimal ? decimalOrder : ""
    return switch function {
    case .sum: "trellis_sum_\(kind.numberName)(v)"
    case .average: "trellis_average_\(kind.numberName)(v)"
    case .minimum: "min(v\(order))"
    case .maximum: "max(v\(order))"
    }
  }

  private mutating func aggregate(
    _ function: AggregateFunction, _ path: PropertyPath, _ variable: Int, _ operand: Operand, _ kind: ValueKind
  ) throws(StoreError) -> String {
    let (owner, relationship) = try toMany(path)
    let link = try enter(relationship, owner: owner, variable: variable)
    let value = try plain(operand)
    let result = Self.aggregate(function, kind)
    // If the value belonged to an outer row only, SQLite would compute the aggregate over the outer rows.
    return "(SELECT \(result) FROM (SELECT \(value) AS v FROM \(try leaveScope()) WHERE \(link)))"
  }

  /// The SQL of an operand, without folding or canonical form.
  mutating func plain(_ operand: Operand) throws(StoreError) -> String {
    plain(try self.operand(operand).content)
  }

  private mutating func plain(_ content: TranslatedOperand.Content) -> String {
    switch content {
    case .value(let number, _): parameter(number, .plain)
    case .column(let column): column.sql
    }
  }

  private mutating func leaveScope() throws(StoreError) -> String {
    guard let scope = scopes.popLast() else { throw Self.unknown("variable") }
    return scope.source
  }
}
