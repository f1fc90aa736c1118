package import TrellisModel
import TrellisStorage

/// Objects that have the same values in one unique key.
struct KeyClashes {
  let key: UniqueKey
  /// Each object that has the values of another one, and that one, which stays: the one in the store, otherwise the
  /// first one that was saved before, otherwise the first new one.
  var pairs: ContiguousArray<(object: ManagedObject, survivor: ManagedObject)> = []
}

/// Finds objects with the same unique key among the objects that a save writes and the rows in the store.
///
/// It runs only after the store has refused a save because of a key, so other saves have no cost.
struct UniqueConflictFinder {
  /// The objects with values in one key. A class, because its arrays would be copied in a dictionary.
  private final class Contenders {
    // Each access ends before anything else is called, so accesses cannot overlap and need no check.

    let key: UniqueKey
    /// The values of each of the key's properties, in the order in which the objects are written.
    @exclusivity(unchecked) private(set) var values: [[StoredValue]]
    /// The first object that has the values with the same number.
    @exclusivity(unchecked) private(set) var first: [ManagedObject] = []
    /// All objects that have the values, where several have them.
    @exclusivity(unchecked) private(set) var several: [Int: [ManagedObject]] = [:]
    @exclusivity(unchecked) private var numbers = HashTable()

    init(_ key: UniqueKey) {
      self.key = key
      values = key.properties.map { _ in [] }
    }

    /// Adds an object, unless one of its values is null: keys with a null never conflict.
    func add(_ object: ManagedObject) {
      if values.count == 1 {
        let value = object._value(key.properties[0])
        if value.isNull { return }
        var hasher = Hasher()
        value.hash(into: &hasher)
        if isNew(hasher.finalize(), object, where: { values[0][$0] == value }) { values[0].append(value) }
      } else {
        let found = key.properties.map(object._value)
        if found.contains(where: \.isNull) { return }
        var hasher = Hasher()
        for value in found { value.hash(into: &hasher) }
        let isKnown = { (number: Int) in found.indices.allSatisfy { self.values[$0][number] == found[$0] } }
        if isNew(hasher.finalize(), object, where: isKnown) {
          for place in found.indices { values[place].append(found[place]) }
        }
      }
    }

    @inline(__always)
    private func isNew(_ hash: Int, _ object: ManagedObject, where isKnown: (_ number: Int) -> Bool) -> Bool {
      if let number = numbers.find(hash, orAdd: first.count, where: isKnown) {
        several[number, default: [first[number]]].append(object)
        return false
      }
      first.append(object)
      return true
    }
  }

  private let graph: ObjectGraph
  /// Those of each key, few enough for a linear search.
  private var contenders: [Contenders] = []
  /// The contenders of the keys of the entity whose object was added last.
  private var latest: (entity: Int, contenders: [Contenders]) = (-1, [])
  /// The written properties of each saved object.
  private var written: [Int64: ColumnMask] = [:]

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// Adds an object with those of its keys that include a written property. Keys with a null value never conflict.
  mutating func add(_ object: ManagedObject, _ mask: ColumnMask) {
    if object.phase == .persistent { written[object._key] = mask }
    // Most objects come in runs of one entity.
    let entity = type(of: object)._entity
    if latest.entity != entity { latest = (entity, contenders(of: entity)) }
    for known in latest.contenders where mask.bits == .max || known.key.properties.contains(where: mask.contains) {
      known.add(object)
    }
  }

  private mutating func contenders(of entity: Int) -> [Contenders] {
    graph.runtime.info(entity).entity.uniqueKeys.map { key in
      if let known = contenders.first(where: { $0.key == key }) { return known }
      let made = Contenders(key)
      contenders.append(made)
      return made
    }
  }

  /// The conflicts, in the order of the model's keys.
  ///
  /// - Complexity: linear in the number of objects that were added, with one search in the store for each.
  func clashes() throws -> [KeyClashes] {
    var found: [KeyClashes] = []
    for contender in contenders.sorted(by: {
      ($0.key.entity, $0.key.properties[0]) < ($1.key.entity, $1.key.properties[0])
    }) {
      let clashes = clashes(of: contender, try holders(of: contender))
      if !clashes.pairs.isEmpty { found.append(clashes) }
    }
    return found
  }

