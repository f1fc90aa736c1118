package import TrellisModel

/// The indexes of all tables: for references, unique keys and the model's index declarations.
package struct IndexPlan: Sendable {
  package private(set) var all: [PlannedIndex] = []
  /// The prefix of the names of declared indexes.
  package static let declaredPrefix = "_index."

  /// - Complexity: linear in the size of the model.
  package init(_ model: Model) {
    for entity in model.entities {
      addReferences(entity, model)
      for key in entity.uniqueKeys where key.entity == entity.index { addUniqueKey(key, entity, model) }
    }
    // Declared indexes come last, so that an index which another one covers is left out.
    for entity in model.entities {
      for index in entity.indexes where !index.isDerived(in: entity) { add(index, entity, model) }
    }
  }

  private mutating func addReferences(_ entity: Entity, _ model: Model) {
    for column in entity.columns[entity.firstOwnColumn...] {
      guard case .reference(let property, _) = column.content,
        let relationship = entity.properties[property].relationship
      else { continue }
      var names = [column.name]
      if case .column(_, .some(let order)) = relationship.home { names.append(entity.columns[order].name) }
      let inverse = model.inverse(of: relationship)
      all.append(
        PlannedIndex(
          name: Self.referenceName(entity, property), entity: entity, properties: [property],
          columns: names.map { .init(name: $0, isDescending: false) },
          isUnique: inverse?.isToMany == false, model: model))
    }
  }

  private mutating func addUniqueKey(_ key: UniqueKey, _ entity: Entity, _ model: Model) {
    all.append(
      PlannedIndex(
        name: "_unique.\(entity.name).\(key.properties.map { entity.properties[$0].name }.joined(separator: "."))",
        entity: entity, properties: key.properties,
        columns: key.properties.compactMap { model.columnName($0, of: entity) }.map {
          .init(name: $0, isDescending: false)
        }, isUnique: true, model: model))
  }

  private mutating func add(_ index: Index, _ entity: Entity, _ model: Model) {
    let planned = PlannedIndex(declared: index, prefix: Self.declaredPrefix, entity, model)
    // A partial index does not contain every row, so it covers no other index.
    let isCovered = all.contains {
      $0.root == planned.root && $0.condition == nil && $0.columns.starts(with: planned.columns)
    }
    if !isCovered { all.append(planned) }
  }

  /// The name of a reference's index, as statements use it.
  static func referenceName(_ entity: Entity, _ property: Int) -> String {
    "_reference.\(entity.name).\(entity.properties[property].name)"
  }
}

/// One index of a table.
package struct PlannedIndex: Sendable {
  package struct IndexedColumn: Hashable, Sendable {
    package let name: String
    package let isDescending: Bool
  }

  package let name: String
  /// The entity that declares the reference, unique key or index.
  package let entity: Int
  package let properties: [Int]
  package let columns: [IndexedColumn]
  package let isUnique: Bool
  package let root: Int
  /// The condition on the rows that a child entity's unique key applies to. Nil if it applies to the whole table.
  package let condition: String?
  private let tableName: String

  init(
    name: String, entity: Entity, properties: [Int], columns: [IndexedColumn], isUnique: Bool, model: Model
  ) {
    self.name = name
    self.entity = entity.index
    self.properties = properties
    self.columns = columns
    self.isUnique = isUnique
    root = entity.root
    tableName = model.entities[entity.root].name
    // A reference column of a child entity is null in all other rows, so its index needs no condition.
    let isPartial = isUnique && entity.parent != nil && !name.hasPrefix("_reference.")
    let names = entity.subtree.map { SQLName.literal(model.entities[$0].name) }.joined(separator: ", ")
    condition = isPartial ? "\(SQLName.entity) IN (\(names))" : nil
  }

  /// An index that the model declares.
  init(declared index: Index, prefix: String, _ entity: Entity, _ model: Model) {
    let parts = index.elements.map { entity.properties[$0.property].name + ($0.isDescending ? "-" : "") }
    self.init(
      name: "\(prefix)\(entity.name).\(parts.joined(separator: "."))", entity: entity,
      properties: index.elements.map(\.property),
      columns: index.elements.compactMap { element in
        model.columnName(element.property, of: entity).map { .init(name: $0, isDescending: element.isDescending) }
      }, isUnique: false, model: model)
  }

  package var statement: String { statement(isUnique: isUnique) }

  /// The statement of an index with the same name and rows that may hold a value more than once.
  var statementOfStandIn: String { statement(isUnique: false) }

  private func statement(isUnique: Bool) -> String {
    let list = columns.map { SQLName.quoted($0.name) + ($0.isDescending ? " DESC" : "") }.joined(separator: ", ")
    let kind = isUnique ? "CREATE UNIQUE INDEX" : "CREATE INDEX"
    let rows = condition.map { " WHERE \($0)" } ?? ""
    return "\(kind) \(SQLName.quoted(name)) ON \(SQLName.quoted(tableName)) (\(list))\(rows)"
  }

  /// The columns as SQLite lists them in the error message of a violated unique key.
  package var violation: String { columns.map { "\(tableName).\($0.name)" }.joined(separator: ", ") }
}

