import TrellisStorage

extension SavePlan {
  /// Collects the checks that the store repeats inside the transaction, when no other writer can interfere: the numbers
  /// of members, and partners that deny a delete. Other writers may have changed them since they were loaded.
  ///
  /// New owners are not checked, because no other context knows them. References are not checked, because the store
  /// never accepts a reference without a target.
  mutating func collectChecks(_ context: ManagedObjectContext) {
    guard context.runtime.looksAgain else { return }
    var asking = RulesToAsk(context)
    for (object, mask) in updated { asking.addChange(of: object, mask) }
    for object in relinked { asking.addChange(of: object, ColumnMask(bits: 0)) }
    for object in deleted { asking.addDelete(of: object) }
    request.counts = asking.counts
    request.denials = asking.denials
  }
}

private struct RulesToAsk {
  private struct Owners {
    let relationship: RelationshipInfo
    var owners: Set<Int64> = []
    var leaving: [Int64] = []
  }

  private let context: ManagedObjectContext
  private var counted: [RelationshipNumber: Owners] = [:]
  private var denied: [RelationshipNumber: [Int64]] = [:]

  init(_ context: ManagedObjectContext) { self.context = context }

  mutating func addChange(of object: ManagedObject, _ mask: ColumnMask) {
    let checks = context.info(of: object).storeChecks
    guard checks.concernsChanges else { return }
    for relationship in checks.counted where object.extras?.list(relationship.property)?.hasChanges == true {
      add(object._key, to: relationship)
    }
    for reference in checks.needed where mask.contains(reference.property) { addOwners(of: object, reference) }
  }

  mutating func addDelete(of object: ManagedObject) {
    let checks = context.info(of: object).storeChecks
    guard checks.concernsDeletes else { return }
    for reference in checks.needed { addOwners(of: object, reference) }
    for keeper in checks.keepers { self[keeper].leaving.append(object._key) }
    for relationship in checks.denials { denied[context.number(of: relationship), default: []].append(object._key) }
  }

  /// Adds the object that a reference leads to, and the one that it leads to in the store.
  private mutating func addOwners(of object: ManagedObject, _ reference: RelationshipInfo) {
    guard let inverse = context.runtime.inverse(of: reference) else { return }
    add(object._reference(reference.property), to: inverse)
    if case .integer(let former)? = object.extras?.committed?.value(reference.property) { add(former, to: inverse) }
  }

  private mutating func add(_ owner: Int64, to relationship: RelationshipInfo) {
    guard owner > 0 else { return }
    let phase = context.map[owner]?.phase
    if phase == nil || phase == .persistent { self[relationship].owners.insert(owner) }
  }

  private subscript(relationship: RelationshipInfo) -> Owners {
    get { counted[context.number(of: relationship)] ?? Owners(relationship: relationship) }
    _modify { yield &counted[context.number(of: relationship), default: Owners(relationship: relationship)] }
  }

  // MARK: The result

  var counts: [SaveRequest.CountChecks] {
    counted.sorted { ($0.key.entity, $0.key.property) < ($1.key.entity, $1.key.property) }.map { number, owners in
      let relationship = owners.relationship
      return SaveRequest.CountChecks(
        relationship: number, owners: owners.owners.sorted(), leaving: owners.leaving,
        least: relationship.isRequired ? 1 : relationship.minimumCount ?? 0, most: relationship.maximumCount ?? .max,
        mayBeEmpty: relationship.isToMany && relationship.isOptional)
    }
  }

  var denials: [SaveRequest.RestrictChecks] {
    denied.sorted { ($0.key.entity, $0.key.property) < ($1.key.entity, $1.key.property) }
      .map { SaveRequest.RestrictChecks(relationship: $0.key, owners: $0.value) }
  }
}

extension ManagedObjectContext {
  /// The violations that the store has found, as the error that the checks before the write throw.
  func validationError(for broken: ConstraintViolations) throws -> ValidationError {
    var rules = ObjectRules(self)
    for count in broken.counts {
      guard let relationship = runtime.relationship(count.relationship) else { continue }
      guard let owner = try object(count.owner, entity: relationship.entity) else { continue }
      if relationship.isToMany {
        rules.checkCount(count.found, of: relationship, owner)
      } else {
        rules.fail(owner, relationship.name, .required, "must be set")
      }
    }
    let denials = Dictionary(grouping: broken.denials) { SingleDenial(relationship: $0.relationship, owner: $0.owner) }
    for (denial, partners) in denials.sorted(by: { $0.key.owner < $1.key.owner }) {
      guard let relationship = runtime.relationship(denial.relationship), let owner = map[denial.owner] else {
        continue
      }
      let blockers = try partners.compactMap { try object($0.partner, entity: relationship.destination) }
      rules.deny(owner, relationship, blockers.map { AnyObjectID($0, info(of: $0)) })
    }
    return ValidationError(failures: rules.failures)
  }
}

private struct SingleDenial: Hashable {
  let relationship: RelationshipNumber
  let owner: Int64
}
