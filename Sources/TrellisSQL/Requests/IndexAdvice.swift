import TrellisQuery
package import TrellisSchema
package import TrellisStorage

/// Finds the index that a request could use: first the properties with equality, then the sort keys, or else one range.
package struct IndexAdvice {
  private let entity: Entity

  package init(_ entity: Entity) { self.entity = entity }

  /// The index that would help a request. Nil if the model has it, or if no index would help, because the request has
  /// no equality, range, prefix or sort key on the object's own row.
  package func index(for request: StoreRequest) -> QueryPlan.MissingIndex? {
    let terms = request.predicate.map(Self.terms) ?? []
    var properties: [String] = []
    for term in terms {
      if let name = name(of: Self.equality(term)), !properties.contains(name) { properties.append(name) }
    }
    let equal = properties.count
    let order = names(of: request.sort)
    if !order.isEmpty {
      properties += order.filter { name in !properties.contains { name == $0 || name == "-\($0)" } }
    } else if let range = terms.lazy.compactMap({ name(of: Self.range($0)) }).first, !properties.contains(range) {
      properties.append(range)
    }
    guard !properties.isEmpty, !isDeclared(properties, equal: equal) else { return nil }
    return QueryPlan.MissingIndex(entity: entity.name, properties: properties)
  }

  /// The terms of a conjunction.
  private static func terms(_ predicate: QueryPredicate) -> [QueryPredicate] {
    guard case .and(let terms) = predicate else { return [predicate] }
    return terms.flatMap(Self.terms)
  }

  private static func equality(_ term: QueryPredicate) -> PropertyPath? {
    switch term {
    case .comparison(let comparison)
    where comparison.relation == .equal && comparison.options.isEmpty && comparison.kind != .decimal:
      path(comparison)
    case .isIn(.path(let path), _, let kind) where kind != .decimal: path
    default: nil
    }
  }

  private static func range(_ term: QueryPredicate) -> PropertyPath? {
    guard case .comparison(let comparison) = term, comparison.options.isEmpty, comparison.kind != .decimal else {
      return nil
    }
    switch comparison.relation {
    case .less, .lessOrEqual, .greater, .greaterOrEqual, .hasPrefix: return path(comparison)
    default: return nil
    }
  }

  private static func path(_ comparison: Comparison) -> PropertyPath? {
    switch (comparison.left, comparison.right) {
    case (.path(let path), .value), (.value, .path(let path)): path
    default: nil
    }
  }

  private func name(of path: PropertyPath?) -> String? {
    guard let path, path.variable == 0, let step = path.onlyStep, entity.properties.indices.contains(step),
      entity.properties[step].column != nil
    else { return nil }
    return entity.properties[step].name
  }

  /// The sort keys as the properties of an index. Empty if no index can have this order.
  private func names(of sort: [SortKey]) -> [String] {
    var names: [String] = []
    for key in sort {
      guard key.options.isEmpty, key.query == nil, key.kind != .decimal, let name = name(of: key.path) else {
        return []
      }
      names.append(key.isDescending ? "-\(name)" : name)
    }
    return names
  }

  /// Whether the model has an index that begins with these properties. An index is read in both directions, and the
  /// direction of properties with equality makes no difference.
  private func isDeclared(_ properties: [String], equal: Int) -> Bool {
    let wanted = properties.map { $0.hasPrefix("-") ? (String($0.dropFirst()), true) : ($0, false) }
    return entity.indexes.contains { index in
      guard index.elements.count >= wanted.count else { return false }
      let found = index.elements.prefix(wanted.count).map { (entity.properties[$0.property].name, $0.isDescending) }
      guard zip(found, wanted).allSatisfy({ $0.0 == $1.0 }) else { return false }
      let turned = zip(found, wanted).dropFirst(equal).map { $0.1 != $1.1 }
      return Set(turned).count < 2
    }
  }
}
