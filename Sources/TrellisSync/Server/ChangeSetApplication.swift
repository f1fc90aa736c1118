import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// Applies a change set of a replica to a server's store, in one save or not at all.
struct ChangeSetApplication {
  /// The refusal of a whole change set.
  private struct Refusal: Error {
    let reason: SyncConflict.Reason
    var failures: [String] = []
  }

  private let set: ChangeSet
  private let replica: Int64
  private let time: Int64
  private let others: OtherChanges?
  private let policy: SyncPolicy
  private var rights: RightsCheck?
  private let writer: GraphWriter
  private var losses: [SyncConflict.Loss] = []
  private var inserted: [ManagedObject] = []
  /// The keys of new objects that objects of any entity have.
  private var taken: Set<Int64> = []
  private var isMerged = false

  /// - Parameters:
  ///   - set: The change set, with the keys that its objects have at the server.
  ///   - note: Makes the note of the outcome, which is saved with the objects. It is called when everything is decided, and
  ///     throws if others have changed meanwhile what the decisions are about.
  /// - Throws: ``SaveConflict``, ``StoreNoteConflict`` and ``StoreError`` if other writers have to be seen first, or the
  ///   store fails.
  static func outcome(
    of set: ChangeSet, by replica: Int64, at time: Int64, _ others: OtherChanges?, _ policy: SyncPolicy,
    rights: RightsCheck? = nil, in context: ManagedObjectContext, note: (PushOutcome) throws -> StoreNote
  ) throws -> PushOutcome {
    var outcome = PushOutcome(sequence: set.sequence, id: set.id, verdict: .accepted)
    do {
      var application = ChangeSetApplication(set, replica, time, others, policy, rights, context)
      try application.apply()
      try application.checkRights()
      outcome.losses = application.losses
      outcome.verdict = application.losses.isEmpty && !application.isMerged ? .accepted : .merged
      context.notes = [try note(outcome)]
      do {
        try context.save(mergePolicy: .error)
        return outcome
      } catch let broken as ValidationError {
        guard broken.failures.contains(where: { $0.rule == .unique }) else { throw broken }
        return try application.uniting(outcome, note)
      }
    } catch let refusal as Refusal {
      outcome.reason = refusal.reason
      outcome.failures = refusal.failures
    } catch let broken as ValidationError {
      outcome.reason = .brokenRules
      outcome.failures = broken.failures.prefix(20).map { "\($0)" }
    } catch is RefusedValue {
      outcome.reason = .unknownValues
    } catch let error as SyncError where error.code == .refusedMessage {
      outcome.reason = .unknownValues
    } catch let error as StoreError where error.code == .notUnique {
      outcome.reason = .brokenRules
      outcome.failures = [error.message]
    }
    context.rollback()
    outcome.verdict = .refused
    outcome.losses = []
    outcome.unions = []
    context.notes = [try note(outcome)]
    try context.save()
    return outcome
  }

  private init(
    _ set: ChangeSet, _ replica: Int64, _ time: Int64, _ others: OtherChanges?, _ policy: SyncPolicy,
    _ rights: RightsCheck?, _ context: ManagedObjectContext
  ) {
    (self.set, self.replica, self.time, self.others, self.policy) = (set, replica, time, others, policy)
    self.rights = rights
    writer = GraphWriter(context)
  }

  private var model: Model { writer.model }
  private var view: MomentView { writer.view }

  /// Saves new objects as the ones that have the same unique keys.
  private func uniting(_ first: PushOutcome, _ note: (PushOutcome) throws -> StoreNote) throws -> PushOutcome {
    // The note has to say which objects are united, and they are known after the save: so the clashes are found first.
    var outcome = first
    outcome.verdict = .merged
    var survivors: [Int64: Int64] = [:]
    for object in inserted {
      if let survivor = try holder(ofKeysOf: object), survivor !== object { survivors[object._key] = survivor._key }
    }
    if let rights {
      var refusals: [String] = []
      for object in inserted {
        for survivor in try holders(ofKeysOf: object) {
          refusals += try rights.refusals(uniting: object, with: survivor)
        }
      }
      try refuse(refusals)
    }
    outcome.unions = survivors.sorted { $0.key < $1.key }.map { .init(key: $0.key, survivor: $0.value) }
    writer.context.notes = [try note(outcome)]
    try writer.context.save(mergePolicy: .objectTrump)
    return outcome
  }

