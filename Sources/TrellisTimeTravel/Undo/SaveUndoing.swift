import TrellisModel
@_spi(Generated) import TrellisRuntime

/// Undoes one save in a context.
///
/// What the save changed is read from the store as of the moments before and after it. The present has to be as after it;
/// then it is made as before it.
struct SaveUndoing {
  /// A reference in a row.
  struct Reference: Hashable {
    let holder: Int64
    let entity: Int
    let property: Int
  }

  /// A pair in a join table, named by one of its ends.
  struct Pair {
    let owner: Int64
    let relationship: Relationship
    let member: Int64
  }

  /// The members of an ordered relationship at the three moments.
  struct MemberOrder {
    let owner: Int64
    let relationship: Relationship
    let before: [Int64]
    let after: [Int64]
    let present: [Int64]

    /// Whether the save put members into another order that were there before and after it.
    var isReordered: Bool { before.only(Set(after)) != after.only(Set(before)) }
    /// Whether the order was changed since.
    var isReorderedLater: Bool { present.only(Set(after)) != after.only(Set(present)) }

    /// The members as they have to be, of those that there are at last.
    func restored(_ members: [Int64]) -> [Int64] {
      let all = Set(members)
      if isReordered { return before.only(all).woven(with: all.subtracting(before), inTheOrderOf: members) }
      let returning = Set(before).subtracting(present)
      return members.filter { !returning.contains($0) }.woven(with: returning.intersection(all), inTheOrderOf: before)
    }
  }

  private let save: HistoryTransaction
  private let context: ManagedObjectContext
  private let model: Model
  private let before: MomentView
  private let after: MomentView
  private let present: MomentView

  /// The entity of each object, as the history names it.
  private var inserted: [Int64: Int] = [:]
  private var deleted: [Int64: Int] = [:]
  private var updated: [(key: Int64, entity: Int, properties: [Property])] = []

  private var conflicts: [UndoConflict] = []
  private var values: [(key: Int64, entity: Int, values: [(property: Int, value: StoredValue)])] = []
  private var references: [(reference: Reference, target: Int64)] = []
  private var comingPairs: [Pair] = []
  private var goingPairs: [Pair] = []
  private var orders: [MemberOrder] = []
  private var knownPairs: Set<PairName> = []
  private var knownOrders: Set<Reference> = []

  init(_ save: HistoryTransaction, of container: PersistentContainer, in context: ManagedObjectContext) throws {
    self.save = save
    self.context = context
    model = context.model
    before = MomentView(try container.newContext(asOf: container.historyToken(before: save)))
    after = MomentView(try container.newContext(asOf: save.token))
    present = MomentView(context)
  }

  mutating func run() throws {
    guard save.isComplete else { throw UndoRefusal(conflicts: [conflict(nil, nil, .notRecorded)]) }
    try readChanges()
    for (key, entity) in deleted.sorted(by: { $0.key < $1.key }) { try planReturn(of: key, entity) }
    for change in updated { try planReversal(of: change.key, change.entity, change.properties) }
    for (key, entity) in inserted.sorted(by: { $0.key < $1.key }) { try checkUnused(key, entity) }
    guard conflicts.isEmpty else { throw UndoRefusal(conflicts: conflicts) }
    try apply()
  }

  private mutating func readChanges() throws {
    for change in save.changes {
      guard let entity = model.entity(named: change.id.entity) else { continue }
      switch change {
      case .inserted(let id): inserted[id.key] = entity.index
      case .deleted(let id, _): deleted[id.key] = entity.index
      case .updated(let id, let names):
        updated.append((id.key, entity.index, names.compactMap { entity.property(named: $0) }))
      }
    }
    updated.sort { $0.key < $1.key }
    var changed: [Int64: Int] = [:]
    for change in updated { changed[change.key] = change.entity }
    try before.load(changed.merging(deleted) { first, _ in first })
    try after.load(changed.merging(inserted) { first, _ in first })
    try present.load(changed.merging(inserted) { first, _ in first }.merging(deleted) { first, _ in first })
  }

  // MARK: Conflicts

  private func conflict(_ object: (key: Int64, entity: Int)?, _ property: String?, _ reason: UndoConflict.Reason)
    -> UndoConflict
  {
    UndoConflict(
      save: save.token, object: object.map { AnyObjectID($0.key, entity: $0.entity, in: context) }, property: property,
      reason: reason)
  }

  private mutating func refuse(_ key: Int64, _ entity: Int, _ reason: UndoConflict.Reason, in property: String? = nil) {
    let found = conflict((key, entity), property, reason)
    if !conflicts.contains(found) { conflicts.append(found) }
  }

  /// Whether an object will be there.
  private func isThere(_ key: Int64, _ entity: Int) throws -> Bool {
    if deleted[key] != nil { return true }
    return try present.object(key, of: entity) != nil
  }

  // MARK: Deleted objects