  private func clashes(of contender: Contenders, _ holders: ContiguousArray<ManagedObject?>) -> KeyClashes {
    var found = KeyClashes(key: contender.key)
    for number in contender.first.indices {
      let holder = holders[number]
      if let several = contender.several[number] {
        let survivor = holder ?? several.first { $0.phase == .persistent } ?? several[0]
        for object in several where object !== survivor { found.pairs.append((object, survivor)) }
      } else if let holder, holder !== contender.first[number] {
        // What most clashes are: one object, and another one in the store.
        found.pairs.append((contender.first[number], holder))
      }
    }
    return found
  }

  // MARK: The store

  /// The objects that have the values in the store and keep them, by the number of the values.
  private func holders(of contender: Contenders) throws -> ContiguousArray<ManagedObject?> {
    var found = ContiguousArray<ManagedObject?>(repeating: nil, count: contender.first.count)
    try graph.connection().holders(of: contender.key, values: contender.values, in: graph.runtime.model) {
      number, row in
      let holder = try graph.object(of: row, batch: 0)
      // A parent may show several, the saved ones first.
      if found.indices.contains(number), found[number] == nil, keeps(holder, contender.key) { found[number] = holder }
    }
    return found
  }

  /// Whether an object in the store keeps its key after the save.
  private func keeps(_ holder: ManagedObject, _ key: UniqueKey) -> Bool {
    guard holder.phase == .persistent else { return false }
    return written[holder._key].map { mask in !key.properties.contains(where: mask.contains) } ?? true
  }
}

/// Numbers by the hash values of what they stand for.
private struct HashTable {
  /// Pairs of a hash value and a number plus 1; 0 for a free place. Their count is a power of two.
  private var places: ContiguousArray<(hash: UInt32, next: UInt32)> = HashTable.free(16)
  private var count = 0

  private static func free(_ size: Int) -> ContiguousArray<(hash: UInt32, next: UInt32)> {
    ContiguousArray(repeating: (0, 0), count: size)
  }

  /// The number that a closure accepts among those with a hash value. If it accepts none, another number is added, and
  /// the result is nil.
  @inline(__always)
  mutating func find(_ hash: Int, orAdd number: Int, where isWanted: (_ number: Int) -> Bool) -> Int? {
    if count * 2 >= places.count { grow() }
    let hash = UInt32(truncatingIfNeeded: hash)
    let last = places.count - 1
    var place = Int(hash) & last
    while places[place].next != 0 {
      let known = Int(places[place].next) - 1
      if places[place].hash == hash && isWanted(known) { return known }
      place = (place + 1) & last
    }
    places[place] = (hash, UInt32(truncatingIfNeeded: number + 1))
    count += 1
    return nil
  }

  private mutating func grow() {
    var wide = Self.free(places.count * 4)
    let last = wide.count - 1
    for entry in places where entry.next != 0 {
      var place = Int(entry.hash) & last
      while wide[place].next != 0 { place = (place + 1) & last }
      wide[place] = entry
    }
    places = wide
  }
}

// MARK: - Unique key merge

/// Whether a save may unite a new object of an entity with the object that has the same values in a unique key. Where it
/// may not, the values are taken, under every policy.
package typealias UnitingKeys = (_ entity: Int, _ key: UniqueKey) -> Bool

/// Merges objects that have the same unique key into one. The survivor keeps its identity and takes over values and
/// links of the others as far as the policy says. The others then belong to no context any more. No delete rule
/// applies.
struct UniqueKeyMerge {
  private let graph: ObjectGraph
  private let policy: MergePolicy
  private let unites: UnitingKeys?

  private struct Union {
    let object: ManagedObject
    let survivor: ManagedObject
    /// The properties whose values are known to be equal, as the bits of a ``ColumnMask``.
    let shared: UInt64
  }

  /// New objects and the survivors that replace them.
  private var unions: ContiguousArray<Union> = []
  /// Saved objects whose changes of a key are discarded.
  private var yielding: [(object: ManagedObject, key: UniqueKey)] = []

  init(_ graph: ObjectGraph, _ policy: MergePolicy, _ unites: UnitingKeys?) {
    self.graph = graph
    self.policy = policy
    self.unites = unites
  }

