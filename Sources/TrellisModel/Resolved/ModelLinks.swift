/// The names of a description resolved to numbers.
///
/// This is what of a model is known from the beginning: which entities and relationships belong together, and that all
/// names lead somewhere. Entities are resolved from it one by one, when they are first used.
struct ModelLinks: Sendable {
  let description: ModelDescription
  let entityNumbers: [String: Int]
  private(set) var joinTables: [JoinTable] = []
  /// Whether any attribute may store its data in files.
  private(set) var hasExternalData = false
  /// Whether any text is in the full-text index.
  private(set) var hasSearchableText = false
  private(set) var hasStoredDerivations = false

  private(set) var parents: [Int?] = []
  /// The children of each entity; empty if no entity has any.
  private var children: [[Int]] = []
  /// The declared relationships of all entities, one after the other.
  private var links: ContiguousArray<Link> = []
  /// The place of the first relationship of each entity in ``links``.
  private var firstLinks: ContiguousArray<Int> = []
  /// The attributes of the entities that have composite attributes, with those of the fields.
  private var expanded: [Int: [AttributeDescription]] = [:]

  /// A declared relationship, with what its names stand for.
  struct Link: Sendable {
    let destination: Int
    /// The inverse, as the destination or the nearest of its ancestors declares it; nil for a one-way relationship.
    let inverse: Declaration?
    /// Nil until it is planned.
    fileprivate var plannedHome: Home?

    var home: Home { plannedHome ?? .transient }
  }

  /// A relationship's home before columns are numbered.
  enum Home: Hashable, Sendable {
    case column(isOrderedFromOtherSide: Bool)
    case inverseColumn
    case joinTable(Int, isFirst: Bool)
    case transient

    var isColumn: Bool {
      if case .column = self { true } else { false }
    }
  }

  /// A relationship by the entity that declares it, and its place among the relationships of the entity.
  struct Declaration: Hashable, Sendable {
    let entity: Int
    let place: Int
  }

  init(_ description: ModelDescription) throws(SchemaError) {
    self.description = description
    var numbers = [String: Int](minimumCapacity: description.entities.count)
    for index in description.entities.indices
    where numbers.updateValue(index, forKey: description.entities[index].name) != nil {
      throw SchemaError("two entities are named \(description.entities[index].name)")
    }
    entityNumbers = numbers
    try resolveParents()
    try expandComposites()
    try checkScalars()
    try resolveLinks()
    try checkNames()
    try checkKeys()
    noteRareAttributes()
  }

  // MARK: Parents

  private mutating func resolveParents() throws(SchemaError) {
    parents.reserveCapacity(description.entities.count)
    var hasParents = false
    for index in description.entities.indices {
      guard let name = description.entities[index].parent else {
        parents.append(nil)
        continue
      }
      parents.append(try number(name))
      hasParents = true
    }
    guard hasParents else { return }
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
    children = Array(repeating: [], count: parents.count)
    for (index, parent) in parents.enumerated() { if let parent { children[parent].append(index) } }
  }

  private func number(_ name: String) throws(SchemaError) -> Int {
    guard let number = entityNumbers[name] else { throw SchemaError("there is no entity named \(name)") }
    return number
  }

  /// The entity and its ancestors, the entity first.
  func lineage(_ entity: Int) -> [Int] {
    var line = [entity]
    while let parent = parents[line[line.count - 1]] { line.append(parent) }
    return line
  }

  /// Whether an entity is another one or a descendant of it.
  func isEntity(_ entity: Int, within ancestor: Int) -> Bool {
    var current = entity
    while current != ancestor {
      guard let parent = parents[current] else { return false }
      current = parent
    }
    return true
  }

  /// The entity and all of its descendants.
  func subtree(of entity: Int) -> [Int] {
    if children.isEmpty { return [entity] }
    var found: [Int] = []
    var open = [entity]
    while let next = open.popLast() {
      found.append(next)
      open.append(contentsOf: children[next].reversed())
    }
    return found
  }

