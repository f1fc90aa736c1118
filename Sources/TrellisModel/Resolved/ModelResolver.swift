/// Resolves names to numbers, in passes that each build on the previous ones.
struct ModelResolver {
  let description: ModelDescription
  let entityNumbers: [String: Int]
  private(set) var entities: [Entity] = []
  private(set) var joinTables: [JoinTable] = []

  private var parents: [Int?] = []
  private var enums: [String: EnumDescription] = [:]
  /// The homes of the declared relationships, by entity. They are planned before the entities are built.
  private var homes: [[String: RelationshipHomePlan]] = []

  init(_ description: ModelDescription) throws(SchemaError) {
    self.description = description
    var numbers: [String: Int] = [:]
    for (index, entity) in description.entities.enumerated()
    where numbers.updateValue(index, forKey: entity.name) != nil {
      throw SchemaError("two entities are named \(entity.name)")
    }
    entityNumbers = numbers
    for enumeration in description.enums { enums[enumeration.name] = enumeration }
  }

  mutating func resolve() throws(SchemaError) {
    try resolveParents()
    try planHomes()
    try makeEntities()
  }

  // MARK: Parents

  private mutating func resolveParents() throws(SchemaError) {
    for entity in description.entities {
      parents.append(try entity.parent.map { name throws(SchemaError) in try number(name) })
    }
    for start in parents.indices {
      var steps = 0
      var current = parents[start]
      while let next = current {
        steps += 1
        if steps > parents.count {
          throw SchemaError("the parents of \(description.entities[start].name) form a circle")
        }
        current = parents[next]
      }
    }
  }

  private func number(_ name: String) throws(SchemaError) -> Int {
    guard let number = entityNumbers[name] else { throw SchemaError("there is no entity named \(name)") }
    return number
  }

  /// The entity and its ancestors, topmost first.
  private func lineage(_ entity: Int) -> [Int] {
    var line = [entity]
    while let parent = parents[line[line.count - 1]] { line.append(parent) }
    return line.reversed()
  }

  // MARK: Homes of relationships

  /// A relationship's home before columns are numbered.
  private enum RelationshipHomePlan {
    case column(isOrderedFromOtherSide: Bool)
    case inverseColumn
    case joinTable(Int, isFirst: Bool)
    case transient
  }

  private mutating func planHomes() throws(SchemaError) {
    homes = description.entities.map { _ in [:] }
    for (index, entity) in description.entities.enumerated() {
      for relationship in entity.relationships where homes[index][relationship.name] == nil {
        try planHome(of: relationship, in: index)
      }
    }
  }

  private mutating func planHome(of relationship: RelationshipDescription, in entity: Int) throws(SchemaError) {
    let destination = try number(relationship.destination)
    let inverse = try inverseDeclaration(of: relationship, in: entity, destination: destination)
    guard !relationship.isTransient else { return homes[entity][relationship.name] = .transient }
    guard let inverse else {
      homes[entity][relationship.name] =
        relationship.isToMany
        ? .joinTable(addJoinTable(relationship, in: entity, to: destination, inverse: nil), isFirst: true)
        : .column(isOrderedFromOtherSide: false)
      return
    }
    let isSelfInverse = inverse.entity == entity && inverse.relationship.name == relationship.name
    switch (relationship.isToMany, inverse.relationship.isToMany) {
    case (false, true):
      homes[entity][relationship.name] = .column(isOrderedFromOtherSide: inverse.relationship.isOrdered)
    case (true, false):
      homes[entity][relationship.name] = .inverseColumn
    case (false, false):
      let isHere = isSelfInverse || holdsOneToOne((entity, relationship), against: inverse)
      homes[entity][relationship.name] = isHere ? .column(isOrderedFromOtherSide: false) : .inverseColumn
    case (true, true):
      let isFirst = isSelfInverse || comesFirst((entity, relationship), inverse)
      let here: Declaration = (entity, relationship)
      let first = isFirst ? here : inverse
      let second = isFirst ? inverse : here
      let table = addJoinTable(first.relationship, in: first.entity, to: second.entity, inverse: second)
      homes[first.entity][first.relationship.name] = .joinTable(table, isFirst: true)
      if !isSelfInverse { homes[second.entity][second.relationship.name] = .joinTable(table, isFirst: false) }
    }
  }

  private typealias Declaration = (entity: Int, relationship: RelationshipDescription)