  // MARK: Deciding

  /// Decides on all conflicts before any change.
  ///
  /// - Throws: ``ValidationError`` with the conflicts that the policy does not settle.
  mutating func decide(_ clashes: [KeyClashes]) throws {
    var rules = ObjectRules(graph)
    for clash in clashes {
      let shared = clash.key.properties.lazy.filter { $0 < 63 }.reduce(0) { $0 | ColumnMask.bit(of: $1) }
      for index in clash.pairs.indices where clash.pairs[index].object.replacement == 0 {
        decide(clash.pairs[index].object, clash.pairs[index].survivor, clash.key, shared, &rules)
      }
    }
    if rules.failures.isEmpty { return }
    for union in unions { union.object.state.replace(by: 0) }
    throw ValidationError(failures: rules.failures)
  }

  private mutating func decide(
    _ object: ManagedObject, _ found: ManagedObject, _ key: UniqueKey, _ shared: UInt64, _ rules: inout ObjectRules
  ) {
    let survivor = survivor(found)
    // Two objects in the store are never merged into one.
    let isNew = object.phase == .inserted
    guard survivor !== object else { return }
    guard isNew ? mayUnite(object, survivor, key) : yields else {
      let entity = graph.runtime.info(key.entity).entity
      let names = key.properties.map { entity.properties[$0].name }
      rules.fail(
        object, names.joined(separator: ", "), .unique,
        names.count == 1 ? "must differ from every other object's" : "must not all be another object's",
        blockers: [AnyObjectID(survivor, graph.info(of: survivor))])
      return
    }
    if isNew {
      // Another survivor than the one that was found need not have the values of this key.
      unions.append(Union(object: object, survivor: survivor, shared: survivor === found ? shared : 0))
      // The mark tells what was decided; nothing else looks at it before the objects are united.
      object.state.replace(by: survivor._key)
    } else {
      yielding.append((object, key))
    }
  }

  /// Whether a new object may become an object with the same key.
  private func mayUnite(_ object: ManagedObject, _ survivor: ManagedObject, _ key: UniqueKey) -> Bool {
    policy != .error && type(of: object) == type(of: survivor) && unites?(type(of: object)._entity, key) != false
  }

  /// Whether a saved object gives up its change of a key.
  private var yields: Bool { unites == nil && policy.storeWins }

  /// The object that finally replaces an object; the object itself if it is not replaced.
  private func survivor(_ object: ManagedObject) -> ManagedObject {
    var found = object
    while found.replacement != 0, let next = graph.map[found.replacement] { found = next }
    return found
  }

  // MARK: Doing

  /// The new objects that are replaced.
  var replaced: some Sequence<ManagedObject> { unions.lazy.map(\.object) }

  mutating func carryOut() throws {
    for (object, key) in yielding {
      if policy.isWhole {
        try graph.rollbackEverything(of: object)
      } else {
        try graph.rollback(object, key.properties)
      }
    }
    guard !unions.isEmpty else { return }
    let unlinks = policy.contextWins
    try forEachUnion { union, info in
      if unlinks && info.hasToOnes { try unlinkPartners(of: union.survivor, asIn: union.object) }
    }
    try forEachUnion(carryOut)
    for index in unions.indices { retire(unions[index].object) }
    graph.pending.dropFormerInserts()
  }

  /// Visits the unions. Most of them come in runs of one entity.
  @inline(__always) private func forEachUnion(_ body: (Union, EntityInfo) throws -> Void) rethrows {
    var place = unions.startIndex
    while place < unions.endIndex {
      let entity = type(of: unions[place].object)._entity
      let info = graph.runtime.info(entity)
      while place < unions.endIndex, type(of: unions[place].object)._entity == entity {
        try body(unions[place], info)
        place += 1
      }
    }
  }

  private func carryOut(_ union: Union, _ info: EntityInfo) throws {
    let (object, survivor) = (union.object, union.survivor)
    survivor._willRead(-1)
    moveValues(union, info)
    if !object.hasNoLinks(info) {
      for relationship in info.allRelationships { try moveLinks(relationship, of: object, to: survivor) }
    }
    if !info.oneWayReferences.isEmpty { try moveOneWayReferences(from: object, to: survivor) }
  }