  /// The topmost ancestor, possibly the entity itself.
  func root(of entity: Int) -> Int {
    var root = entity
    while let parent = parents[root] { root = parent }
    return root
  }

  /// The enum of this name; nil if there is none.
  func enumeration(_ name: String) -> EnumDescription? { description.enums.last { $0.name == name } }

  // MARK: Attributes

  private mutating func expandComposites() throws(SchemaError) {
    for index in description.entities.indices where !description.entities[index].composites.isEmpty {
      let entity = description.entities[index]
      expanded[index] = try CompositeExpansion(entity.attributes, entity.composites, in: description).fields.map(
        \.attribute)
    }
  }

  /// The attributes of an entity with those of its composite attributes; nil if it has no composite attributes.
  func expansion(of entity: Int, firstNumber: Int) -> CompositeExpansion? {
    guard expanded[entity] != nil else { return nil }
    let entity = description.entities[entity]
    // The composites were checked, so that there is an expansion.
    return try? CompositeExpansion(entity.attributes, entity.composites, in: description, firstNumber: firstNumber)
  }

  /// The own attributes of an entity, in the order of their numbers.
  private func attributes(of entity: Int) -> [AttributeDescription] {
    expanded[entity] ?? description.entities[entity].attributes
  }

  /// - Throws: ``SchemaError`` if an attribute has a type of the app that the model does not declare, or declares with
  ///   another stored form.
  private func checkScalars() throws(SchemaError) {
    for entity in description.entities.indices {
      try checkScalars(of: attributes(of: entity), in: description.entities[entity].name)
    }
  }

  private func checkScalars(of attributes: [AttributeDescription], in owner: String) throws(SchemaError) {
    for place in attributes.indices {
      guard let name = attributes[place].scalar else { continue }
      let form = description.scalars.first { $0.name == name }?.type
      guard let form, attributes[place].type == form || attributes[place].type == .array(form) else {
        throw SchemaError("\(owner).\(attributes[place].name) has no valid stored form of \(name)")
      }
    }
  }

  // MARK: Relationships

  /// The link of a declared relationship.
  func link(_ declaration: Declaration) -> Link {
    links[firstLinks[declaration.entity] + declaration.place]
  }

  func relationship(_ declaration: Declaration) -> RelationshipDescription { description[declaration] }

  /// Calls a closure with all declared relationships.
  func forEachRelationship(_ body: (Declaration, Link) -> Void) {
    for entity in description.entities.indices {
      for place in description.entities[entity].relationships.indices {
        let declaration = Declaration(entity: entity, place: place)
        body(declaration, link(declaration))
      }
    }
  }

  /// Whether any declared relationship satisfies a condition.
  func containsRelationship(where isMatch: (Declaration, Link) -> Bool) -> Bool {
    description.entities.indices.contains { entity in
      description.entities[entity].relationships.indices.contains { place in
        let declaration = Declaration(entity: entity, place: place)
        return isMatch(declaration, link(declaration))
      }
    }
  }

  /// The number of a relationship among the properties of the entity that declares it.
  func propertyNumber(_ declaration: Declaration) -> Int {
    var number = attributes(of: declaration.entity).count + declaration.place
    var ancestor = parents[declaration.entity]
    while let entity = ancestor {
      number += attributes(of: entity).count + description.entities[entity].relationships.count
      ancestor = parents[entity]
    }
    return number
  }

  private mutating func resolveLinks() throws(SchemaError) {
    firstLinks.reserveCapacity(description.entities.count)
    for entity in description.entities.indices {
      firstLinks.append(links.count)
      for place in description.entities[entity].relationships.indices {
        let destination = try number(description.entities[entity].relationships[place].destination)
        let inverse = try inverse(of: Declaration(entity: entity, place: place), destination: destination)
        links.append(Link(destination: destination, inverse: inverse))
      }
    }
    for entity in description.entities.indices {
      for place in description.entities[entity].relationships.indices {
        planHome(Declaration(entity: entity, place: place))
      }
    }
  }

