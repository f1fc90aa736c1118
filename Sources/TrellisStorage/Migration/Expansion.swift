import TrellisModel

/// Finds out whether a migration only adds to a store, so that programs with the stored model can go on using it.
///
/// They read and write the tables and columns that they know, by name, and leave the rest as it is: a row that they insert
/// has null or the default in a column that they do not know.
package struct Expansion {
  /// What programs with the stored model could not live with: the entity or property, and the reason as the end of a
  /// sentence. Empty if the migration is additive.
  package private(set) var obstacles: [Obstacle] = []

  package struct Obstacle: Hashable, Sendable {
    package let subject: String
    package let reason: String
    /// Whether only the name is another one, which matters to what finds tables and columns by their names.
    package var isName = false
  }

  private let migration: Migration

  private var stored: Model { migration.stored }
  private var current: Model { migration.current }

  /// - Parameter steps: the steps in Swift that follow the rules.
  /// - Complexity: linear in the number of entities, and quadratic in the number of properties of each.
  package init(_ migration: Migration, steps: [CodedStep] = []) {
    self.migration = migration
    findWhatChanges()
    for entity in current.entities { findAdditions(to: entity) }
    for step in steps { add(step.text, "a step in Swift, which may change any row") }
  }

  package var isAdditive: Bool { obstacles.isEmpty }

  private mutating func add(_ subject: String, _ reason: String, isName: Bool = false) {
    let obstacle = Obstacle(subject: subject, reason: reason, isName: isName)
    if !obstacles.contains(obstacle) { obstacles.append(obstacle) }
  }

  // MARK: What the stored model has

  /// Each entity, property and unique key of the stored model has to be one of the current model.
  private mutating func findWhatChanges() {
    for entity in stored.entities {
      guard let successor = migration.match.successors[entity.index] else {
        add(entity.name, "gone")
        continue
      }
      let other = current.entities[successor]
      if !TextBytes.areEqual(entity.name, other.name) { add(entity.name, "renamed to \(other.name)", isName: true) }
      if entity.parent.flatMap({ migration.match.successors[$0] }) != other.parent {
        add(entity.name, "below another entity")
      }
      if entity.isAbstract != other.isAbstract {
        add(entity.name, other.isAbstract ? "abstract, so its rows have no entity" : "not abstract any more")
      }
      for property in entity.properties where property.isDeclared(by: entity) && property.isStored {
        findChange(of: property, of: entity, in: other)
      }
      for key in entity.uniqueKeys where key.entity == entity.index {
        let wanted = key.properties.map { migration.match.successor(of: $0, in: entity.index) }
        if other.uniqueKeys.contains(where: { $0.entity == successor && $0.properties == wanted }) { continue }
        let names = key.properties.map { entity.properties[$0].name }
        add("\(entity.name): \(names.joined(separator: ", "))", "a unique key that is gone")
      }
      findMoves(of: entity, to: other)
    }
  }

  private mutating func findChange(of property: Property, of entity: Entity, in other: Entity) {
    let subject = "\(entity.name).\(property.name)"
    guard let number = migration.match.successor(of: property.index, in: entity.index) else {
      return add(subject, "gone")
    }
    let successor = other.properties[number]
    if !TextBytes.areEqual(property.name, successor.name) {
      add(subject, "renamed to \(successor.name)", isName: true)
    }
    let isSame =
      switch (property, successor) {
      case (.attribute(let former), .attribute(let present)): isStoredAlike(former, present)
      case (.relationship(let former), .relationship(let present)): isStoredAlike(former, present)
      default: false
      }
    if !isSame || !successor.isDeclared(by: other) { add(subject, "stored in another way") }
  }

  private func isStoredAlike(_ former: Attribute, _ present: Attribute) -> Bool {
    func rawType(_ attribute: Attribute, _ model: Model) -> EnumDescription.RawType? {
      guard case .enumeration(let name) = attribute.type else { return nil }
      return model.enumeration(named: name)?.rawType
    }
    return former.type == present.type && rawType(former, stored) == rawType(present, current)
      && former.isOptional == present.isOptional && former.description.isExternal == present.description.isExternal
  }

  private func isStoredAlike(_ former: Relationship, _ present: Relationship) -> Bool {
    let inverse = former.inverse.flatMap { migration.match.successor(of: $0, in: former.destination) }
    return former.isToMany == present.isToMany && former.isOrdered == present.isOrdered
      && migration.match.successors[former.destination] == present.destination
      && (former.inverse == nil) == (present.inverse == nil) && inverse == present.inverse
      && former.isRequired == present.isRequired
      && (former.deleteRule == .noAction) == (present.deleteRule == .noAction)
      && former.home.isStored(as: present.home)
  }

  /// Values have to stay in their columns: a name may stand for something else than before.
  private mutating func findMoves(of entity: Entity, to other: Entity) {
    guard let move = migration.rows[entity.index], move.entity == other.index else { return }
    for (place, column) in other.columns.enumerated() {
      guard let origin = migration.match.properties[entity.index][column.property] else { continue }
      if case .stored(let source) = move.columns[place], source.isPlain,
        entity.columns[source.column].property == origin,
        (entity.reference(placedBy: source.column) == nil) == (other.reference(placedBy: place) == nil)
      {
        continue
      }
      add("\(entity.name).\(entity.properties[origin].name)", "its values come from elsewhere")
    }
  }

  // MARK: What the current model adds

  private mutating func findAdditions(to entity: Entity) {
    guard let origin = migration.match.origins[entity.index] else {
      if entity.parent != nil, migration.match.origins[entity.root] != nil {
        add(entity.name, "new below an entity that is there already, whose readers would meet its rows")
      }
      return
    }
    let former = stored.entities[origin]
    for property in entity.properties where migration.match.origin(of: property.index, in: entity.index) == nil {
      switch property {
      case .attribute(let attribute): findAddition(of: attribute, to: entity, former)
      case .relationship(let relationship): findAddition(of: relationship, to: entity)
      }
    }
    for key in entity.uniqueKeys where key.entity == entity.index {
      let names = key.properties.map { entity.properties[$0].name }
      let origins = key.properties.map { migration.match.properties[origin][$0] }
      let isKnown = former.uniqueKeys.contains { $0.properties == origins }
      // Rows of programs that do not know one of its properties have null there, which is equal to nothing.
      if !isKnown && !key.properties.contains(where: { isNullForOthers($0, of: entity) }) {
        add("\(entity.name): \(names.joined(separator: ", "))", "a new unique key, which others do not keep")
      }
    }
  }

  private func isNullForOthers(_ property: Int, of entity: Entity) -> Bool {
    guard migration.match.origin(of: property, in: entity.index) == nil,
      let column = entity.properties[property].column
    else { return false }
    return fillings(of: column, of: entity).allSatisfy { $0 == .null }
  }

  private func fillings(of column: Int, of entity: Entity) -> [Filling] {
    migration.rows.compactMap(\.self).filter { current.isEntity($0.entity, within: entity.index) }.map { move in
      if case .new(let filling) = move.columns[column] { filling } else { .null }
    }
  }

  private mutating func findAddition(of attribute: Attribute, to entity: Entity, _ former: Entity) {
    guard let column = attribute.column, attribute.entity == entity.index else { return }
    let subject = "\(entity.name).\(attribute.name)"
    for filling in Set(fillings(of: column, of: entity)) {
      switch filling {
      case .null where attribute.isOptional: continue
      case .value, .now:
        // The column of a child is one of all rows of the table, which would get the default as well.
        if entity.parent == nil { continue }
        add(subject, "new with a value, in a part of the rows of a table")
      case .null, .unanswered: add(subject, "required, and rows of others would have no value")
      case .newUUID, .expression: add(subject, "another value for each row, for which all are written again")
      }
    }
  }

  private mutating func findAddition(of relationship: Relationship, to entity: Entity) {
    guard relationship.entity == entity.index, !relationship.isTransient else { return }
    if relationship.isRequired {
      add("\(entity.name).\(relationship.name)", "required, and rows of others would have no partner")
    }
  }
}

extension Expansion.Obstacle: CustomStringConvertible {
  package var description: String { "\(subject): \(reason)" }
}

extension Property {
  fileprivate func isDeclared(by entity: Entity) -> Bool { declaring == entity.index }
}

extension RelationshipStorage {
  /// Whether both are places of the same kind. The numbers of columns and tables are those of their models.
  fileprivate func isStored(as other: RelationshipStorage) -> Bool {
    switch (self, other) {
    case (.column(_, let order), .column(_, let otherOrder)): (order == nil) == (otherOrder == nil)
    case (.inverseColumn, .inverseColumn), (.transient, .transient): true
    case (.joinTable, .joinTable): true
    default: false
    }
  }
}