  private func retire(_ object: ManagedObject) {
    graph.map.remove(object._key)
    object.state.detach()
  }

  // MARK: Values

  private func moveValues(_ union: Union, _ info: EntityInfo) {
    let (object, survivor) = (union.object, union.survivor)
    // The last bit stands for several properties. They are moved together, or none of them.
    let last = ColumnMask.bit(of: 63)
    var candidates = movedAttributes(of: object, info)
    // A survivor without changes still has the values by which it was found.
    if survivor.changedBits == 0 { candidates &= ~union.shared }
    var mask = ColumnMask(bits: 0)
    if candidates & last != 0, !policy.storeWins || lacksLast(survivor, of: object, info) { mask.bits = last }
    candidates &= ~last
    while candidates != 0 {
      let property = candidates.trailingZeroBitCount
      let bit = candidates & (~candidates &+ 1)
      candidates &= ~bit
      let present = survivor._value(property)
      if policy.storeWins && !present.isNull { continue }
      // Equal values need not be written.
      if info.transients.contains(property) || !object._value(property).isSame(as: present) { mask.bits |= bit }
    }
    guard mask.bits != 0 else { return }
    let references = mask.bits & last != 0 ? survivor.references(graph) : []
    survivor.willChangeValues()
    survivor._restore(mask, from: object._copyRow())
    if let transients = object._copyTransients() { survivor._restoreTransients(mask, from: transients) }
    survivor.state.markAssigned(mask.bits)
    // The last bit of the mask may include references. They are moved later, with their other ends.
    for (relationship, key) in references { survivor._setReference(relationship.property, key) }
  }

  /// Whether a survivor has no value for an attribute of the last bit that may be moved.
  private func lacksLast(_ survivor: ManagedObject, of object: ManagedObject, _ info: EntityInfo) -> Bool {
    let isAssigned = ColumnMask(bits: object.changedBits).contains(63)
    return info.entity.properties.contains { property in
      property.index >= 63 && property.attribute != nil && (isAssigned || property.isArgument)
        && survivor._value(property.index).isNull
    }
  }

  /// The attributes that may be moved, as the bits of a ``ColumnMask``. Under `storeTrump` only those are that the
  /// survivor does not have.
  private func movedAttributes(of object: ManagedObject, _ info: EntityInfo) -> UInt64 {
    switch policy {
    case .objectTrump, .storeTrump: info.attributes.bits & (info.arguments.bits | object.changedBits)
    case .overwrite: info.attributes.bits
    case .rollback, .error: 0
    }
  }

  // MARK: Relationships

  /// Clears the to-one relationships of the survivor that the object sets to nil. This is done before links are moved,
  /// because moving takes partners away.
  private func unlinkPartners(of survivor: ManagedObject, asIn object: ManagedObject) throws {
    for relationship in graph.info(of: object).allRelationships
    where graph.presentPartners(of: object, relationship).isEmpty && gives(nothingIn: relationship, object) {
      let old = try graph.partnerKey(of: survivor, relationship)
      if old > 0 { try graph.disconnect(survivor, relationship, old) }
    }
  }

  private func moveLinks(
    _ relationship: Relationship, of object: ManagedObject, to survivor: ManagedObject
  ) throws {
    let partners = graph.presentPartners(of: object, relationship)
    let places = try partners.map { try place(of: object, at: $0, relationship) }
    for (key, place) in zip(partners, places) {
      guard let partner = graph.map[key] else { continue }
      let kept = self.survivor(partner)
      if try isWanted(kept, isMoved: kept !== partner, by: survivor, relationship) {
        try link(survivor, relationship, kept, place)
      }
      try graph.disconnect(object, relationship, key)
    }
  }

  /// Whether nil in a to-one relationship of an object counts as an assigned value.
  private func gives(nothingIn relationship: Relationship, _ object: ManagedObject) -> Bool {
    guard !relationship.isToMany else { return false }
    let isAssigned = relationship.property < 63 && ColumnMask(bits: object.changedBits).contains(relationship.property)
    return policy.contextWins && (policy.isWhole || relationship.isColumn && isAssigned)
  }

