import TrellisModel
import TrellisStorage

extension ObjectGraph {
  /// Restores the last fetched or saved values of properties of a saved object. The inverses of relationships are
  /// updated.
  ///
  /// - Throws: ``StoreError`` or ``ContextError`` if objects that have to be updated cannot be loaded; then nothing has
  ///   changed.
  func rollback(_ object: ManagedObject, _ numbers: some Sequence<Int>) throws {
    let all = info(of: object).relationships
    var attributes: [Int] = []
    var relationships: [Relationship] = []
    var former: [(relationship: Relationship, partners: [Int64])] = []
    for number in Set(numbers).sorted() where all.indices.contains(number) {
      guard let relationship = all[number] else {
        attributes.append(number)
        continue
      }
      relationships.append(relationship)
      guard let partners = try formerPartners(of: object, relationship) else { continue }
      try prepare(object, relationship, for: partners)
      former.append((relationship, partners))
    }
    for (relationship, partners) in former { try link(object, relationship, to: partners) }
    for relationship in relationships { unlinkDeleted(object, relationship) }
    restore(attributes, of: object)
    forgetUnchanged([object])
  }

  /// Withdraws a new object. Saved objects that were its partners are linked to their former partners again.
  func withdraw(_ object: ManagedObject) throws {
    for relationship in info(of: object).allRelationships {
      guard let inverse = runtime.inverse(of: relationship) else { continue }
      for key in partnersWithHidden(of: object, relationship) {
        guard let partner = map[key] else { continue }
        if !partner.isAlive {
          // It would show the object again once its delete is reverted.
          unlink(partner, inverse, object._key)
          continue
        }
        if partner.phase == .persistent && !inverse.isToMany { try rollback(partner, [inverse.property]) }
        try disconnect(object, relationship, key)
      }
    }
    unlinkOneWay(from: object)
    markDeleted(object)
  }

  /// Reverts the edits of an object's own row and of its pairs, so that both ends of its relationships stay consistent.
  /// To-manys that are stored in the members' rows keep their added and removed members, but not their order.
  ///
  /// - Throws: the same errors as ``rollback(_:_:)``.
  func discardChanges(of object: ManagedObject) throws {
    adoptDeferredLists(of: object)
    guard object.isInChangedList else { return }
    let info = info(of: object)
    try rollback(
      object, info.entity.properties.indices.filter { info.relationships[$0]?.home != .inverseColumn })
    for relationship in info.allRelationships { loadAnew(relationship, of: object) }
    forgetUnchanged([object])
  }

  /// Transfers changes of an object's to-manys that were noted before the object was in memory to the object.
  func adoptDeferredLists(of object: ManagedObject) {
    if pending.deferredLists.lists.isEmpty { return }
    for relationship in info(of: object).allRelationships where relationship.isJoined {
      _ = list(of: object, relationship)
    }
  }

  /// Removes objects that equal their last fetched or saved state from the list of changed objects.
  func forgetUnchanged(_ objects: some Sequence<ManagedObject>) {
    var isAny = false
    for object in objects where object.isInChangedList && object.phase == .persistent {
      if object.changedBits != 0 {
        let info = info(of: object)
        if object.changedProperties(info) != 0 || object.changedBits & info.transients.bits != 0 { continue }
      }
      // Partners whose rows refer to the object may have unsaved changes.
      if object.hasLinkNotes, !object.partners.isEmpty || object.hasChangedLists || object.hidesMembers { continue }
      object.forgetEdits()
      isAny = true
    }
    if isAny { pending.dropUnchanged() }
  }

  // MARK: Values

  private func restore(_ attributes: [Int], of object: ManagedObject) {
    let attributes = attributes.filter { object.changedBits & ColumnMask.bit(of: $0) != 0 }
    if attributes.isEmpty { return }
    object.willChangeValues()
    for mask in ColumnMask.masks(of: attributes) { object.restoreCommitted(mask) }
    // Bit 63 may stand for several properties, which are compared anyway.
    for number in attributes where number < 63 { object.state.unmark(ColumnMask.bit(of: number)) }
  }

