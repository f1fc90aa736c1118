import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// Asks the server's program whether a user may change what a change set changes.
///
/// The set names objects and properties, but the questions are about effects: whether there is an object before and after
/// decides what is an insert, an update and a delete, and objects that lose a partner or are taken along count, too.
struct RightsCheck {
  private let user: String?
  private let rights: SyncServer.Rights
  /// The server's objects without the changes.
  private let former: MomentView
  private var changes: [Int64: (entity: Int, names: Set<String>)] = [:]
  private var deletes: [Int64: Int] = [:]

  /// - Parameter context: A context of the server's store without unsaved changes.
  init(_ user: String?, _ rights: @escaping SyncServer.Rights, _ context: ManagedObjectContext) {
    (self.user, self.rights) = (user, rights)
    former = MomentView(context)
  }

  private var model: Model { former.context.model }

  // MARK: What changes

  /// Takes up what a change set names.
  mutating func add(_ set: ChangeSet) throws {
    try former.load(Dictionary(set.objects.map { ($0.key, $0.entity) }) { first, _ in first })
    for object in set.objects where object.kind != .deleted {
      note(object.key, object.entity)
      for value in object.values {
        note(object.key, object.entity, value.property)
        if let relationship = model.relationship(object.entity, value.property) {
          try addFormerPartners(of: value.value, relationship, object.key)
        }
      }
    }
    for pair in set.pairs {
      guard let relationship = model.relationship(pair.entity, pair.property) else { continue }
      note(pair.owner, pair.entity, pair.property)
      if let inverse = model.inverse(of: relationship) { note(pair.member, inverse.entity, inverse.index) }
    }
    for order in set.orders { note(order.owner, order.entity, order.property) }
  }

  /// Takes up a deleted object, with what its delete rule takes along.
  ///
  /// - Parameter view: The objects after all other changes of the set, since these may add members.
  mutating func add(deleted object: ManagedObject, in view: MomentView) throws {
    var rest = [object]
    while let object = rest.popLast() {
      let entity = view.entity(of: object)
      if deletes.updateValue(entity.index, forKey: object._key) != nil { continue }
      for case let relationship? in entity.properties.map(\.relationship) where relationship.deleteRule == .cascade {
        for key in try view.partners(of: object, relationship) where deletes[key] == nil {
          if let partner = try view.object(key, of: relationship.destination) { rest.append(partner) }
        }
      }
    }
  }

  private mutating func note(_ key: Int64, _ entity: Int, _ property: Int? = nil) {
    var change = changes[key] ?? (entity, [])
    if let property, let found = model.property(entity, property) { change.names.insert(found.name) }
    changes[key] = change
  }

  /// A one-to-one takes the partner away from the object that had it.
  private mutating func addFormerPartners(
    of value: StoredValue, _ relationship: Relationship, _ object: Int64
  ) throws {
    guard let inverse = model.inverse(of: relationship), !inverse.isToMany, case .integer(let key) = value,
      let partner = try former.object(key, kindOf: relationship.destination)
    else { return }
    for holder in try former.partners(of: partner, inverse) where holder != object {
      note(holder, relationship.entity, relationship.index)
    }
    if relationship.isOwnInverse { note(key, relationship.entity, relationship.index) }
  }

  // MARK: Questions

  /// The changes that are not allowed, as sentences without user data.
  ///
  /// - Parameter view: The objects with all changes of the set.
  func refusals(in view: MomentView) throws -> [String] {
    var refusals: [String] = []
    try former.load(changes.mapValues(\.entity).merging(deletes) { first, _ in first })
    for (key, entity) in deletes.sorted(by: { $0.key < $1.key }) {
      guard let before = try former.object(key, of: entity) else { continue }
      try ask(.delete, key, before, nil, [], &refusals)
    }
    for (key, change) in changes.sorted(by: { $0.key < $1.key }) where deletes[key] == nil {
      let before = try former.object(key, of: change.entity)
      guard let after = try view.object(key, of: change.entity) else { continue }
      if before != nil && change.names.isEmpty { continue }
      try ask(before == nil ? .insert : .update, key, before, after, change.names, &refusals)
    }
    return refusals
  }

  /// The refusal of what happens to an object that gets the values of a new one, since their unique keys are the same.
  func refusals(uniting object: ManagedObject, with survivor: Int64) throws -> [String] {
    var refusals: [String] = []
    let entity = former.entity(of: object)
    if let before = try former.object(survivor, of: entity.index) {
      try ask(.update, survivor, before, object, changes[object._key]?.names ?? [], &refusals)
    }
    return refusals
  }

  private func ask(
    _ kind: SyncAccess.Kind, _ key: Int64, _ before: ManagedObject?, _ after: ManagedObject?, _ names: Set<String>,
    _ refusals: inout [String]
  ) throws {
    guard let object = before ?? after else { return }
    let entity = former.entity(of: object)
    let access = SyncAccess(
      user: user, kind: kind, entity: model.name(ofEntity: entity.index), before: before, after: after,
      properties: names, context: former.context)
    if try rights(access) { return }
    let what = kind == .update ? "change \(names.sorted().joined(separator: ", ")) of" : kind.rawValue
    refusals.append("The user may not \(what) \(access.entity)#\(key).")
  }
}
