import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// Brings a replica to a moment of the server, or a part of the way, below what was saved here and has not been sent.
struct ReplicaMerge {
  private let writer: GraphWriter
  private let states: [ObjectState]
  private let orders: [ChangeSet.OrderChange]
  private let parts: [PullAnswer]
  /// Whether no further part of the answer follows.
  private let isLast: Bool
  private let aliases: [Int64: Int64]
  /// The properties of each object that were changed here and not sent.
  private var ownProperties: [Int64: Set<Int>] = [:]
  private var ownInserts: Set<Int64> = []
  private var ownDeletes: Set<Int64> = []
  private var ownPairs: [PairName: Bool] = [:]
  private var ownOrders: Set<ListName> = []
  /// The objects that the store shows otherwise than the server does.
  private(set) var deviations: Set<Int64> = []

  /// - Parameter parts: The part of an answer, behind those that were not applied without it.
  init(_ context: ManagedObjectContext, _ parts: [PullAnswer], _ unsent: [ChangeSet], _ aliases: [Int64: Int64]) {
    writer = GraphWriter(context)
    self.parts = parts
    states = parts.flatMap(\.states)
    orders = parts.flatMap(\.orders)
    isLast = parts.last?.next == nil
    self.aliases = aliases
    for set in unsent {
      for object in set.objects {
        ownProperties[object.key, default: []].formUnion(object.values.map(\.property))
        switch object.kind {
        case .inserted: ownInserts.insert(object.key)
        case .updated: break
        case .deleted: ownDeletes.insert(object.key)
        }
      }
      for pair in set.pairs { if let name = pair.name(in: context.model) { ownPairs[name] = pair.isAdded } }
      for order in set.orders { ownOrders.insert(order.name) }
    }
  }

  private var model: Model { writer.model }
  private var view: MomentView { writer.view }

  mutating func run() throws {
    try check()
    var kept: [(state: ObjectState, object: ManagedObject)] = []
    try view.load(Dictionary(states.map { ($0.key, $0.entity) }) { first, _ in first })
    try checkKeys()
    for state in states {
      if let object = try show(state) { kept.append((state, object)) } else { deviations.insert(state.key) }
    }
    for (state, object) in kept { try link(state, object) }
    let others = try otherKeys()
    // Whether others were deleted, is not known of a scope.
    let hasScope = parts.last?.scope.isEmpty == false
    let leaving = parts.flatMap(\.left) + (hasScope ? others : [])
    let gone = parts.flatMap(\.gone) + (hasScope ? [] : others)
    try moveLinksOfUnited(Set(gone + leaving))
    try leave(leaving)
    let going = try view.objects(gone)
    for key in gone { if let object = going[key] { try writer.delete(object) } }
    for (state, object) in kept { try setLists(state, object) }
    for order in orders { try arrange(order) }
  }

  /// Whether an object that is not here comes with a later part. What a state leads to is at the server.
  private func isToCome(_ key: Int64) -> Bool { !isLast && !ownDeletes.contains(key) }

  /// Checks that the numbers in the answer are those of the model.
  private func check() throws(SyncError) {
    for range in parts.lazy.flatMap(\.ranges) where !model.roots.contains(range.entity) {
      throw .refused("an entity is unknown")
    }
    for state in states {
      guard model.entities.indices.contains(state.entity), !model.entities[state.entity].isAbstract, state.key > 0
      else {
        throw .refused("an entity is unknown")
      }
      let properties = model.entities[state.entity].properties
      for value in state.values {
        guard properties.indices.contains(value.property), properties[value.property].isOfRow else {
          throw .refused("a property is unknown")
        }
      }
      for list in state.lists {
        guard properties.indices.contains(list.property), properties[list.property].relationship?.joinTable != nil
        else {
          throw .refused("a relationship is unknown")
        }
      }
    }
    for order in orders {
      guard model.relationship(order.entity, order.property)?.isOrdered == true else {
        throw .refused("a relationship is unknown")
      }
    }
  }

  /// Checks that no new object has the key of an object of another entity.
  private func checkKeys() throws {
    var roots: [Int64: Int] = [:]
    var new: [Int64] = []
    for state in states {
      let root = model.entities[state.entity].root
      if let other = roots.updateValue(root, forKey: state.key), other != root {
        throw SyncError.refused("two objects have the same key")
      }
      if try view.object(state.key, of: state.entity) == nil { new.append(state.key) }
    }
    // Objects that are deleted here are of the same entity.
    guard try view.objects(new).isEmpty else { throw SyncError.refused("two objects have the same key") }
  }

  /// The objects that a whole answer does not have. Without a scope, they are gone.
  private mutating func otherKeys() throws -> [Int64] {
    let there = Set(states.map(\.key))
    var others: [Int64] = []
    for range in parts.lazy.flatMap(\.ranges) {
      for key in try writer.context.keys(of: .all(range.entity, after: range.after, through: range.through))
      where !there.contains(key) && !ownInserts.contains(key) {
        // One that is united hands over its links first, and the other one may come later.
        if !isLast, aliases[key] != nil, try view.objects([aliases.survivor(of: key)]).isEmpty {
          deviations.insert(key)
        } else {
          others.append(key)
        }
      }
    }
    return others
  }