  // MARK: Partners

  /// The partners that a saved object had when it was last fetched or saved; nil if they are unchanged.
  func formerPartners(of object: ManagedObject, _ relationship: Relationship) throws -> [Int64]? {
    if relationship.isToMany { return try formerMembers(of: object, relationship) }
    let present = try partnerKey(of: object, relationship)
    let former = try formerPartner(of: object, relationship)
    return former == present ? nil : former == 0 ? [] : [former]
  }

  private func formerPartner(of object: ManagedObject, _ relationship: Relationship) throws -> Int64 {
    if relationship.isTransient { return 0 }
    guard relationship.isColumn else {
      var found: Int64 = 0
      try connection(reading: relationship.destination).members(of: relationship.number, owners: [object._key]) {
        _, row in found = row.key
      }
      return found
    }
    guard let committed = object.committedRow else { return object._reference(relationship.property) }
    guard case .integer(let key) = committed.value(relationship.property) else { return 0 }
    return key
  }

  private func formerMembers(of object: ManagedObject, _ relationship: Relationship) throws -> [Int64]? {
    guard let list = object.list(of: relationship.property), list.hasChanges else { return nil }
    if !list.isLoaded { try loadKeys(of: [object], relationship) }
    return Array(list.base)
  }

  /// Loads the objects that change when former partners are linked again and others are unlinked.
  private func prepare(_ object: ManagedObject, _ relationship: Relationship, for former: [Int64]) throws {
    let present = Set(presentPartners(of: object, relationship))
    try loadForChange(former, of: relationship)
    try prepare(toDisconnect: object, relationship, present.subtracting(former).sorted())
    let coming = former.filter { !present.contains($0) }.compactMap { map[$0] }.filter(\.isAlive)
    for partner in coming { try prepare(toConnect: object, relationship, partner) }
    // The position of a member can only be restored in a list with all members.
    guard let inverse = runtime.inverse(of: relationship), inverse.isOrdered else { return }
    try loadKeys(of: coming.filter { !list(of: $0, inverse).isLoaded }, inverse)
  }

  /// Links former partners that are alive again, and unlinks the others.
  private func link(_ object: ManagedObject, _ relationship: Relationship, to former: [Int64]) throws {
    let present = Set(presentPartners(of: object, relationship))
    for key in present.subtracting(former).sorted() { try disconnect(object, relationship, key) }
    for key in former where !present.contains(key) {
      guard let partner = map[key], partner.isAlive else { continue }
      if isHalfOfCouple(object, relationship, partner) {
        setReference(of: object, relationship, to: key)
        continue
      }
      try connect(object, relationship, partner)
      if let inverse = runtime.inverse(of: relationship), inverse.isOrdered { putBack(object._key, partner, inverse) }
    }
    if relationship.isToMany { rearrange(object, relationship) }
  }

  /// Unlinks members that were linked here and deleted since. Otherwise they would show the object again once their
  /// deletes are reverted.
  private func unlinkDeleted(_ object: ManagedObject, _ relationship: Relationship) {
    guard relationship.isJoined, let list = object.list(of: relationship.property) else { return }
    for key in list.hiddenKeys.sorted() where list.hasRead(key) == false && map[key] != nil {
      setPair(object, relationship, key, isLinked: false, wasLinked: true)
    }
  }

  /// Whether a former partner's own row did not refer to the object. A parent shows its child such a pair while the
  /// parent's edit of the partner is unsaved; rolling back to it must not edit the partner.
  private func isHalfOfCouple(
    _ object: ManagedObject, _ relationship: Relationship, _ partner: ManagedObject
  ) -> Bool {
    guard relationship.isOwnInverse, relationship.isColumn, partner !== object, partner.phase == .persistent else {
      return false
    }
    let committed = partner.committedRow?.value(relationship.property) ?? partner._value(relationship.property)
    return committed.key != object._key
  }

