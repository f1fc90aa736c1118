/// A change that was given up because it broke rules.
public struct DiscardedChange: Hashable, Sendable {
  /// What was done to the object.
  public enum Kind: Hashable, Sendable {
    /// It was new, and is none any more.
    case insert
    /// It was changed, and is as it was last fetched or saved.
    case update
    /// It was deleted, and is back.
    case delete
  }

  /// The object whose change was given up.
  public let object: AnyObjectID
  /// What was done to it.
  public let kind: Kind
  /// Why: the rules that were broken, by this object or by those that it left without a partner.
  public let failures: [ValidationFailure]
}

extension ManagedObjectContext {
  /// Gives up the changes of objects that break rules, so that the rest can be saved: one bad object need not keep a context
  /// from saving for ever.
  ///
  /// ```swift
  /// do {
  ///   try context.save()
  /// } catch is ValidationError {
  ///   for change in try context.discardInvalidChanges() { log(change.object, change.failures) }
  ///   try context.save()
  /// }
  /// ```
  /// New objects are withdrawn, changed ones are as they were last fetched or saved, deletes are taken back. Who breaks a rule
  /// only because of that goes the same way.
  ///
  /// - Returns: what was given up and why, in the order in which it was; empty when no rule is broken.
  /// - Throws: ``StoreError`` when former partners have to be loaded and the store fails.
  /// - Complexity: linear in the number of changes, once for each round in which something was given up.
  @discardableResult public func discardInvalidChanges() throws -> [DiscardedChange] {
    guard isAllowed("discardInvalidChanges") else { return [] }
    var discarding = Discarding(self)
    while try discarding.discardSome() {}
    return discarding.discarded
  }
}

/// Gives up changes until those that are left are valid.
private struct Discarding {
  private(set) var discarded: [DiscardedChange] = []
  private let context: ManagedObjectContext
  /// Objects that were put back once; whoever is still wrong then is so because of others.
  private var settled: Set<Int64> = []

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Gives up the changes that break rules now.
  ///
  /// - Returns: whether there were any.
  mutating func discardSome() throws -> Bool {
    let plan = context.makePlan()
    let before = discarded.count
    for object in plan.deleted where object.phase == .deleted {
      let failures = try failures { try $0.checkDeleted([object]) }
      if !failures.isEmpty { undelete(object, failures) }
    }
    for object in plan.checked where object.isAlive {
      let failures = try failures {
        try $0.checkAll(object, object.phase == .inserted ? .validateInsert : .validateUpdate)
      }
      if !failures.isEmpty { try discard(object, failures) }
    }
    return discarded.count > before
  }

  private func failures(_ check: (inout ObjectRules) throws -> Void) rethrows -> [ValidationFailure] {
    var rules = ObjectRules(context)
    try check(&rules)
    return rules.failures
  }

  private mutating func discard(_ object: ManagedObject, _ failures: [ValidationFailure]) throws {
    if try bringBackPartners(of: object, failures) { return }
    note(object, object.phase == .inserted ? .insert : .update, failures)
    if object.phase == .inserted { return try context.withdraw(object) }
    guard settled.insert(object._key).inserted else { return giveUpEverything(failures) }
    try object.rollback()
  }

  /// Takes back the deletes that left an object without a partner that it must have.
  private mutating func bringBackPartners(of object: ManagedObject, _ failures: [ValidationFailure]) throws -> Bool {
    guard object.phase == .persistent else { return false }
    var isAny = false
    for relationship in context.info(of: object).allRelationships {
      let reasons = failures.filter { $0.property == relationship.name && $0.rule != .maximumCount }
      if reasons.isEmpty { continue }
      for key in try context.formerPartners(of: object, relationship) ?? [] {
        guard let partner = context.map[key], partner.phase == .deleted else { continue }
        undelete(partner, reasons)
        isAny = true
      }
    }
    return isAny
  }

  private mutating func undelete(_ object: ManagedObject, _ failures: [ValidationFailure]) {
    note(object, .delete, failures)
    context.undelete(object)
  }

  /// The last way out, for rules that contradict each other.
  private mutating func giveUpEverything(_ failures: [ValidationFailure]) {
    for object in context.insertedObjects { note(object, .insert, failures) }
    for object in context.updatedObjects where !settled.contains(object._key) { note(object, .update, failures) }
    for object in context.deletedObjects { note(object, .delete, failures) }
    context.rollback()
  }

  private mutating func note(_ object: ManagedObject, _ kind: DiscardedChange.Kind, _ failures: [ValidationFailure]) {
    let id = AnyObjectID(object, context.info(of: object))
    discarded.append(DiscardedChange(object: id, kind: kind, failures: failures))
  }
}