  /// Whether a partner is linked to the survivor. A new member of a to-many relationship that is not replaced itself
  /// always is, because it has no other owner.
  private func isWanted(
    _ partner: ManagedObject, isMoved: Bool, by survivor: ManagedObject, _ relationship: Relationship
  ) throws -> Bool {
    guard partner.isAlive else { return false }
    if policy.contextWins { return true }
    let inverse = graph.runtime.inverse(of: relationship)
    // The survivor of a replaced partner keeps the partner that it already has.
    if isMoved, let inverse, !inverse.isToMany, try graph.partnerKey(of: partner, inverse) > 0 { return false }
    if relationship.isToMany { return !policy.isWhole || !isMoved && partner.phase == .inserted }
    if policy.isWhole { return false }
    return try graph.partnerKey(of: survivor, relationship) == 0
  }

  /// The position of an object among its partner's members if the members are ordered.
  private func place(of object: ManagedObject, at partner: Int64, _ relationship: Relationship) throws -> Int? {
    guard let inverse = graph.runtime.inverse(of: relationship), inverse.isOrdered, let partner = graph.map[partner]
    else { return nil }
    return graph.list(of: partner, inverse).place(of: object._key)
  }

  private func link(
    _ survivor: ManagedObject, _ relationship: Relationship, _ partner: ManagedObject, _ place: Int?
  ) throws {
    try graph.prepare(toConnect: survivor, relationship, partner)
    if let place, let inverse = graph.runtime.inverse(of: relationship) {
      try graph.connect(partner, inverse, survivor, at: place)
    } else {
      try graph.connect(survivor, relationship, partner)
    }
  }

  /// Redirects one-way relationships from the object to the survivor.
  private func moveOneWayReferences(from object: ManagedObject, to survivor: ManagedObject) throws {
    let references = graph.oneWayReferences(to: [object])
    if references.isEmpty { return }
    for holder in graph.inserted + graph.changed where holder.isAlive {
      for reference in references where graph.info(of: holder).relationships.contains(reference) {
        guard graph.presentPartners(of: holder, reference).contains(object._key) else { continue }
        let place = reference.isOrdered ? graph.list(of: holder, reference).place(of: object._key) : nil
        try graph.connect(holder, reference, survivor, at: place)
        try graph.disconnect(holder, reference, object._key)
      }
    }
  }
}

extension ManagedObject {
  /// Whether a new object refers to no object, and none is known to refer to it.
  final func hasNoLinks(_ info: EntityInfo) -> Bool {
    !hasLinkNotes && info.references.allSatisfy { _reference($0.property) <= 0 }
  }

}

// MARK: - Replaced by

extension IdentifiedObject {
  /// The object that replaces this one, because a save has found that object in the store with the same unique key, or
  /// has inserted it with that key in the same save. Nil for every other object.
  ///
  /// ```swift
  /// let tag = Tag(in: context, name: "비")
  /// try context.save(mergePolicy: .objectTrump)
  /// let kept = try tag.replacedBy.flatMap { try context.object(with: $0) } ?? tag
  /// ```
  /// A replaced object belongs to no context any more. Its values stay readable.
  public var replacedBy: ObjectID<Self>? { ObjectID(optional: replacement) }
}

// MARK: - One to one conflict finder

/// A partner of a one-to-one relationship that several objects refer to: one in this context, and another one that
/// another context has assigned it to since.
struct PartnerClash {
  /// The object that refers to the partner in this context. Its row holds the reference.
  let object: ManagedObject
  let relationship: Relationship
  let inverse: Relationship
  let partner: Int64
  /// The other object, which still refers to the partner after the save.
  let holder: ManagedObject
  /// Whether the other object refers to the partner in the store. If not, the save writes both objects.
  let isStored: Bool
}

/// Finds the partners of one-to-one relationships that a save assigns to an object while another object refers to them.
///
/// It runs only after the store has refused a save because of a key, so other saves have no cost.
struct OneToOneConflictFinder {
  fileprivate struct Wanted {
    let relationship: Relationship
    let inverse: Relationship
    /// The objects that refer to a partner, by the partner's key.
    var objects: [Int64: [ManagedObject]] = [:]
  }