  private func holder(ofKeysOf object: ManagedObject) throws -> ManagedObject? {
    for key in view.entity(of: object).uniqueKeys {
      if let found = try holder(of: key, object) { return found }
    }
    return nil
  }

  /// The keys of all objects that have a unique key of an object.
  private func holders(ofKeysOf object: ManagedObject) throws -> [Int64] {
    Set(try view.entity(of: object).uniqueKeys.compactMap { try holder(of: $0, object)?._key }).sorted()
  }

  private func holder(of key: UniqueKey, _ object: ManagedObject) throws -> ManagedObject? {
    let entity = view.entity(of: object)
    let values = try key.properties.map { try view.rowValue(of: entity.properties[$0], object) ?? .null }
    if values.contains(where: \.isNull) { return nil }
    let found = try writer.context.holders(of: key, values: values.map { [$0] }).first ?? nil
    return found === object ? nil : found
  }

  // MARK: Rights

  private func checkRights() throws {
    if let rights { try refuse(rights.refusals(in: view)) }
  }

  private func refuse(_ failures: [String]) throws {
    if !failures.isEmpty { throw Refusal(reason: .notAllowed, failures: Array(failures.prefix(20))) }
  }

  // MARK: Applying

  private mutating func apply() throws {
    for object in set.objects { try check(object) }
    try rights?.add(set)
    try view.load(Dictionary(set.objects.map { ($0.key, $0.entity) }) { first, _ in first })
    // At once for all, since each entity has a table of its own.
    taken = Set(try view.objects(set.objects.filter { $0.kind == .inserted }.map(\.key)).keys)
    for object in set.objects where object.kind == .inserted { try insert(object) }
    for object in set.objects where object.kind == .updated { try update(object) }
    for object in set.objects where object.kind != .deleted { try link(object) }
    for pair in set.pairs { try setPair(pair) }
    try delete()
    for order in set.orders { try arrange(order) }
  }

  /// Checks that the numbers are those of the model.
  private func check(_ object: ChangeSet.ObjectChange) throws {
    guard model.entities.indices.contains(object.entity), object.key > 0 else { throw Refusal(reason: .unknownValues) }
    let entity = model.entities[object.entity]
    for value in object.values {
      guard entity.properties.indices.contains(value.property), entity.properties[value.property].isOfRow else {
        throw Refusal(reason: .unknownValues)
      }
      guard entity.properties[value.property].relationship == nil || value.value.isKeyOrNull else {
        throw Refusal(reason: .unknownValues)
      }
    }
    if object.kind == .inserted && entity.isAbstract { throw Refusal(reason: .unknownValues) }
  }

  private mutating func insert(_ object: ChangeSet.ObjectChange) throws {
    // Only the replica itself gives out keys with its number; the key of a united object is that of the server's.
    if try view.object(object.key, of: object.entity) != nil {
      guard object.key / KeyReservation.replicaSpace != replica else { throw Refusal(reason: .unknownValues) }
      return try update(object)
    }
    guard object.key / KeyReservation.replicaSpace == replica, taken.insert(object.key).inserted else {
      throw Refusal(reason: .unknownValues)
    }
    inserted.append(try writer.insert(object.key, object.entity, object.values.map { ($0.property, $0.value) }))
  }

  private mutating func update(_ object: ChangeSet.ObjectChange) throws {
    guard let present = try view.object(object.key, of: object.entity) else { throw Refusal(reason: .deleted) }
    guard view.entity(of: present).index == object.entity else { throw Refusal(reason: .unknownValues) }
    var values: [(property: Int, value: StoredValue)] = []
    for value in object.values {
      guard let property = model.property(object.entity, value.property), property.attribute != nil,
        let found = try decided(value, property, present, object)
      else { continue }
      values.append((value.property, found))
    }
    try writer.set(values, of: present)
  }