  /// Drops a list in a join table, so that it is loaded again. A list that is stored in the members' rows keeps its
  /// added and removed members.
  private func loadAnew(_ relationship: Relationship, of object: ManagedObject) {
    if relationship.isJoined { object.removeLists { $0.property == relationship.property } }
    // A reverted order can be undone like any other change.
    if recorder != nil && relationship.home == .inverseColumn { rearrange(object, relationship) }
    guard relationship.home == .inverseColumn, let list = object.list(of: relationship.property) else { return }
    unload(list, of: object, relationship, keepingOrder: false)
  }
}

// MARK: - Property probe

extension IdentifiedObject {
  /// The numbers of the properties that a key path reads: one number for a property of the model, several for a
  /// property that is computed from others.
  ///
  /// The property is read while the object records its reads, so that generated code need not list its properties
  /// again. Nothing is loaded meanwhile: a partner that is not in memory reads as nil, a to-many as empty, and external
  /// data as no bytes.
  func numbers<Value>(of path: KeyPath<Self, Value>) -> [Int] {
    guard let graph = link.graph else { return [] }
    graph.probed.removeAll()
    state.setProbed(true)
    let value = self[keyPath: path]
    state.setProbed(false)
    if let view = value as? any ToManyView, let property = view.property(of: self) { graph.probed.append(property) }
    defer { graph.probed.removeAll() }
    return graph.probed.filter { $0 >= 0 }
  }
}

extension ToManyView {
  /// The property's number if this is the relationship of an object; nil otherwise.
  fileprivate func property(of object: ManagedObject) -> Int? {
    if case .relationship(object, let property) = _storage { property } else { nil }
  }
}

// MARK: - Object rollback

extension IdentifiedObject {
  /// Whether a property differs from the last fetched or saved state. A property of a new object always does.
  ///
  /// ```swift
  /// saveButton.isEnabled = diary.hasChanges(\.content) || diary.hasChanges(\.tags)
  /// ```
  /// - Parameter property: A property of the model, or one that is computed from properties of the model.
  /// - Complexity: linear in the number of the object's properties.
  public func hasChanges<Value>(_ property: KeyPath<Self, Value>) -> Bool {
    let numbers = numbers(of: property)
    if phase == .inserted { return !numbers.isEmpty }
    guard phase == .persistent else { return false }
    let changed = changedNumbers
    return numbers.contains { number in
      changed.contains(number) || list(of: number)?.hasChanges == true
    }
  }

  /// The members of a to-many relationship in the last fetched or saved state, without those that were deleted since.
  ///
  /// - Throws: ``StoreError`` if members have to be loaded and the store fails.
  public func committedMembers<View: ToManyView>(of property: KeyPath<Self, View>) throws -> [View.Element] {
    guard phase == .persistent, let graph = link.graph else { return [] }
    var members: [View.Element] = []
    for number in numbers(of: property) {
      guard let relationship = graph.relationship(number, of: self) else { continue }
      let list = try graph.loadedList(of: self, relationship)
      for key in list.base {
        let member = try graph.object(key, entity: relationship.destination)
        if let member = member as? View.Element, member.isAlive { members.append(member) }
      }
    }
    return members
  }

  /// Reverts the changes of a property since the object was last fetched or saved. The inverses of a relationship are
  /// updated.
  ///
  /// ```swift
  /// diary.content = "…"
  /// diary.mood = "happy"
  /// try diary.rollback(\.content)   // the mood stays
  /// ```
  /// Properties of new and deleted objects are unchanged.
  ///
  /// - Parameter property: A property of the model, or one that is computed from properties of the model.
  /// - Throws: ``StoreError`` if former partners have to be loaded and the store fails.
  public func rollback<Value>(_ property: KeyPath<Self, Value>) throws {
    guard phase == .persistent, let graph = link.graph else { return }
    let watch = LinkWatch(graph, "a rollback of a property", changing: [self])
    defer { watch.end() }
    let numbers = numbers(of: property)
    try graph.adoptStoredReferences(of: self, numbers)
    try graph.rollback(self, numbers)
    graph.settleCouples(around: [self])
    graph.settleBacklog()
  }
}

