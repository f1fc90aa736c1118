import TrellisJSON
import TrellisModel

/// What the columns of a file are for objects of one entity.
struct ColumnPlan {
  enum Target {
    case field(Int)
    /// A list that is mapped element by element.
    case list(Int)
    /// Whether there is a value of a composite.
    case presence(Int)
    /// The key of a partner.
    case reference(Int)
    /// The keys of the members of a to-many relationship.
    case members(Int)
  }

  let entity: EntityMap
  fileprivate(set) var targets: [(column: Int, target: Target)] = []
  /// The to-ones of which several columns tell the partner.
  fileprivate(set) var nested: [(link: Int, columns: [Int], plan: ColumnGroup)] = []
  /// The columns for properties that other entities of the hierarchy have.
  fileprivate(set) var others: [Int] = []
  /// The fields of composites that may be nil.
  fileprivate(set) var groups: [(presence: Int, fields: [Int])] = []

  fileprivate init(_ entity: EntityMap) { self.entity = entity }
}

/// What the columns of a file are for objects of an entity and its descendants.
final class ColumnGroup {
  let entity: EntityMap
  /// The column that tells the entity of an object.
  private(set) var entityColumn: Int?
  /// The plans by the number of the entity.
  private(set) var plans: [Int: ColumnPlan] = [:]
  /// The columns that stand for something.
  private(set) var known: Set<Int> = []

  typealias Column = (name: String, number: Int)

  init(_ entity: EntityMap, _ columns: [Column], _ map: JSONMap) {
    self.entity = entity
    if let path = entity.entityPath {
      let name = ColumnNames.name(path)
      entityColumn = columns.first { $0.name == name }?.number
      if let entityColumn { known.insert(entityColumn) }
    }
    for number in entity.entity.subtree {
      if let own = map.entities[number] { plans[number] = plan(own, columns, map) }
    }
    for (number, plan) in plans {
      let own = Set(plan.targets.map(\.column) + plan.nested.flatMap(\.columns) + [entityColumn].compactMap(\.self))
      plans[number]?.others = known.subtracting(own).sorted()
    }
  }

  private func plan(_ own: EntityMap, _ columns: [Column], _ map: JSONMap) -> ColumnPlan {
    var plan = ColumnPlan(own)
    var rest: [Column] = []
    for column in columns {
      guard let target = Self.target(named: column.name, own) else {
        rest.append(column)
        continue
      }
      plan.targets.append((column.number, target))
      known.insert(column.number)
    }
    for (number, link) in own.links.enumerated() where !link.relationship.isToMany && !link.isReference {
      guard let name = link.columnName, let partner = map.entities[link.relationship.destination] else { continue }
      let inner = rest.filter { $0.name.hasPrefix(name + ".") }.map {
        (String($0.name.dropFirst(name.count + 1)), $0.number)
      }
      if inner.isEmpty { continue }
      let group = ColumnGroup(partner, inner, map)
      if group.known.isEmpty { continue }
      known.formUnion(group.known)
      plan.nested.append((number, group.known.sorted(), group))
    }
    let fields = plan.targets.compactMap { entry in
      switch entry.target {
      case .field(let number), .list(let number), .presence(let number): number
      case .reference, .members: nil
      }
    }
    plan.groups = own.groups.compactMap { presence, inner in
      let given = inner.filter(fields.contains)
      return given.isEmpty && !fields.contains(presence) ? nil : (presence, given)
    }
    return plan
  }

  private static func target(named name: String, _ own: EntityMap) -> ColumnPlan.Target? {
    for (number, field) in own.fields.enumerated() where field.columnName == name {
      if field.attribute.role == .presence { return .presence(number) }
      return field.path.isPlural ? .list(number) : .field(number)
    }
    for (number, link) in own.links.enumerated() where link.columnName == name && link.reference != nil {
      return link.relationship.isToMany ? .members(number) : .reference(number)
    }
    return nil
  }

  /// Whether a row can tell which object it is about, if the entity has a key.
  func missingKeyColumn(_ map: JSONMap) -> String? {
    for plan in plans.values.sorted(by: { $0.entity.entity.index < $1.entity.entity.index }) {
      for part in plan.entity.keyParts {
        switch part {
        case .field(let number):
          let isGiven = plan.targets.contains { if case .field(number) = $0.target { true } else { false } }
          if !isGiven { return plan.entity.fields[number].columnName ?? plan.entity.fields[number].attribute.name }
        case .partner(let property):
          let link = plan.entity.links.firstIndex { $0.relationship.index == property }
          let isGiven =
            plan.nested.contains { $0.link == link }
            || plan.targets.contains { if case .reference(let number) = $0.target { number == link } else { false } }
          if !isGiven { return plan.entity.entity.properties[property].name }
        }
      }
      // The key of descendants is that of the entity.
      return nil
    }
    return nil
  }
}