// MARK: - Index advice

/// Finds the index that a request could use: first the properties with equality, then the sort keys, or else one range.
package struct IndexAdvice {
  private let entity: Entity
  /// Whether stored derived attributes have columns.
  private let hasDerivedColumns: Bool

  package init(_ entity: Entity, hasDerivedColumns: Bool) {
    self.entity = entity
    self.hasDerivedColumns = hasDerivedColumns
  }

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
    case .isIn(let tested, _, let kind) where kind != .decimal: tested.columnPath
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
    case (let operand, .value), (.value, let operand): operand.columnPath
    default: nil
    }
  }

  private func name(of path: PropertyPath?) -> String? {
    guard let path, path.variable == 0, let step = path.onlyStep, entity.properties.indices.contains(step) else {
      return nil
    }
    let property = entity.properties[step]
    let isDerived = hasDerivedColumns && property.attribute?.description.storesDerivation == true
    return property.column != nil || isDerived ? property.name : nil
  }

  /// The sort keys as the properties of an index. Empty if no index can have this order.
  private func names(of sort: [SortKey]) -> [String] {
    var names: [String] = []
    for key in sort {
      guard key.options.isEmpty, key.query == nil, key.language == nil, key.kind != .decimal,
        let name = name(of: key.value.columnPath)
      else {
        return []
      }
      names.append(key.isDescending ? "-\(name)" : name)
    }
    return names
  }

  /// Whether a store has an index that begins with these properties: a declared one, that of a unique key or of a to-one. A
  /// server may scan a small table all the same. An index is read in both directions, and the direction of properties with
  /// equality makes no difference.
  private func isDeclared(_ properties: [String], equal: Int) -> Bool {
    let wanted = properties.map { $0.hasPrefix("-") ? (String($0.dropFirst()), true) : ($0, false) }
    if wanted.count == 1, entity.properties.contains(where: { $0.name == wanted[0].0 && $0.relationship != nil }) {
      return true
    }
    let declared = entity.indexes.map { $0.elements.map { ($0.property, $0.isDescending) } }
    return (declared + entity.uniqueKeys.map { $0.properties.map { ($0, false) } }).contains { elements in
      guard elements.count >= wanted.count else { return false }
      let found = elements.prefix(wanted.count).map { (entity.properties[$0.0].name, $0.1) }
      guard zip(found, wanted).allSatisfy({ $0.0 == $1.0 }) else { return false }
      let turned = zip(found, wanted).dropFirst(equal).map { $0.1 != $1.1 }
      return Set(turned).count < 2
    }
  }
}

extension Operand {
  /// The path of an attribute that may have a column.
  fileprivate var columnPath: PropertyPath? {
    switch self {
    case .path(let path), .computed(.stored(let path, _)): path
    default: nil
    }
  }
}