  /// The inverse as declared by the destination or by one of its ancestors.
  private func inverseDeclaration(
    of relationship: RelationshipDescription, in entity: Int, destination: Int
  ) throws(SchemaError) -> Declaration? {
    guard let name = relationship.inverse else { return nil }
    for candidate in lineage(destination).reversed() {
      if let found = description.entities[candidate].relationships.first(where: { $0.name == name }) {
        return (candidate, found)
      }
    }
    throw SchemaError(
      "\(description.entities[entity].name).\(relationship.name) names the inverse \(relationship.destination).\(name), "
        + "which does not exist")
  }

  /// Whether a one-to-one is stored on this side: on the required side, otherwise on the alphabetically first.
  private func holdsOneToOne(_ side: Declaration, against other: Declaration) -> Bool {
    if side.relationship.isOptional != other.relationship.isOptional { return !side.relationship.isOptional }
    return comesFirst(side, other)
  }

  private func comesFirst(_ side: Declaration, _ other: Declaration) -> Bool {
    (description.entities[side.entity].name, side.relationship.name)
      < (description.entities[other.entity].name, other.relationship.name)
  }

  private mutating func addJoinTable(
    _ relationship: RelationshipDescription, in entity: Int, to destination: Int, inverse: Declaration?
  ) -> Int {
    let index = joinTables.count
    let hasOwnName = inverse.map { $0.relationship.name != relationship.name } ?? false
    let firstColumn = hasOwnName ? inverse.map { $0.relationship.name } ?? "_owner" : "_owner"
    // Property numbers are not known yet; `numbered` fills them in later.
    let first = JoinTable.End(
      entity: entity, property: -1, column: firstColumn,
      orderColumn: relationship.isOrdered ? "_\(relationship.name)_order" : nil)
    let second = inverse.map { inverse in
      JoinTable.End(
        entity: inverse.entity, property: -1, column: relationship.name,
        orderColumn: inverse.relationship.isOrdered
          ? hasOwnName ? "_\(inverse.relationship.name)_order" : "_owner_order" : nil)
    }
    pendingJoins.append((relationship.name, inverse?.relationship.name))
    joinTables.append(
      JoinTable(
        index: index, name: "_\(description.entities[entity].name)_\(relationship.name)", first: first, second: second,
        partnerColumn: relationship.name, partnerEntity: destination))
    return index
  }

  /// The names of the properties at both ends of each join table.
  private var pendingJoins: [(first: String, second: String?)] = []

  // MARK: Entities

  private mutating func makeEntities() throws(SchemaError) {
    var children: [[Int]] = description.entities.map { _ in [] }
    for (index, parent) in parents.enumerated() { if let parent { children[parent].append(index) } }
    var propertyNumbers: [[String: Int]] = []
    for index in description.entities.indices { propertyNumbers.append(try numberProperties(of: index)) }
    for index in description.entities.indices {
      entities.append(try makeEntity(index, children: children, propertyNumbers: propertyNumbers))
    }
    joinTables = try joinTables.map { table throws(SchemaError) in try numbered(table, propertyNumbers) }
  }

  private func numberProperties(of entity: Int) throws(SchemaError) -> [String: Int] {
    var numbers: [String: Int] = [:]
    for ancestor in lineage(entity) {
      let declared = description.entities[ancestor]
      for name in declared.attributes.map(\.name) + declared.relationships.map(\.name) {
        guard numbers.updateValue(numbers.count, forKey: name) == nil else {
          throw SchemaError("\(description.entities[entity].name) has two properties named \(name)")
        }
      }
    }
    return numbers
  }

  private func numbered(_ table: JoinTable, _ numbers: [[String: Int]]) throws(SchemaError) -> JoinTable {
    func end(_ end: JoinTable.End, _ name: String) throws(SchemaError) -> JoinTable.End {
      guard let property = numbers[end.entity][name] else { throw SchemaError("there is no property named \(name)") }
      return JoinTable.End(entity: end.entity, property: property, column: end.column, orderColumn: end.orderColumn)
    }
    let names = pendingJoins[table.index]
    let first = try end(table.first, names.first)
    var second: JoinTable.End?
    if let declared = table.second, let name = names.second { second = try end(declared, name) }
    return JoinTable(
      index: table.index, name: table.name, first: first, second: second, partnerColumn: table.partnerColumn,
      partnerEntity: table.partnerEntity)
  }

