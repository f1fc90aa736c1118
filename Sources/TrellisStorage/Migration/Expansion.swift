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
  }

  private let migration: Migration

  private var stored: Model { migration.stored }
  private var current: Model { migration.current }

  /// - Parameter steps: the steps in Swift that follow the rules.
  /// - Complexity: n log n in the number of declared properties.
  package init(_ migration: Migration, steps: [CodedStep] = []) {
    self.migration = migration
    findWhatChanges()
    for entity in current.entities { findAdditions(to: entity) }
    for step in steps { add(step.text, "a step in Swift, which may change any row") }
  }

  package var isAdditive: Bool { obstacles.isEmpty }

  private mutating func add(_ subject: String, _ reason: String) {
    let obstacle = Obstacle(subject: subject, reason: reason)
    if !obstacles.contains(obstacle) { obstacles.append(obstacle) }
  }

  // MARK: What the stored model has

  /// Each fact of the stored model has to be one of the current model.
  private mutating func findWhatChanges() {
    let facts = Set(current.storageSignature.split(separator: "\n"))
    for fact in stored.storageSignature.split(separator: "\n") where !facts.contains(fact) {
      let words = fact.split(separator: ":", maxSplits: 1)
      let subject = words[0].split(separator: " ", maxSplits: 1).last.map(String.init) ?? ""
      add(subject, change(ofFact: words[0].split(separator: " ").first ?? "", facts, String(words[0]) + ":"))
    }
    for entity in stored.entities {
      guard let other = current.entity(named: entity.name), migration.match.origins[other.index] == entity.index else {
        if current.entity(named: entity.name) != nil { add(entity.name, "another entity has the name") }
        continue
      }
      if entity.isAbstract != other.isAbstract {
        add(entity.name, other.isAbstract ? "abstract, so its rows have no entity" : "not abstract any more")
      }
      findMoves(of: entity, in: other)
    }
  }

  /// A fact about the same subject that is another one means that the subject has changed.
  private func change(ofFact kind: Substring, _ facts: Set<Substring>, _ beginning: String) -> String {
    if kind == "unique" { return "a unique key that is gone" }
    return facts.contains { $0.hasPrefix(beginning) || $0 == beginning.dropLast() }
      ? "stored in another way" : "gone, or under another name"
  }

  /// Values have to stay in their columns: a name may stand for something else than before.
  private mutating func findMoves(of entity: Entity, in other: Entity) {
    guard let move = migration.rows[entity.index], move.entity == other.index else { return }
    for (number, column) in entity.columns.enumerated() {
      guard let place = other.columns.firstIndex(where: { $0.name == column.name }) else { continue }
      if case .stored(let source) = move.columns[place], source.column == number, source.isPlain { continue }
      add("\(entity.name).\(entity.properties[column.property].name)", "its values come from elsewhere")
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
      let isKnown = former.uniqueKeys.contains { known in
        known.properties.map { former.properties[$0].name } == names
      }
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