  private mutating func planReturn(of key: Int64, _ entity: Int) throws {
    if try present.object(key, of: entity) != nil { return refuse(key, entity, .exists) }
    guard let former = try before.object(key, of: entity) else { return refuse(key, entity, .notRecorded) }
    for case let relationship? in before.entity(of: former).properties.map(\.relationship) where relationship.isStored {
      let partners = try before.partners(of: former, relationship)
      if relationship.home.isColumn {
        try plan(Reference(holder: key, entity: entity, property: relationship.index), relationship, partners.first)
      } else if relationship.joinTable != nil {
        for partner in partners { try plan(coming: Pair(owner: key, relationship: relationship, member: partner)) }
      }
    }
    for reference in model.referencesWithoutInverse(to: entity) {
      guard let relationship = model.entities[reference.entity].properties[reference.property].relationship,
        relationship.joinTable != nil
      else { continue }
      for holder in try before.holders(of: key, reference).sorted() {
        try plan(coming: Pair(owner: holder, relationship: relationship, member: key))
      }
    }
  }

  // MARK: Changed objects

  private mutating func planReversal(of key: Int64, _ entity: Int, _ properties: [Property]) throws {
    guard let present = try present.object(key, of: entity) else { return refuse(key, entity, .deleted) }
    guard let former = try before.object(key, of: entity), let latter = try after.object(key, of: entity) else {
      return refuse(key, entity, .notRecorded)
    }
    var restored: [(property: Int, value: StoredValue)] = []
    for property in properties {
      switch property {
      case .attribute(let attribute) where attribute.isStored:
        let (old, left) = (try before.value(of: attribute, former), try after.value(of: attribute, latter))
        if old.isSame(as: left) { continue }
        guard try self.present.value(of: attribute, present).isSame(as: left) else {
          refuse(key, entity, .changed, in: attribute.name)
          continue
        }
        restored.append((attribute.index, old))
      case .attribute: break
      case .relationship(let relationship) where relationship.home.isColumn:
        let (old, new) = (try before.partners(of: former, relationship), try after.partners(of: latter, relationship))
        if old == new {
          if let owner = old.first, let inverse = model.inverse(of: relationship) { try plan(orderOf: inverse, owner) }
          continue
        }
        guard try self.present.partners(of: present, relationship) == new else {
          refuse(key, entity, .changed, in: relationship.name)
          continue
        }
        try plan(Reference(holder: key, entity: entity, property: relationship.index), relationship, old.first)
      case .relationship(let relationship) where relationship.joinTable != nil:
        let (old, new) = (try before.partners(of: former, relationship), try after.partners(of: latter, relationship))
        for member in old where !new.contains(member) {
          try plan(coming: Pair(owner: key, relationship: relationship, member: member))
        }
        for member in new where !old.contains(member) && inserted[member] == nil {
          try plan(going: Pair(owner: key, relationship: relationship, member: member))
        }
        try plan(orderOf: relationship, key)
      case .relationship: break
      }
    }
    if !restored.isEmpty { values.append((key, entity, restored)) }
  }

  private mutating func plan(_ reference: Reference, _ relationship: Relationship, _ target: Int64?) throws {
    // A reference that a delete has left led to nothing before the save.
    var target = target
    if let key = target, relationship.isLeftAlone, try before.object(key, of: relationship.destination) == nil {
      target = nil
    }
    if let target {
      guard try isThere(target, relationship.destination) else {
        return refuse(reference.holder, reference.entity, .partnerGone, in: relationship.name)
      }
      if let inverse = model.inverse(of: relationship) {
        if inverse.isToMany { try plan(orderOf: inverse, target) } else { try checkFree(target, inverse) }
      }
    }
    references.append((reference, target ?? 0))
  }

  /// Checks that the partner of a to-one has no other one since.
  private mutating func checkFree(_ key: Int64, _ inverse: Relationship) throws {
    guard let partner = try present.object(key, of: inverse.entity) else { return }
    let left = try after.object(key, of: inverse.entity).map { try after.partners(of: $0, inverse) } ?? []
    if try present.partners(of: partner, inverse) != left {
      refuse(key, inverse.entity, .partnerTaken, in: inverse.name)
    }
  }

  // MARK: Pairs

  /// A pair, the same from both ends.
  private struct PairName: Hashable {
    let table: Int
    let first: Int64
    let second: Int64

    init?(_ pair: Pair) {
      guard case .joinTable(let number, let isFirst) = pair.relationship.home else { return nil }
      let isTurned = pair.relationship.isOwnInverse ? pair.owner > pair.member : !isFirst
      (table, first, second) = (number, isTurned ? pair.member : pair.owner, isTurned ? pair.owner : pair.member)
    }
  }

  private mutating func plan(coming pair: Pair) throws {
    guard let name = PairName(pair), knownPairs.insert(name).inserted else { return }
    guard try isThere(pair.owner, pair.relationship.entity) else {
      return refuse(pair.member, pair.relationship.destination, .partnerGone)
    }
    guard try isThere(pair.member, pair.relationship.destination) else {
      return refuse(pair.owner, pair.relationship.entity, .partnerGone, in: pair.relationship.name)
    }
    if try isPresent(pair) { return refuse(pair.owner, pair.relationship.entity, .changed, in: pair.relationship.name) }
    comingPairs.append(pair)
    try plan(orderOf: pair.relationship, pair.owner)
    if let inverse = model.inverse(of: pair.relationship) { try plan(orderOf: inverse, pair.member) }
  }