  /// The inverse as declared by the destination or by the nearest of its ancestors.
  private func inverse(of declaration: Declaration, destination: Int) throws(SchemaError) -> Declaration? {
    let relationships = description.entities[declaration.entity].relationships
    guard let name = relationships[declaration.place].inverse else { return nil }
    var candidate: Int? = destination
    while let entity = candidate {
      if let place = place(ofRelationship: name, in: entity) { return Declaration(entity: entity, place: place) }
      candidate = parents[entity]
    }
    let relationship = relationships[declaration.place]
    throw SchemaError(
      "\(description.entities[declaration.entity].name).\(relationship.name) names the inverse "
        + "\(relationship.destination).\(name), which does not exist")
  }

  /// The place of a relationship among those that an entity declares. No element is copied for the search.
  private func place(ofRelationship name: String, in entity: Int) -> Int? {
    let relationships = description.entities[entity].relationships
    return relationships.indices.first { relationships[$0].name == name }
  }

  // MARK: Homes of relationships

  private mutating func planHome(_ here: Declaration) {
    let index = firstLinks[here.entity] + here.place
    guard links[index].plannedHome == nil else { return }
    guard !description[here].isTransient else { return links[index].plannedHome = .transient }
    guard let inverse = links[index].inverse else {
      links[index].plannedHome =
        description[here].isToMany
        ? .joinTable(addJoinTable(here, to: links[index].destination, inverse: nil), isFirst: true)
        : .column(isOrderedFromOtherSide: false)
      return
    }
    switch (description[here].isToMany, description[inverse].isToMany) {
    case (false, true):
      links[index].plannedHome = .column(isOrderedFromOtherSide: description[inverse].isOrdered)
    case (true, false):
      links[index].plannedHome = .inverseColumn
    case (false, false):
      let isHere = inverse == here || holdsOneToOne(here, against: inverse)
      links[index].plannedHome = isHere ? .column(isOrderedFromOtherSide: false) : .inverseColumn
    case (true, true):
      let isFirst = inverse == here || comesFirst(here, inverse)
      let (first, second) = isFirst ? (here, inverse) : (inverse, here)
      let table = addJoinTable(first, to: second.entity, inverse: second)
      links[firstLinks[first.entity] + first.place].plannedHome = .joinTable(table, isFirst: true)
      if first != second {
        links[firstLinks[second.entity] + second.place].plannedHome = .joinTable(table, isFirst: false)
      }
    }
  }

  /// Whether a one-to-one is stored on this side: on the required side, otherwise on the alphabetically first.
  private func holdsOneToOne(_ side: Declaration, against other: Declaration) -> Bool {
    let isOptional = relationship(side).isOptional
    return isOptional == relationship(other).isOptional ? comesFirst(side, other) : !isOptional
  }

  private func comesFirst(_ side: Declaration, _ other: Declaration) -> Bool {
    (description.entities[side.entity].name, relationship(side).name)
      < (description.entities[other.entity].name, relationship(other).name)
  }

  private mutating func addJoinTable(_ here: Declaration, to destination: Int, inverse: Declaration?) -> Int {
    let relationship = relationship(here)
    let other = inverse.map(self.relationship)
    let hasOwnName = other.map { $0.name != relationship.name } ?? false
    let firstColumn = hasOwnName ? other.map { $0.name } ?? "_owner" : "_owner"
    let first = JoinTable.End(
      entity: here.entity, property: propertyNumber(here), column: firstColumn,
      orderColumn: relationship.isOrdered ? "_\(relationship.name)_order" : nil)
    var second: JoinTable.End?
    if let inverse, let other {
      let orderColumn = hasOwnName ? "_\(other.name)_order" : "_owner_order"
      second = JoinTable.End(
        entity: inverse.entity, property: propertyNumber(inverse), column: relationship.name,
        orderColumn: other.isOrdered ? orderColumn : nil)
    }
    joinTables.append(
      JoinTable(
        index: joinTables.count, name: "_\(description.entities[here.entity].name)_\(relationship.name)", first: first,
        second: second, partnerColumn: relationship.name, partnerEntity: destination))
    return joinTables.count - 1
  }