  /// Removes objects that stay at the server. They are not deleted, so no delete rule applies: those that remain are as
  /// the answer says.
  private mutating func leave(_ keys: [Int64]) throws {
    let found = try view.objects(keys)
    // What is not sent yet would be lost to the program if the server refused it.
    let staying = Set(found.keys.filter { ownProperties[$0] != nil })
    deviations.formUnion(staying)
    let leaving = found.filter { !staying.contains($0.key) }.sorted { $0.key < $1.key }
    for (_, object) in leaving {
      for case let relationship? in view.entity(of: object).properties.map(\.relationship) where relationship.isStored {
        for key in try view.partners(of: object, relationship) {
          guard let partner = try view.object(key, of: relationship.destination) else { continue }
          if relationship.isToMany {
            try object.remove(partner, from: relationship.index)
          } else {
            try writer.link(object, relationship, to: nil)
          }
        }
      }
    }
    for (_, object) in leaving { try writer.delete(object) }
  }

  private func isOwn(_ key: Int64, _ property: Int) -> Bool { ownProperties[key]?.contains(property) == true }

  /// - Returns: nil if the object was deleted here.
  private mutating func show(_ state: ObjectState) throws -> ManagedObject? {
    let attributes = state.values.filter { model.property(state.entity, $0.property)?.attribute != nil }
    if let object = try view.object(state.key, of: state.entity) {
      guard view.entity(of: object).index == state.entity else {
        throw SyncError.refused("an object has another entity")
      }
      let news = attributes.filter { !isOwn(state.key, $0.property) }
      if news.count < attributes.count { deviations.insert(state.key) }
      try writer.set(news.map { ($0.property, $0.value) }, of: object)
      return object
    }
    // What is not whole is of an object that was deleted here.
    guard state.isWhole, !ownDeletes.contains(state.key) else { return nil }
    return try writer.insert(state.key, state.entity, attributes.map { ($0.property, $0.value) })
  }

  private mutating func link(_ state: ObjectState, _ object: ManagedObject) throws {
    for value in state.values {
      guard let relationship = model.relationship(state.entity, value.property) else { continue }
      if isOwn(state.key, value.property) {
        deviations.insert(state.key)
        continue
      }
      guard case .integer(let key) = value.value, key > 0 else {
        try writer.link(object, relationship, to: nil)
        continue
      }
      if let partner = try view.object(key, kindOf: relationship.destination) {
        try writer.link(object, relationship, to: partner)
      } else {
        if !relationship.isLeftAlone && !isToCome(key) { deviations.insert(state.key) }
        try writer.link(object, relationship, to: nil)
      }
    }
  }

  private mutating func setLists(_ state: ObjectState, _ object: ManagedObject) throws {
    guard object.managedObjectContext != nil, !object.isDeleted else { return }
    for list in state.lists {
      guard let relationship = model.relationship(state.entity, list.property) else { continue }
      try view.load(Dictionary(list.members.map { ($0, relationship.destination) }) { first, _ in first })
      var wanted: [Int64] = []
      for member in list.members {
        if ownPairs[PairName(relationship, state.key, member, in: model)] == false {
          deviations.insert(state.key)
        } else if try view.object(member, kindOf: relationship.destination) != nil {
          wanted.append(member)
        } else if !isToCome(member) {
          deviations.insert(state.key)
        }
      }
      let wantedSet = Set(wanted)
      for member in try view.partners(of: object, relationship) where !wantedSet.contains(member) {
        if ownPairs[PairName(relationship, state.key, member, in: model)] == true {
          deviations.insert(state.key)
        } else if let partner = try view.object(member, of: relationship.destination) {
          try writer.setPair(object, relationship, partner, isThere: false)
        }
      }
      let present = Set(try view.partners(of: object, relationship))
      for member in wanted where !present.contains(member) {
        guard let partner = try view.object(member, of: relationship.destination) else { continue }
        try writer.setPair(object, relationship, partner, isThere: true)
      }
    }
  }

  private mutating func arrange(_ order: ChangeSet.OrderChange) throws {
    guard let relationship = model.relationship(order.entity, order.property) else { return }
    guard let owner = try view.object(order.owner, kindOf: order.entity) else {
      if !isToCome(order.owner) { deviations.insert(order.owner) }
      return
    }
    // The part with a member that is to come has the order again.
    let known =
      try isLast
      ? order.members
      : order.members.filter { key in
        if ownDeletes.contains(key) { return true }
        return try view.object(key, of: relationship.destination) != nil
      }
    if try ownOrders.contains(order.name) || !writer.arrange(owner, relationship, known) {
      deviations.insert(order.owner)
    }
  }

  /// Objects that are others at the server hand over what was linked to them here. An object with a former key may be
  /// there as well: that of the former self of a copy.
  private mutating func moveLinksOfUnited(_ gone: Set<Int64>) throws {
    for (key, _) in aliases.sorted(by: { $0.key < $1.key }) where gone.contains(key) {
      let survivor = aliases.survivor(of: key)
      let pair = try view.objects([key, survivor])
      guard let former = pair[key], let object = pair[survivor] else { continue }
      for case let relationship? in view.entity(of: former).properties.map(\.relationship) where relationship.isStored {
        // A union may be of two entities with a common ancestor.
        guard model.relationship(view.entity(of: object).index, relationship.index)?.name == relationship.name else {
          continue
        }
        if relationship.isToMany {
          for member in try former.members(of: relationship.index) {
            if relationship.joinTable == nil { try former.remove(member, from: relationship.index) }
            try writer.setPair(object, relationship, member, isThere: true)
          }
        }
      }
      for reference in model.referencesWithoutInverse(to: view.entity(of: former).index) {
        guard let relationship = model.relationship(reference.entity, reference.property) else { continue }
        for holder in try view.holders(of: key, reference).sorted() {
          guard let holder = try view.object(holder, of: reference.entity) else { continue }
          if relationship.isToMany {
            try writer.setPair(holder, relationship, former, isThere: false)
            try writer.setPair(holder, relationship, object, isThere: true)
          } else {
            try writer.link(holder, relationship, to: object)
          }
        }
      }
    }
  }
}