  private mutating func plan(going pair: Pair) throws {
    guard let name = PairName(pair), knownPairs.insert(name).inserted else { return }
    guard try isPresent(pair) else {
      return refuse(pair.owner, pair.relationship.entity, .changed, in: pair.relationship.name)
    }
    goingPairs.append(pair)
  }

  private func isPresent(_ pair: Pair) throws -> Bool {
    guard let owner = try present.object(pair.owner, of: pair.relationship.entity) else { return false }
    return try present.partners(of: owner, pair.relationship).contains(pair.member)
  }

  // MARK: Order

  private mutating func plan(orderOf relationship: Relationship, _ owner: Int64) throws {
    let name = Reference(holder: owner, entity: relationship.entity, property: relationship.index)
    guard relationship.isOrdered, knownOrders.insert(name).inserted else { return }
    func members(_ view: MomentView) throws -> [Int64] {
      try view.object(owner, of: relationship.entity).map { try view.partners(of: $0, relationship) } ?? []
    }
    let order = MemberOrder(
      owner: owner, relationship: relationship, before: try members(before), after: try members(after),
      present: try members(present))
    if order.isReordered && order.isReorderedLater {
      return refuse(owner, relationship.entity, .reordered, in: relationship.name)
    }
    orders.append(order)
  }

  // MARK: Inserted objects

  /// Checks that an object is as the save has inserted it, so that nothing is lost with it.
  private mutating func checkUnused(_ key: Int64, _ entity: Int) throws {
    guard let object = try present.object(key, of: entity) else { return refuse(key, entity, .deleted) }
    guard let latter = try after.object(key, of: entity) else { return refuse(key, entity, .notRecorded) }
    for property in after.entity(of: latter).properties {
      switch property {
      case .attribute(let attribute):
        if attribute.isStored,
          try !present.value(of: attribute, object).isSame(as: after.value(of: attribute, latter))
        {
          refuse(key, entity, .changed, in: attribute.name)
        }
      case .relationship(let relationship):
        if relationship.isStored,
          try Set(present.partners(of: object, relationship)) != Set(after.partners(of: latter, relationship))
        {
          refuse(key, entity, .changed, in: relationship.name)
        }
      }
    }
    for reference in model.referencesWithoutInverse(to: entity)
    where try !present.holders(of: key, reference).isSubset(of: after.holders(of: key, reference)) {
      refuse(key, entity, .used)
    }
  }

  // MARK: Applying

  private func apply() throws {
    let writer = ObjectWriter(context)
    let deletedHere = context.deletedByKey
    for (key, entity) in deleted.sorted(by: { $0.key < $1.key }) {
      guard let former = try before.object(key, of: entity) else { continue }
      present.add(try ReturningObject(former, before).insert(into: context, writer, deletedHere))
    }
    for (key, entity, values) in values {
      if let object = try need(key, entity) { _ = try writer.set(values, of: object) }
    }
    for (reference, target) in references {
      guard let relationship = model.entities[reference.entity].properties[reference.property].relationship,
        let object = try need(reference.holder, reference.entity)
      else { continue }
      try object.setPartner(of: reference.property, need(target, relationship.destination))
    }
    for pair in goingPairs {
      guard let owner = try need(pair.owner, pair.relationship.entity),
        let member = try need(pair.member, pair.relationship.destination)
      else { continue }
      try owner.remove(member, from: pair.relationship.index)
    }
    for pair in comingPairs {
      guard let owner = try need(pair.owner, pair.relationship.entity),
        let member = try need(pair.member, pair.relationship.destination)
      else { continue }
      try owner.add(member, to: pair.relationship.index)
    }
    try deleteInserted()
    for order in orders {
      guard let owner = try need(order.owner, order.relationship.entity) else { continue }
      try owner.arrange(
        order.relationship, order.restored(present.partners(of: owner, order.relationship)), in: present)
    }
  }

  private func need(_ key: Int64, _ entity: Int) throws -> ManagedObject? { try present.object(key, of: entity) }

  /// Deletes the objects that the save has inserted, each by itself: they lead to nothing any more that a delete rule would
  /// take along.
  private func deleteInserted() throws {
    var objects: [ManagedObject] = []
    for (key, entity) in inserted.sorted(by: { $0.key < $1.key }) {
      if let object = try need(key, entity) { objects.append(object) }
    }
    for object in objects {
      for case let relationship? in present.entity(of: object).properties.map(\.relationship)
      where relationship.isStored {
        if try present.partners(of: object, relationship).isEmpty { continue }
        if relationship.isToMany {
          try object.replaceMembers(of: relationship.index, with: [])
        } else {
          try object.setPartner(of: relationship.index, nil)
        }
      }
    }
    for object in objects { try context.delete(object) }
  }
}
