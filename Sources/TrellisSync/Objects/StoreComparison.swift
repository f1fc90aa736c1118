import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// Finds what distinguishes a store from a server's moment, for a replica whose own history does not say it any more.
struct StoreComparison {
  private let view: MomentView
  private let part: PullAnswer
  /// What the store's model adds to that of the server's moment; nil if it is the same. It is no change of the store.
  private let added: ModelMatch?
  private var collector: ChangeCollector

  /// - Parameters:
  ///   - context: The store as of a moment.
  ///   - part: A part of a whole answer. Only what it is about is compared.
  static func changes(
    _ context: ManagedObjectContext, since part: PullAnswer, besides added: ModelMatch?, _ empty: ChangeSet
  ) throws -> ChangeSet {
    var comparison = StoreComparison(view: MomentView(context), part: part, added: added, empty)
    try comparison.run()
    return comparison.collector.set
  }

  private init(view: MomentView, part: PullAnswer, added: ModelMatch?, _ empty: ChangeSet) {
    (self.view, self.part, self.added) = (view, part, added)
    collector = ChangeCollector(to: view, empty)
  }

  private var model: Model { view.context.model }

  private mutating func run() throws {
    let there = Set(part.states.map(\.key))
    let here = try view.objects(there)
    for state in part.states {
      guard model.entities.indices.contains(state.entity) else { throw SyncError.refused("an entity is unknown") }
      if let object = here[state.key] {
        guard view.entity(of: object).index == state.entity else {
          throw SyncError.refused("an object has another entity")
        }
        try compare(object, state)
      } else if state.isWhole, added?.origins[state.entity] != .some(nil) {
        collector.addDeleted(state.key, state.entity)
      }
    }
    for range in part.ranges {
      guard model.roots.contains(range.entity) else { throw SyncError.refused("an entity is unknown") }
      let keys = try view.context.keys(of: .all(range.entity, after: range.after, through: range.through))
      let new = try view.objects(keys.filter { !there.contains($0) })
      for key in keys { if let object = new[key] { try collector.addInserted(object) } }
    }
    for order in part.orders {
      guard let relationship = model.relationship(order.entity, order.property), relationship.isOrdered else {
        throw SyncError.refused("a relationship is unknown")
      }
      guard let owner = try view.object(order.owner, of: order.entity) else { continue }
      let members = try view.partners(of: owner, relationship)
      let known = Set(members)
      if order.members.filter(known.contains) != members {
        collector.add(order: relationship, order.owner, members)
      }
    }
  }

  private mutating func compare(_ object: ManagedObject, _ state: ObjectState) throws {
    let entity = view.entity(of: object)
    var values: [ChangeSet.ObjectChange.Value] = []
    for former in state.values where !isAdded(former.property, in: entity) {
      guard entity.properties.indices.contains(former.property),
        let value = try view.rowValue(of: entity.properties[former.property], object)
      else { throw SyncError.refused("a property is unknown") }
      if value.isSame(as: former.value) { continue }
      values.append(.init(property: former.property, value: value, former: former.value))
      if let relationship = entity.properties[former.property].relationship {
        try collector.addOrder(ofListWith: object, relationship)
      }
    }
    collector.addUpdated(object, values)
    for list in state.lists where !isAdded(list.property, in: entity) {
      guard let relationship = model.relationship(entity.index, list.property), relationship.joinTable != nil else {
        throw SyncError.refused("a relationship is unknown")
      }
      try collector.addPairs(of: object, relationship, former: list.members)
    }
  }

  private func isAdded(_ property: Int, in entity: Entity) -> Bool {
    guard let added, entity.properties.indices.contains(property) else { return false }
    return added.origin(of: property, in: entity.index) == nil
  }
}

extension ChangeSet {
  /// Adds what another change set has of other objects, pairs and lists.
  mutating func add(_ other: ChangeSet) {
    let keys = Set(objects.map(\.key))
    objects += other.objects.filter { !keys.contains($0.key) }
    let known = Set(pairs)
    pairs += other.pairs.filter { !known.contains($0) }
    let names = Set(orders.map(\.name))
    orders += other.orders.filter { !names.contains($0.name) }
  }
}