extension ManagedObject {
  /// Reverts all changes of this object since it was last fetched or saved: values and relationships are restored, a
  /// delete is reverted together with its cascade, and the insert of a new object is withdrawn.
  ///
  /// Other objects change only at the inverses of the object's relationships.
  ///
  /// - Throws: ``StoreError`` if former partners have to be loaded and the store fails.
  /// - Complexity: linear in the number of changed objects of the context.
  public final func rollback() throws {
    guard let graph = attachedGraph, graph.isAllowed("rollback") else { return }
    let watch = LinkWatch(graph, "a rollback of an object", changing: [self])
    defer {
      graph.settleCouples(around: [self])
      graph.settleBacklog()
      watch.end()
    }
    if phase == .inserted { return try graph.withdraw(self) }
    if phase == .deleted { graph.undelete(self) }
    guard phase == .persistent else { return }
    try graph.rollbackEverything(of: self)
  }
}

extension ObjectGraph {
  /// Reverts every change of a saved object. The backlog is not processed, because a save that calls this may have to
  /// revert it.
  ///
  /// - Throws: the same errors as ``rollback(_:_:)``.
  func rollbackEverything(of object: ManagedObject) throws {
    adoptDeferredLists(of: object)
    guard object.isInChangedList else { return }
    let numbers = Array(info(of: object).entity.properties.indices)
    try adoptStoredReferences(of: object, numbers)
    try rollback(object, numbers)
  }
}

// MARK: - Rollback of everything, refresh

extension ObjectGraph {
  /// Discards all changes since the last save.
  func rollback() {
    guard isAllowed("rollback") else { return }
    let watch = LinkWatch(self, "a rollback", changing: pending.objects)
    defer { watch.end() }
    for object in inserted where object.phase == .inserted { leave(object) }
    for object in deleted { revive(object) }
    for object in changed { restore(object) }
    pending.didRollBack()
    pendingFailure = nil
    undo.clear()
    backlog.forgetLinks()
    settleBacklog()
  }

  /// Discards all changes and all objects.
  func reset() {
    guard isAllowed("reset") else { return }
    map.forEach { $0.state.detach() }
    map.removeAll()
    pending = PendingChanges()
    backlog = MergeBacklog()
    batches = FetchBatches()
    pendingFailure = nil
    undo.clear()
  }

  /// Reads an object from the store again.
  func refresh(_ object: ManagedObject, discardingChanges: Bool = false) throws {
    try checkOwn(object, "was not refreshed")
    guard object.phase == .persistent else { return }
    let watch = LinkWatch(self, "a refresh", changing: [object])
    defer { watch.end() }
    if discardingChanges {
      try adoptStoredReferences(of: object, object.changedNumbers)
      try discardChanges(of: object)
    }
    let partners = partnersInRow(of: object)
    if object.isEdited { try mergeRow(of: object) } else { try refreshRows([object]) }
    forgetViews(of: partners + partnersInRow(of: object))
    settleBacklog()
  }

  /// Makes all unchanged objects read from the store again when they are next used.
  func refreshAll() {
    map.forEach { object in
      guard object.phase == .persistent, !(object.isInChangedList && object.hasChanges) else { return }
      if object.isInChangedList { forgetViews(of: object) }
      turnIntoFault(object)
    }
  }

  // MARK: Steps

  private func revive(_ object: ManagedObject) {
    object.announceAll()
    object.state.revive()
    if !object.isInChangedList { restore(object) }
  }

  /// Restores the row of an object that was last fetched or saved. Its to-many relationships are loaded again.
  private func restore(_ object: ManagedObject) {
    object.restoreCommitted(ColumnMask(bits: object.changedBits))
    object.forgetEdits()
    guard object.hasLinkNotes else { return }
    object.removeLists { _ in true }
    object.removePartners { _ in true }
  }
}
