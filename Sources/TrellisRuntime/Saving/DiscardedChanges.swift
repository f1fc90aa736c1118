import TrellisModel
import TrellisStorage

/// A change that was discarded because it broke rules.
public struct DiscardedChange: Hashable, Sendable {
  /// The kinds of changes.
  public enum Kind: Hashable, Sendable {
    /// The object was new and was withdrawn.
    case insert
    /// The object was changed and has its last fetched or saved values again.
    case update
    /// The object was deleted and was restored.
    case delete
  }

  /// The object of the change.
  public let object: AnyObjectID
  /// The kind of the change.
  public let kind: Kind
  /// The reasons: the rules that were broken by this object or by the partners that it left.
  public let failures: [ValidationFailure]
}

extension DiscardedChange: CustomStringConvertible {
  /// The kind, the object and the broken rules: `update of Book#3: …`.
  public var description: String {
    "\(kind) of \(object): \(failures.map(\.description).joined(separator: " "))"
  }
}

extension ObjectGraph {
  /// Saves, and discards the changes of objects that break rules until the save succeeds. Only the save itself knows
  /// every rule: a check beforehand would be a second mechanism that has to agree with the first, and would be outdated
  /// before the save.
  ///
  /// - Parameters:
  ///   - unites: The unique keys by which the save may unite objects; nil if the policy alone decides.
  ///   - willTry: Called before each attempt, when the changes of the last one are as they are saved if it succeeds.
  func saveValidChanges(
    mergePolicy: MergePolicy?, unites: UnitingKeys? = nil, willTry: () throws -> Void = {}
  ) throws -> [DiscardedChange] {
    var discarding = Discarding(self)
    while true {
      do {
        try willTry()
        try save(mergePolicy: mergePolicy, unites: unites)
        return discarding.discarded
      } catch let refusal as ValidationError {
        try discarding.giveUp(refusal.failures)
      }
    }
  }
}

/// Discards changes until the remaining ones are valid.
private struct Discarding {
  private(set) var discarded: [DiscardedChange] = []
  private let graph: ObjectGraph
  /// Objects that were rolled back once. If such an object still breaks a rule, the cause is another object.
  private var settled: Set<Int64> = []

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// Discards changes that broke rules, at least one.
  mutating func giveUp(_ failures: [ValidationFailure]) throws {
    let before = discarded.count
    let told = Dictionary(grouping: failures, by: \.key)
    let rescued = try rescuedByHooks(told)
    // Discarding one change may repair or break another object, so each object is checked again.
    try giveUp { [self] object in rescued.contains(object._key) ? [] : try brokenRules(of: object) }
    // Failures that only the store can find, or that a hook has caused.
    if discarded.count == before { try giveUp { told[$0._key] ?? [] } }
    if discarded.count == before { try giveUpAround(failures) }
    if discarded.count == before { giveUpEverything(failures) }
  }

  private func brokenRules(of object: ManagedObject) throws -> [ValidationFailure] {
    var rules = ObjectRules(graph)
    switch object.phase {
    case .deleted: try rules.checkDeleted([object])
    case .inserted: try rules.checkAll(object, .validateInsert)
    default: try rules.checkAll(object, .validateUpdate)
    }
    return rules.failures
  }

  /// Objects that break rules now, but that their hooks repair before each save.
  private func rescuedByHooks(_ told: [Int64: [ValidationFailure]]) throws -> Set<Int64> {
    guard graph.runtime.hooks.contains(.willSave) else { return [] }
    let silent = graph.makePlan().checked.filter { told[$0._key] == nil }
    return Set(try silent.filter { try !brokenRules(of: $0).isEmpty }.map(\._key))
  }

  private mutating func giveUp(_ failures: (ManagedObject) throws -> [ValidationFailure]) throws {
    let plan = graph.makePlan()
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
    if object.phase == .inserted { return try graph.withdraw(object) }
    guard settled.insert(object._key).inserted else { return giveUpEverything(failures) }
    try object.rollback()
  }

  /// Repairs objects that were not changed themselves, but are invalid because of changes around them.
  private mutating func giveUpAround(_ failures: [ValidationFailure]) throws {
    for (key, failures) in Dictionary(grouping: failures, by: \.key).sortedByKey {
      guard let object = graph.map[key], object.phase == .persistent else { continue }
      if failures.contains(where: { $0.rule == .deniedDelete }) {
        // The object would only be deleted together with others, so their deletes are reverted.
        for victim in graph.deletedObjects where victim.phase == .deleted { undelete(victim, failures) }
      } else if try !bringBackPartners(of: object, failures), settled.insert(key).inserted {
        note(object, .update, failures)
        let names = Set(failures.map(\.property))
        let broken = graph.info(of: object).allRelationships.filter { names.contains($0.name) }
        try refreshPartners(of: object, broken)
        try graph.rollback(object, broken.map(\.property))
      }
    }
  }

  /// Refreshes the partners of an object, because other contexts may have deleted them.
  private func refreshPartners(of object: ManagedObject, _ relationships: [Relationship]) throws {
    for relationship in relationships {
      let partners = graph.presentPartners(of: object, relationship).compactMap { graph.map[$0] }
      try graph.refreshRows(partners.filter { $0.phase == .persistent })
    }
  }

  /// Reverts the deletes that removed a required partner of an object.
  private mutating func bringBackPartners(of object: ManagedObject, _ failures: [ValidationFailure]) throws -> Bool {
    guard object.phase == .persistent else { return false }
    var isAny = false
    for relationship in graph.info(of: object).allRelationships {
      let reasons = failures.filter { $0.property == relationship.name && $0.rule != .maximumCount }
      if reasons.isEmpty { continue }
      // An object that is as the store has it still refers to the partner.
      let keys =
        try graph.formerPartners(of: object, relationship) ?? graph.presentPartners(of: object, relationship)
      for key in keys {
        guard let partner = graph.map[key], partner.phase == .deleted else { continue }
        undelete(partner, reasons)
        isAny = true
      }
    }
    return isAny
  }

  private mutating func undelete(_ object: ManagedObject, _ failures: [ValidationFailure]) {
    note(object, .delete, failures)
    graph.undelete(object)
  }

  /// Discards all changes, as the last resort for rules that contradict each other.
  private mutating func giveUpEverything(_ failures: [ValidationFailure]) {
    for object in graph.insertedObjects { note(object, .insert, failures) }
    for object in graph.updatedObjects where !settled.contains(object._key) { note(object, .update, failures) }
    for object in graph.deletedObjects { note(object, .delete, failures) }
    graph.rollback()
  }

  private mutating func note(_ object: ManagedObject, _ kind: DiscardedChange.Kind, _ failures: [ValidationFailure]) {
    let id = AnyObjectID(object, graph.info(of: object))
    discarded.append(DiscardedChange(object: id, kind: kind, failures: failures))
  }
}
