import TrellisStorage

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
  /// The save is rehearsed until nothing stands against it: with its hooks, and up to what the store says of unique keys,
  /// numbers of members, denials and partners that others have written meanwhile. Nothing is written by that. What cannot be
  /// known before the save is what others write after this call; then the save refuses again, and this can be called again.
  /// A ``SaveConflict`` breaks no rule: it is left to the save and its policy, and what breaks rules behind it is known once
  /// it is settled.
  ///
  /// - Returns: what was given up and why, in the order in which it was; empty when no rule is broken.
  /// - Throws: ``StoreError`` when the store fails; what a `willSave` hook throws, if it is no failed rule.
  /// - Complexity: that of a save, once for each round in which something was given up.
  @discardableResult public func discardInvalidChanges() throws -> [DiscardedChange] {
    guard isAllowed("discardInvalidChanges") else { return [] }
    var discarding = Discarding(self)
    while let refusal = try refusalOfSave() { try discarding.giveUp(refusal.failures) }
    return discarding.discarded
  }

  /// The rules that a save would break.
  private func refusalOfSave() throws -> ValidationError? {
    do {
      try SaveOperation.rehearse(self)
    } catch let refusal as ValidationError {
      return refusal
    } catch is SaveConflict {}
    return nil
  }
}

/// Gives up changes until those that are left are valid.
private struct Discarding {
  private(set) var discarded: [DiscardedChange] = []
  private let context: ManagedObjectContext
  /// Objects that were put back once; whoever is still wrong then is so because of others.
  private var settled: Set<Int64> = []

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Gives up changes that broke rules: at least one.
  mutating func giveUp(_ failures: [ValidationFailure]) throws {
    let before = discarded.count
    let told = Dictionary(grouping: failures, by: \.key)
    let rescued = try rescuedByHooks(told)
    // Giving up one change may put another right, or wrong, so each object is asked again.
    try giveUp { [self] object in rescued.contains(object._key) ? [] : try brokenRules(of: object) }
    // What only the store knows, or a hook has made wrong.
    if discarded.count == before { try giveUp { told[$0._key] ?? [] } }
    if discarded.count == before { try giveUpAround(failures) }
    if discarded.count == before { giveUpEverything(failures) }
  }

  private func brokenRules(of object: ManagedObject) throws -> [ValidationFailure] {
    var rules = ObjectRules(context)
    switch object.phase {
    case .deleted: try rules.checkDeleted([object])
    case .inserted: try rules.checkAll(object, .validateInsert)
    default: try rules.checkAll(object, .validateUpdate)
    }
    return rules.failures
  }

  /// Objects that break rules now, and whose hooks put that right before each save.
  private func rescuedByHooks(_ told: [Int64: [ValidationFailure]]) throws -> Set<Int64> {
    guard context.runtime.hooks.contains(.willSave) else { return [] }
    let silent = context.makePlan().checked.filter { told[$0._key] == nil }
    return Set(try silent.filter { try !brokenRules(of: $0).isEmpty }.map(\._key))
  }

  private mutating func giveUp(_ failures: (ManagedObject) throws -> [ValidationFailure]) throws {
    let plan = context.makePlan()
    for object in plan.deleted where object.phase == .deleted {
      let failures = try failures(object)
      if !failures.isEmpty { undelete(object, failures) }
    }
    for object in plan.checked where object.isAlive {
      let failures = try failures(object)
      if !failures.isEmpty { try discard(object, failures) }
    }
  }

  private mutating func discard(_ object: ManagedObject, _ failures: [ValidationFailure]) throws {
    if try bringBackPartners(of: object, failures) { return }
    note(object, object.phase == .inserted ? .insert : .update, failures)
    if object.phase == .inserted { return try context.withdraw(object) }
    guard settled.insert(object._key).inserted else { return giveUpEverything(failures) }
    try object.rollback()
  }

  /// Puts right objects that were not changed themselves, but by what was done around them.
  private mutating func giveUpAround(_ failures: [ValidationFailure]) throws {
    for (key, failures) in Dictionary(grouping: failures, by: \.key).sorted(by: { $0.key < $1.key }) {
      guard let object = context.map[key], object.phase == .persistent else { continue }
      if failures.contains(where: { $0.rule == .deniedDelete }) {
        // It would only go with others.
        for victim in context.deletedObjects where victim.phase == .deleted { undelete(victim, failures) }
      } else if try !bringBackPartners(of: object, failures), settled.insert(key).inserted {
        note(object, .update, failures)
        let names = Set(failures.map(\.property))
        let broken = context.info(of: object).allRelationships.filter { names.contains($0.name) }
        try refreshPartners(of: object, broken)
        try context.rollback(object, broken.map(\.property))
      }
    }
  }

  /// Others may have deleted whom it still has for a partner here.
  private func refreshPartners(of object: ManagedObject, _ relationships: [RelationshipInfo]) throws {
    for relationship in relationships {
      let partners = context.presentPartners(of: object, relationship).compactMap { context.map[$0] }
      try context.refreshRows(partners.filter { $0.phase == .persistent })
    }
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