  private let graph: ObjectGraph
  private var wanted: [RelationshipNumber: Wanted] = [:]
  /// The written properties of each saved object.
  private var written: [Int64: ColumnMask] = [:]

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// Adds the partners of an object's references, if the references are among the written properties.
  mutating func add(_ object: ManagedObject, _ mask: ColumnMask) {
    if object.phase == .persistent { written[object._key] = mask }
    for relationship in graph.info(of: object).allRelationships where mask.contains(relationship.property) {
      guard relationship.isColumn, let inverse = graph.runtime.inverse(of: relationship), !inverse.isToMany,
        object._reference(relationship.property) > 0
      else { continue }
      let number = inverse.number
      wanted[number, default: Wanted(relationship: relationship, inverse: inverse)]
        .objects[object._reference(relationship.property), default: []].append(object)
    }
  }

  /// Finds the conflicts.
  ///
  /// - Complexity: one search in the store for each relationship.
  func clashes() throws -> [PartnerClash] {
    var found: [PartnerClash] = []
    for (number, wanted) in wanted.sortedByKey {
      var takers: [Int64: ManagedObject] = [:]
      for (partner, objects) in wanted.objects.sortedByKey {
        let taker = taker(of: partner, among: objects, wanted.inverse)
        takers[partner] = taker
        for other in objects where other !== taker {
          found.append(wanted.clash(taker, partner, other, isStored: false))
        }
      }
      try graph.connection().members(of: number, owners: takers.keys.sorted()) { partner, row in
        let holder = try graph.object(of: row, batch: 0)
        guard let object = takers[partner], holder !== object, keeps(holder, wanted.relationship) else { return }
        // A parent may show a pair of a relationship that is its own inverse although the other half was edited there.
        if wanted.relationship.isOwnInverse, holder._reference(wanted.relationship.property) != partner { return }
        found.append(wanted.clash(object, partner, holder, isStored: true))
      }
    }
    return found
  }

  /// The object that the partner itself refers to, among several objects.
  private func taker(of partner: Int64, among objects: [ManagedObject], _ inverse: Relationship) -> ManagedObject {
    let known = graph.map[partner].map { graph.presentPartners(of: $0, inverse) } ?? []
    return objects.first { known.contains($0._key) } ?? objects[0]
  }

  /// Whether an object in the store keeps its partner after the save.
  private func keeps(_ holder: ManagedObject, _ relationship: Relationship) -> Bool {
    holder.phase == .persistent && written[holder._key]?.contains(relationship.property) != true
  }
}

extension OneToOneConflictFinder.Wanted {
  fileprivate func clash(
    _ object: ManagedObject, _ partner: Int64, _ holder: ManagedObject, isStored: Bool
  ) -> PartnerClash {
    PartnerClash(
      object: object, relationship: relationship, inverse: inverse, partner: partner, holder: holder, isStored: isStored
    )
  }
}

extension PartnerClash {
  /// The conflict under a policy that does not settle it: both sides have assigned another object to the partner.
  func conflict(_ graph: ObjectGraph) throws -> SaveConflict.Row {
    let shared = try graph.object(partner, entity: relationship.destination)
    guard let shared else {
      return SaveConflict.Row(entity: relationship.destination, key: partner)
    }
    if shared.accessFlags.contains(.fault) { try graph.refreshRows([shared]) }
    return ConflictedRow(shared, graph).partnerTakenByBoth(inverse)
  }

  /// Keeps the partner here. The other object loses it.
  func insist(_ graph: ObjectGraph) throws {
    try graph.prepare(toDisconnect: holder, relationship, [partner])
    guard isStored else { return graph.unlink(holder, relationship, partner) }
    try graph.disconnect(holder, relationship, partner)
    if let shared = graph.map[partner], shared.isAlive { graph.showAtTarget(object, relationship) }
  }

  /// Removes the partner from the object and restores the partner that was read.
  func yield(_ graph: ObjectGraph, isWhole: Bool) throws {
    if object.phase == .inserted {
      try graph.disconnect(object, relationship, partner)
    } else if isWhole {
      try graph.discardChanges(of: object)
    } else {
      try graph.rollback(object, [relationship.property])
    }
    if let shared = graph.map[partner], shared.isAlive { graph.noteStored(holder, relationship) }
  }
}
