import TrellisStorage

extension IdentifiedObject {
  /// Whether a property differs from what was last fetched or saved. A property of a new object always does.
  ///
  /// ```swift
  /// saveButton.isEnabled = diary.hasChanges(\.content) || diary.hasChanges(\.tags)
  /// ```
  /// - Parameter property: A property of the model, or one that is computed from some.
  /// - Complexity: linear in the number of the object's properties.
  public func hasChanges<Value>(_ property: KeyPath<Self, Value>) -> Bool {
    let numbers = numbers(of: property)
    if phase == .inserted { return !numbers.isEmpty }
    guard phase == .persistent else { return false }
    let changed = changedNumbers
    return numbers.contains { number in
      changed.contains(number) || extras?.list(number)?.hasChanges == true
    }
  }

  /// The members of a to-many as they were when last fetched or saved; those that are deleted meanwhile are not among them.
  ///
  /// - Throws: ``StoreError`` when members have to be loaded and the store fails.
  public func committedMembers<View: ToManyView>(of property: KeyPath<Self, View>) throws -> [View.Element] {
    guard phase == .persistent, let context = link.context else { return [] }
    var members: [View.Element] = []
    for number in numbers(of: property) {
      guard let relationship = context.relationship(number, of: self) else { continue }
      let list = context.loadedList(of: self, relationship)
      try context.throwPendingFailure()
      for key in list.committed ?? list.keys {
        let member = try context.object(key, entity: relationship.destination)
        if let member = member as? View.Element, member.isAlive { members.append(member) }
      }
    }
    return members
  }

  /// Takes back what was set to a property since the object was last fetched or saved. The other ends of a relationship follow.
  ///
  /// ```swift
  /// diary.content = "…"
  /// diary.mood = "happy"
  /// try diary.rollback(\.content)   // the mood stays
  /// ```
  /// A property of a new object, or of a deleted one, stays as it is.
  ///
  /// - Parameter property: A property of the model, or one that is computed from some.
  /// - Throws: ``StoreError`` when former partners have to be loaded and the store fails.
  public func rollback<Value>(_ property: KeyPath<Self, Value>) throws {
    guard phase == .persistent, let context = link.context else { return }
    try context.rollback(self, numbers(of: property))
  }
}

extension ManagedObject {
  /// Takes back everything that was done to this object since it was last fetched or saved: values and relationships are as
  /// they were, a delete is taken back with what it took along, a new object is withdrawn.
  ///
  /// Other objects change only where a relationship leads to them.
  ///
  /// - Throws: ``StoreError`` when former partners have to be loaded and the store fails.
  /// - Complexity: linear in the number of changed objects of the context.
  public final func rollback() throws {
    guard let context = managedObjectContext, context.isAllowed("rollback") else { return }
    if phase == .inserted { return try context.withdraw(self) }
    if phase == .deleted { context.undelete(self) }
    guard phase == .persistent, isNoted else { return }
    try context.rollback(self, Array(context.info(of: self).entity.properties.indices))
  }
}

extension ManagedObjectContext {
  /// Gives properties of a saved object the values that were last fetched or saved.
  func rollback(_ object: ManagedObject, _ numbers: [Int]) throws {
    let all = info(of: object).relationships
    var attributes = ColumnMask(bits: 0)
    for number in Set(numbers).sorted() where all.indices.contains(number) {
      if let relationship = all[number] {
        try rollback(object, relationship)
      } else {
        attributes.bits |= ColumnMask.bit(of: number)
      }
    }
    if object._changed & attributes.bits != 0 {
      object.willChangeValues()
      object.restoreCommitted(attributes)
      object._changed &= ~attributes.bits
    }
    forgetUnchanged([object])
  }

  /// Makes a new object none. Saved objects that it had for partners have their former ones again.
  func withdraw(_ object: ManagedObject) throws {
    for relationship in info(of: object).allRelationships {
      guard let inverse = runtime.inverse(of: relationship) else { continue }
      for key in presentPartners(of: object, relationship) {
        guard let partner = map[key], partner.isAlive else { continue }
        if partner.phase == .persistent && !inverse.isToMany { try rollback(partner, inverse) }
        disconnect(object, relationship, key)
      }
    }
    var closure = DeletedClosure([object])
    loosenOneWay(from: [object], inserted + changed, noting: &closure)
    markDeleted(object)
  }

  // MARK: Relationships

  private func rollback(_ object: ManagedObject, _ relationship: RelationshipInfo) throws {
    if relationship.isToMany { return try rollbackMembers(of: object, relationship) }
    let current = partnerKey(of: object, relationship)
    try throwPendingFailure()
    let former = try committedPartner(of: object, relationship)
    if former == current { return }
    guard former > 0, let partner = try self.object(former, entity: relationship.destination), partner.isAlive else {
      if current > 0 { disconnect(object, relationship, current) }
      return
    }
    connect(object, relationship, partner)
    if let inverse = runtime.inverse(of: relationship), inverse.isToMany { rearrange(partner, inverse) }
  }

  /// The partners that a saved object had when it was last fetched or saved.
  func committedPartners(of object: ManagedObject, _ relationship: RelationshipInfo) throws -> [Int64] {
    guard relationship.isToMany else {
      let key = try committedPartner(of: object, relationship)
      return key > 0 ? [key] : []
    }
    guard let list = object.extras?.list(relationship.property) else { return [] }
    return list.isLoaded ? Array(list.committed ?? list.keys) : Array(list.removed)
  }

  private func committedPartner(of object: ManagedObject, _ relationship: RelationshipInfo) throws -> Int64 {
    guard relationship.isColumn else {
      if relationship.isTransient { return 0 }
      var found: Int64 = 0
      try connection().members(of: number(of: relationship), owners: [object._key]) { _, row in found = row.key }
      return found
    }
    guard let committed = object.extras?.committed else { return object._reference(relationship.property) }
    // The committed row is a copy whose fields only the class itself can name: it is put in place for a moment.
    let mask = ColumnMask(bits: ColumnMask.bit(of: relationship.property))
    let present = object._copyRow()
    object._restore(mask, from: committed)
    defer { object._restore(mask, from: present) }
    return object._reference(relationship.property)
  }

  private func rollbackMembers(of object: ManagedObject, _ relationship: RelationshipInfo) throws {
    guard let list = object.extras?.list(relationship.property), list.hasChanges else { return }
    let (added, removed) = list.difference
    for key in added { disconnect(object, relationship, key) }
    for key in removed {
      guard let member = try self.object(key, entity: relationship.destination), member.isAlive else { continue }
      connect(object, relationship, member)
    }
    rearrange(object, relationship)
  }

  /// Puts members into the order in which they were last fetched or saved; others stay behind them.
  private func rearrange(_ owner: ManagedObject, _ relationship: RelationshipInfo) {
    guard let list = owner.extras?.list(relationship.property), let committed = list.committed else { return }
    let former = Set(committed)
    arrange(owner, relationship, committed.filter(list.contains) + list.keys.filter { !former.contains($0) })
  }

  /// Takes objects that are as they were last fetched or saved off the list of changed ones.
  func forgetUnchanged(_ objects: [ManagedObject]) {
    var isAny = false
    for object in objects where object.isNoted && object.phase == .persistent && !object.hasChanges {
      if object._changed & info(of: object).transients.bits != 0 { continue }
      object.isNoted = false
      object._changed = 0
      object.extras?.forgetCommitted()
      isAny = true
    }
    if isAny { changed.removeAll { !$0.isNoted } }
  }
}
