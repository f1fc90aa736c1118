import TrellisQuery
import TrellisSchema
import TrellisStorage

extension PredicateTranslator {
  mutating func quantified(
    _ quantifier: Quantifier, _ path: PropertyPath, _ variable: Int, _ condition: QueryPredicate
  ) throws(StoreError) -> String {
    let (owner, relationship) = try toMany(path)
    let link = try enter(relationship, owner: owner, variable: variable)
    let inner = try self.conjuncts(quantifier == .all ? .not(condition) : condition)
    guard let scope = scopes.popLast() else { throw Self.unknown("variable") }
    let terms = ([link] + inner).joined(separator: " AND ")
    let exists = "EXISTS (SELECT 1 FROM \(scope.source) WHERE \(terms))"
    return quantifier == .any ? exists : "NOT \(exists)"
  }

  mutating func count(_ path: PropertyPath) throws(StoreError) -> String {
    let (owner, relationship) = try toMany(path)
    let link = try enter(relationship, owner: owner, variable: -1)
    guard let scope = scopes.popLast() else { throw Self.unknown("variable") }
    return "(SELECT count(*) FROM \(scope.source) WHERE \(link))"
  }

  /// Opens a scope for the members of a to-many.
  ///
  /// - Returns: the condition that ties the members to their owner.
  mutating func enter(
    _ relationship: Relationship, owner: String, variable: Int
  ) throws(StoreError) -> String {
    let table = layout.tables[relationship.destination]
    switch relationship.home {
    case .inverseColumn:
      guard let number = layout.model.inverse(of: relationship)?.column,
        let column = layout.column(number, of: relationship.destination)
      else { throw Self.unknown("to-many") }
      var scope = TranslationScope(variable: variable, table: table, alias: nextAlias())
      if case .column(_, let order?)? = layout.model.inverse(of: relationship)?.home {
        scope.place = layout.column(order, of: relationship.destination).map { "\(scope.alias).\($0)" }
      }
      scopes.append(scope)
      return "\(scope.alias).\(column) = \(owner)"
    case .joinTable(let number, let isFirst):
      let join = layout.model.joinTables[number]
      let mine = SQLName.quoted(isFirst ? join.first.column : join.partnerColumn)
      let theirs = SQLName.quoted(isFirst ? join.partnerColumn : join.first.column)
      let pairs = nextAlias()
      // With the delete rule `noAction`, a join table row may refer to a deleted row, which is no member.
      let needsRow = layout.model.inverse(of: relationship)?.deleteRule == .noAction
      var scope = TranslationScope(
        variable: variable, table: table, alias: nextAlias(), pairs: "\(SQLName.quoted(join.name)) AS \(pairs)",
        key: "\(pairs).\(theirs)", needsRow: needsRow)
      let order = isFirst ? join.first.orderColumn : join.second?.orderColumn
      scope.place = order.map { "\(pairs).\(SQLName.quoted($0))" }
      scopes.append(scope)
      return "\(pairs).\(mine) = \(owner)"
    case .column, .transient: throw Self.unknown("stored to-many")
    }
  }
}
