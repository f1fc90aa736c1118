import TrellisQuery
import TrellisSchema
import TrellisStorage

/// Values that are made of others. SQLite calls the same functions that evaluation in memory does, so that overflow,
/// division and rounding are the same.
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
    }
  }

  private mutating func aggregate(
    _ function: AggregateFunction, _ path: PropertyPath, _ variable: Int, _ operand: Operand, _ kind: ValueKind
  ) throws(StoreError) -> String {
    let (owner, relationship) = try toMany(path)
    let link = try enter(relationship, owner: owner, variable: variable)
    let value = try plain(operand)
    let order = kind == .decimal ? Self.decimalOrder : ""
    let result =
      switch function {
      case .sum: "trellis_sum_\(kind.numberName)(v)"
      case .average: "trellis_average_\(kind.numberName)(v)"
      case .minimum: "min(v\(order))"
      case .maximum: "max(v\(order))"
      }
    // A value of an outer object alone would make SQLite take the aggregate for one over the outer rows.
    return "(SELECT \(result) FROM (SELECT \(value) AS v FROM \(try leaveScope()) WHERE \(link)))"
  }

  /// An operand whose text nothing prepares.
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