  private func makeEntity(
    _ index: Int, children: [[Int]], propertyNumbers: [[String: Int]]
  ) throws(SchemaError) -> Entity {
    let declared = description.entities[index]
    let line = lineage(index)
    var builder = RowBuilder(model: self, numbers: propertyNumbers)
    var firstOwnColumn = 0
    for ancestor in line {
      firstOwnColumn = builder.columns.count
      try builder.append(description.entities[ancestor], number: ancestor, isRoot: ancestor == line[0])
    }
    var keys: [UniqueKey] = []
    for ancestor in line {
      for names in description.entities[ancestor].uniqueKeys {
        keys.append(UniqueKey(entity: ancestor, properties: try builder.places(of: names, in: propertyNumbers[index])))
      }
    }
    var indexes: [Index] = []
    for entry in declared.indexes {
      let places = try builder.places(of: entry.elements.map(\.property), in: propertyNumbers[index])
      indexes.append(
        Index(
          elements: zip(places, entry.elements).map { Index.Element(property: $0, isDescending: $1.isDescending) }))
    }
    return Entity(
      index: index, name: declared.name, isAbstract: declared.isAbstract, parent: parents[index], root: line[0],
      subtree: subtree(of: index, children), properties: builder.properties, columns: builder.columns,
      firstOwnColumn: firstOwnColumn, uniqueKeys: keys, indexes: indexes, propertyNumbers: propertyNumbers[index])
  }

  private func subtree(of entity: Int, _ children: [[Int]]) -> [Int] {
    var found: [Int] = []
    var open = [entity]
    while let next = open.popLast() {
      found.append(next)
      open.append(contentsOf: children[next].reversed())
    }
    return found
  }

  /// Numbers the properties and columns of one entity, ancestor by ancestor.
  private struct RowBuilder {
    let model: ModelResolver
    let numbers: [[String: Int]]
    var properties: [Property] = []
    var columns: [Column] = []

    mutating func append(_ entity: EntityDescription, number: Int, isRoot: Bool) throws(SchemaError) {
      let prefix = isRoot ? "" : "\(entity.name)."
      for attribute in entity.attributes { append(attribute, entity: number, prefix: prefix) }
      var orders: [Column] = []
      let firstOrder = columns.count + entity.relationships.count { model.hasColumn($0, number) }
      for relationship in entity.relationships {
        let home = append(relationship, entity: number, prefix: prefix, nextOrder: firstOrder + orders.count)
        if case .column(_, .some) = home {
          orders.append(
            Column(
              name: "\(prefix)_\(relationship.name)_order", content: .order(properties.count), storageClass: .integer,
              isOptional: true))
        }
        let destination = try model.number(relationship.destination)
        let inverse = try model.inverseDeclaration(of: relationship, in: number, destination: destination)
        properties.append(
          .relationship(
            Relationship(
              relationship, index: properties.count, entity: number, entityName: entity.name, destination: destination,
              inverse: relationship.inverse.flatMap { numbers[destination][$0] },
              partnerRule: inverse?.relationship.deleteRule, home: home)
          ))
      }
      columns += orders
    }

    private mutating func append(_ attribute: AttributeDescription, entity: Int, prefix: String) {
      let storageClass = attribute.type.storageClass { model.enums[$0]?.rawType }
      let column = attribute.isTransient ? nil : columns.count
      if !attribute.isTransient {
        columns.append(
          Column(
            name: prefix + attribute.name, content: .attribute(properties.count), storageClass: storageClass,
            isOptional: attribute.isOptional))
      }
      properties.append(
        .attribute(
          Attribute(
            index: properties.count, entity: entity, column: column, storageClass: storageClass, description: attribute,
            enumeration: attribute.type.enumName.flatMap { model.enums[$0] })
        ))
    }

    private mutating func append(
      _ relationship: RelationshipDescription, entity: Int, prefix: String, nextOrder: Int
    ) -> RelationshipStorage {
      switch model.homes[entity][relationship.name] {
      case .column(let isOrdered):
        columns.append(
          Column(
            name: prefix + relationship.name,
            content: .reference(
              properties.count, destination: model.entityNumbers[relationship.destination] ?? 0),
            storageClass: .integer, isOptional: true))
        return .column(columns.count - 1, order: isOrdered ? nextOrder : nil)
      case .inverseColumn: return .inverseColumn
      case .joinTable(let table, let isFirst): return .joinTable(table, isFirst: isFirst)
      case .transient, nil: return .transient
      }
    }

    /// The numbers of the named properties, all of which must be stored in the row.
    func places(of names: [String], in numbers: [String: Int]) throws(SchemaError) -> [Int] {
      var places: [Int] = []
      for name in names {
        guard let place = numbers[name], properties[place].column != nil else {
          throw SchemaError("a key or an index names \(name), which is no stored property")
        }
        places.append(place)
      }
      return places
    }
  }

  private func hasColumn(_ relationship: RelationshipDescription, _ entity: Int) -> Bool {
    if case .column = homes[entity][relationship.name] { true } else { false }
  }
}