  // MARK: Checks

  /// - Throws: ``SchemaError`` if an entity declares or inherits two properties of the same name.
  private func checkNames() throws(SchemaError) {
    var names: [String] = []
    for entity in description.entities.indices {
      names.removeAll(keepingCapacity: true)
      addNames(of: entity, to: &names)
      guard let repeated = names.firstRepeated else { continue }
      throw SchemaError("\(description.entities[entity].name) has two properties named \(repeated)")
    }
  }

  /// Notes what few models have, so that it is not searched for again and again.
  private mutating func noteRareAttributes() {
    for entity in description.entities.indices {
      let attributes = attributes(of: entity)
      for place in attributes.indices {
        if attributes[place].storesDerivation { hasStoredDerivations = true }
        if attributes[place].isTransient { continue }
        if attributes[place].isExternal { hasExternalData = true }
        if attributes[place].isSearchable { hasSearchableText = true }
      }
    }
  }

  /// Adds the names of an entity's properties, in their order.
  private func addNames(of entity: Int, to names: inout [String]) {
    if let parent = parents[entity] { addNames(of: parent, to: &names) }
    let attributes = attributes(of: entity)
    for place in attributes.indices { names.append(attributes[place].name) }
    let relationships = description.entities[entity].relationships
    for place in relationships.indices { names.append(relationships[place].name) }
  }

  /// - Throws: ``SchemaError`` if a key or an index names what is no property in the entity's rows.
  private func checkKeys() throws(SchemaError) {
    for entity in description.entities.indices {
      try checkUniqueKeys(of: entity, in: entity)
      for index in description.entities[entity].indexes {
        for element in index.elements { try checkStored(element.property, in: entity, mayBeDerived: true) }
      }
    }
  }

  /// Checks the keys of an entity's ancestors, topmost first, and then its own.
  private func checkUniqueKeys(of ancestor: Int, in entity: Int) throws(SchemaError) {
    if let parent = parents[ancestor] { try checkUniqueKeys(of: parent, in: entity) }
    for names in description.entities[ancestor].uniqueKeys {
      for name in names { try checkStored(name, in: entity) }
    }
  }

  private func checkStored(_ name: String, in entity: Int, mayBeDerived: Bool = false) throws(SchemaError) {
    var candidate: Int? = entity
    while let entity = candidate {
      if isStored(name, in: entity, mayBeDerived: mayBeDerived) { return }
      candidate = parents[entity]
    }
    throw SchemaError("a key or an index names \(name), which is no stored property")
  }

  private func isStored(_ name: String, in entity: Int, mayBeDerived: Bool) -> Bool {
    let attributes = attributes(of: entity)
    if let place = attributes.indices.first(where: { attributes[$0].name == name }) {
      return !attributes[place].isTransient || mayBeDerived && attributes[place].storesDerivation
    }
    guard let place = place(ofRelationship: name, in: entity) else { return false }
    return link(Declaration(entity: entity, place: place)).home.isColumn
  }
}

extension ModelDescription {
  /// The relationship of a declaration.
  @inline(__always) fileprivate subscript(declaration: ModelLinks.Declaration) -> RelationshipDescription {
    entities[declaration.entity].relationships[declaration.place]
  }
}

extension [String] {
  /// The first element that is equal to an earlier one; nil if there is none.
  ///
  /// - Complexity: linear in the number of elements. A few are compared with each other, which takes less than a set.
  fileprivate var firstRepeated: String? {
    guard count <= 16 else {
      var known: [String: Int] = [:]
      return first { known.updateValue(0, forKey: $0) != nil }
    }
    for later in indices {
      for earlier in 0..<later where self[earlier] == self[later] { return self[later] }
    }
    return nil
  }
}