  private mutating func link(_ object: ChangeSet.ObjectChange) throws {
    guard let present = try view.object(object.key, of: object.entity) else { throw Refusal(reason: .deleted) }
    for value in object.values {
      guard let property = model.property(object.entity, value.property), let relationship = property.relationship
      else { continue }
      guard try object.kind == .inserted || decided(value, property, present, object) != nil else { continue }
      guard case .integer(let key) = value.value, key > 0 else {
        try writer.link(present, relationship, to: nil)
        continue
      }
      if let partner = try view.object(key, kindOf: relationship.destination) {
        try writer.link(present, relationship, to: partner)
      } else {
        if relationship.isRequired { throw Refusal(reason: .partnerGone) }
        if !relationship.isLeftAlone { lose(object.key, property.name, .partnerGone) }
        try writer.link(present, relationship, to: nil)
      }
    }
  }

  /// The value that a property gets; nil if the server's stays.
  private mutating func decided(
    _ value: ChangeSet.ObjectChange.Value, _ property: Property, _ present: ManagedObject,
    _ object: ChangeSet.ObjectChange
  ) throws -> StoredValue? {
    guard let others, object.kind == .updated else { return value.value }
    let current = try view.rowValue(of: property, present) ?? .null
    guard let other = others.change(of: object.key, property.name, isOther: !current.isSame(as: value.former)) else {
      return value.value
    }
    let decision = policy.decision(object.entity, property, in: model)
    // Also if both have the same value: what two tills take out of a stock is taken out twice.
    if decision == .sum, let sum = property.attribute?.sum(current, value.value, without: value.former) {
      isMerged = true
      return sum
    }
    if current.isSame(as: value.value) { return nil }
    switch decision {
    case .replica: return value.value
    case .server: break
    case .latest, .sum: if time >= other.time { return value.value }
    }
    lose(object.key, property.name, .overruled)
    return nil
  }

  private mutating func lose(_ key: Int64, _ property: String?, _ reason: SyncConflict.Reason) {
    losses.append(SyncConflict.Loss(key: key, property: property, reason: reason))
  }

  private mutating func setPair(_ pair: ChangeSet.PairChange) throws {
    guard let relationship = model.relationship(pair.entity, pair.property), relationship.joinTable != nil else {
      throw Refusal(reason: .unknownValues)
    }
    guard let owner = try view.object(pair.owner, kindOf: relationship.entity),
      let member = try view.object(pair.member, kindOf: relationship.destination)
    else {
      if pair.isAdded { lose(pair.owner, relationship.name, .partnerGone) }
      return
    }
    try writer.setPair(owner, relationship, member, isThere: pair.isAdded)
  }

  private mutating func delete() throws {
    var going: [ManagedObject] = []
    for object in set.objects where object.kind == .deleted {
      guard let present = try view.object(object.key, of: object.entity) else { continue }
      // A delete does not remove values that the replica has not read.
      if let others, others.isExpired || others.change(of: object.key) != nil { throw Refusal(reason: .changed) }
      going.append(present)
    }
    if var rights {
      for object in going { try rights.add(deleted: object, in: view) }
      self.rights = rights
    }
    for object in going { try writer.delete(object) }
  }

  private mutating func arrange(_ order: ChangeSet.OrderChange) throws {
    guard let relationship = model.relationship(order.entity, order.property), relationship.isOrdered else {
      throw Refusal(reason: .unknownValues)
    }
    guard let owner = try view.object(order.owner, kindOf: relationship.entity) else { return }
    try view.load(Dictionary(order.members.map { ($0, relationship.destination) }) { first, _ in first })
    if try !writer.arrange(owner, relationship, order.members) { isMerged = true }
  }
}

extension StoredValue {
  fileprivate var isKeyOrNull: Bool {
    switch self {
    case .null: true
    case .integer(let key): key > 0
    default: false
    }
  }
}

extension Attribute {
  /// A number with the difference of two others; nil if the values are no numbers, or the type has no such number.
  fileprivate func sum(_ number: StoredValue, _ value: StoredValue, without former: StoredValue) -> StoredValue? {
    guard type.hasSum else { return nil }
    let sum = ValueArithmetic.compute(.add, number, ValueArithmetic.compute(.subtract, value, former))
    switch (type, sum) {
    case (.integer(let type), .integer(let number)): return type.range.contains(number) ? sum : nil
    case (.float, .real(let sum)): return Float(sum).isFinite ? .real(Double(Float(sum))) : nil
    case (.double, .real), (.decimal, .text): return sum
    default: return nil
    }
  }
}
