/// Whether an object may be deleted.
public enum DeleteAnswer: Hashable, Sendable {
  /// A save would not refuse the delete.
  case yes
  /// A save would refuse the delete, with this error.
  case no(ValidationError)
}

extension ManagedObjectContext {
  /// Returns whether a save would refuse to delete an object, and why. Nothing is deleted.
  ///
  /// ```swift
  /// switch try context.canDelete(team) {
  /// case .yes: try context.delete(team)
  /// case .no(let refusal): show(refusal.failures)
  /// }
  /// ```
  /// This checks everything that the delete would cascade to: the partners that deny it, and the objects that would be
  /// left without a required partner. Objects that the context has already deleted do not prevent the delete.
  ///
  /// - Parameter object: An object of this context.
  /// - Throws: ``StoreError`` if partners have to be loaded and the store fails; ``ContextError`` with the code
  ///   `foreign-object` if the object belongs to another context.
  /// - Complexity: linear in the number of objects that would be deleted or unlinked.
  public func canDelete(_ object: ManagedObject) throws -> DeleteAnswer {
    try checkOwn(object, "cannot be deleted here")
    guard object.isAlive else { return .yes }
    var deletion = Deletion()
    deletion.callsHooks = false
    try deletion.collect([object], in: self)
    try deletion.settle(in: self)
    var rules = ObjectRules(self)
    rules.leaving = Set(deletion.victims.map(\._key))
    for victim in deletion.victims { try rules.checkSurvivors(of: victim) }
    try rules.checkDeleted(deletion.victims.filter { $0.phase == .persistent })
    // A surviving object is checked once for each object that it loses.
    var seen: Set<ValidationFailure> = []
    let failures = rules.failures.filter { seen.insert($0).inserted }
    return failures.isEmpty ? .yes : .no(ValidationError(failures: failures))
  }
}

// MARK: - Partners of victims

/// The state of a victim's partners that a delete needs in memory.
enum PartnerNeed {
  case nothing, keys, objects
}

extension ManagedObjectContext {
  /// Whether any of the owners has members, in the store or in memory.
  func hasMembers(_ owners: [ManagedObject], _ relationship: RelationshipInfo) throws -> Bool {
    if owners.contains(where: { !presentPartners(of: $0, relationship).isEmpty }) { return true }
    struct Found: Error {}
    do {
      try connection().memberKeys(of: number(of: relationship), owners: owners.map(\._key)) { _, _, _ in
        throw Found()
      }
    } catch is Found { return true }
    return false
  }

  func needOfDelete(_ relationship: RelationshipInfo) -> PartnerNeed {
    if relationship.deleteRule == .cascade { return .objects }
    // A one-way relationship is deleted with the row or the pairs that hold it.
    guard let inverse = runtime.inverse(of: relationship) else { return .nothing }
    // The number of the partner's members is checked at save.
    if inverse.isToMany && inverse.isCounted { return .objects }
    // Pairs are deleted with the row, but lists in memory that show the victim have to be found.
    if relationship.isJoined { return listed.contains(number(of: inverse)) ? .keys : .nothing }
    guard relationship.deleteRule == .nullify else { return .nothing }
    return inverse.isColumn ? .objects : .keys
  }

  func loadMembersIfNeeded(
    of objects: [ManagedObject], _ relationship: RelationshipInfo, _ need: PartnerNeed
  ) throws {
    let unloaded = objects.filter { !list(of: $0, relationship).isLoaded }
    guard need == .objects else { return try loadKeys(of: unloaded, relationship) }
    if !unloaded.isEmpty { try loadMembers(of: unloaded, relationship) }
    var members: Set<Int64> = []
    for object in objects { members.formUnion(list(of: object, relationship).keys) }
    try loadForChange(members.sorted(), of: relationship)
  }

  func loadPartnersIfNeeded(
    of objects: [ManagedObject], _ relationship: RelationshipInfo, needsObjects: Bool
  ) throws {
    var partners: Set<Int64> = []
    for object in objects {
      let key = partnerKey(of: object, relationship)
      if key > 0 { partners.insert(key) }
    }
    try throwPendingFailure()
    if needsObjects { try loadForChange(partners.sorted(), of: relationship) }
  }
}

extension Deletion {
  /// Loads the partners that a delete rule affects.
  ///
  /// - Returns: whether the rule affects any partners.
  func loadIfNeeded(
    _ relationship: RelationshipInfo, of objects: [ManagedObject], in context: ManagedObjectContext
  ) throws -> Bool {
    for object in objects where object.accessFlags.contains(.fault) { try context.refreshRows([object]) }
    let need = context.needOfDelete(relationship)
    guard need != .nothing else { return relationship.deleteRule == .cascade }
    if relationship.isToMany {
      try context.loadMembersIfNeeded(of: objects, relationship, need)
    } else {
      try context.loadPartnersIfNeeded(of: objects, relationship, needsObjects: need == .objects)
    }
    return true
  }
}
