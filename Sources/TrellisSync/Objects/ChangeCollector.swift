import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// Collects the changes that lead to a moment of a store, each pair and each order once.
struct ChangeCollector {
  private(set) var set: ChangeSet
  /// The store at the moment.
  private let view: MomentView
  private var pairs: Set<PairName> = []
  private var lists: Set<ListName> = []

  init(to view: MomentView, _ empty: ChangeSet) {
    (self.view, set) = (view, empty)
  }

  mutating func addDeleted(_ key: Int64, _ entity: Int) {
    set.objects.append(.init(key: key, entity: entity, kind: .deleted, values: []))
  }

  /// Adds an object with its values, pairs and orders.
  mutating func addInserted(_ object: ManagedObject) throws {
    let entity = view.entity(of: object)
    var values: [ChangeSet.ObjectChange.Value] = []
    for property in entity.properties {
      if let value = try view.rowValue(of: property, object) {
        values.append(.init(property: property.index, value: value, former: .null))
      }
      guard let relationship = property.relationship else { continue }
      try addOrder(ofListWith: object, relationship)
      try addPairs(of: object, relationship, former: [])
    }
    set.objects.append(.init(key: object._key, entity: entity.index, kind: .inserted, values: values))
  }

  mutating func addUpdated(_ object: ManagedObject, _ values: [ChangeSet.ObjectChange.Value]) {
    if values.isEmpty { return }
    set.objects.append(
      .init(key: object._key, entity: view.entity(of: object).index, kind: .updated, values: values))
  }

  /// Adds the pairs of a join table, and their order, that have changed since an object had some former members.
  mutating func addPairs(of object: ManagedObject, _ relationship: Relationship, former: [Int64]) throws {
    guard relationship.joinTable != nil else { return }
    let members = try view.partners(of: object, relationship)
    if members == former { return }
    let (old, new) = (Set(former), Set(members))
    for member in members where !old.contains(member) { add(pair: relationship, object._key, member, isAdded: true) }
    // Pairs of objects that are deleted go with them.
    let left = try view.objects(former.filter { !new.contains($0) })
    for member in former where left[member] != nil { add(pair: relationship, object._key, member, isAdded: false) }
    if relationship.isOrdered && !members.isEmpty { add(order: relationship, object._key, members) }
  }

  /// Adds the order of the list that an object is in by a to-one.
  mutating func addOrder(ofListWith object: ManagedObject, _ relationship: Relationship) throws {
    guard relationship.home.isColumn, let inverse = view.context.model.inverse(of: relationship), inverse.isOrdered,
      let key = try view.partners(of: object, relationship).first, let owner = try view.object(key, of: inverse.entity)
    else { return }
    add(order: inverse, key, try view.partners(of: owner, inverse))
  }

  mutating func add(order relationship: Relationship, _ owner: Int64, _ members: [Int64]) {
    guard lists.insert(ListName(relationship, owner)).inserted else { return }
    set.orders.append(
      .init(entity: relationship.entity, property: relationship.index, owner: owner, members: members))
  }

  private mutating func add(pair relationship: Relationship, _ owner: Int64, _ member: Int64, isAdded: Bool) {
    let name = PairName(relationship, owner, member, in: view.context.model)
    if pairs.insert(name).inserted { set.pairs.append(name.change(isAdded: isAdded)) }
  }
}
