import TrellisSchema
import TrellisStorage

extension SavePlan {
  /// Finds the written references whose targets other contexts have deleted meanwhile. The store has refused a
  /// reference without a target but does not report which one.
  func lostPartners(_ context: ManagedObjectContext) throws -> [ValidationFailure] {
    var search = LostPartnerSearch(context)
    for object in inserted { search.add(object, context.info(of: object).storedMask) }
    for (object, mask) in updated { search.add(object, mask) }
    for pairs in request.pairs { search.add(pairs) }
    return try search.failures()
  }
}

extension SavePlan {
  /// Finds the owners of one-way to-many relationships that the plan adds members to and that other contexts have
  /// deleted meanwhile. These owners count as edited, although the save does not write their rows.
  func lostOwners(_ context: ManagedObjectContext) throws -> [SaveConflict.Row] {
    var lost: [Int64: SaveConflict.Row] = [:]
    for pairs in request.pairs {
      let table = context.runtime.model.joinTables[pairs.table]
      guard table.second == nil else { continue }
      let entity = context.runtime.entities[table.first.entity].root
      var owners = Set(pairs.added.map(\.first).filter { context.map[$0]?.phase == .persistent })
      try context.connection().rows(of: entity, keys: owners.sorted()) { owners.remove($0.key) }
      for key in owners { lost[key] = SaveConflict.Row(entity: entity, key: key) }
    }
    return lost.sorted { $0.key < $1.key }.map(\.value)
  }
}

private struct LostPartnerSearch {
  private struct Reference {
    let object: ManagedObject
    let relationship: RelationshipInfo
    let partner: Int64
  }

  private let context: ManagedObjectContext
  private var references: [Reference] = []

  init(_ context: ManagedObjectContext) { self.context = context }

  mutating func add(_ object: ManagedObject, _ mask: ColumnMask) {
    for relationship in context.info(of: object).allRelationships
    where relationship.isColumn && mask.contains(relationship.property) {
      add(object, relationship, object._reference(relationship.property))
    }
  }

  mutating func add(_ pairs: SaveRequest.Pairs) {
    let table = context.runtime.model.joinTables[pairs.table]
    for pair in pairs.added {
      add(pair.first, table.first, pair.partner)
      if let second = table.second { add(pair.partner, second, pair.first) }
    }
  }

  private mutating func add(_ key: Int64, _ end: JoinTable.End, _ partner: Int64) {
    let number = RelationshipNumber(entity: end.entity, property: end.property)
    guard let object = context.map[key], let relationship = context.runtime.relationship(number) else { return }
    add(object, relationship, partner)
  }

  private mutating func add(_ object: ManagedObject, _ relationship: RelationshipInfo, _ partner: Int64) {
    guard partner > 0, object.isAlive, context.map[partner]?.phase != .inserted else { return }
    references.append(Reference(object: object, relationship: relationship, partner: partner))
  }

  func failures() throws -> [ValidationFailure] {
    var rules = ObjectRules(context)
    for (entity, group) in Dictionary(
      grouping: references, by: { context.runtime.entities[$0.relationship.destination].root }
    )
    .sorted(by: { $0.key < $1.key }) {
      var missing = Set(group.map(\.partner))
      try context.connection().rows(of: entity, keys: missing.sorted()) { missing.remove($0.key) }
      for reference in group where missing.contains(reference.partner) {
        let partner = context.runtime.entities[reference.relationship.destination]
        rules.fail(
          reference.object, reference.relationship.name, .deletedPartner,
          "leads to an object that somebody else has deleted",
          blockers: [AnyObjectID(reference.partner, partner)])
      }
    }
    return rules.failures
  }
}
