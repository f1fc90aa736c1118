import TrellisModel
@_spi(Generated) import TrellisRuntime
@_spi(Generated) import TrellisStorage

/// Carries the records of one batch into the context: finds or makes their objects, sets values, then partners.
///
/// Partners come last, because an object may be referred to before it is made.
final class ImportBatch {
  /// A record that cannot be carried out before others are known.
  struct Waiting {
    let records: [ImportRecord]
    let problems: [ImportProblem]
  }

  private let context: ManagedObjectContext
  private let map: JSONMap
  private let policy: MergePolicy
  private let writer: ObjectWriter
  private let openLinks: OpenLinks
  private let lost: LostObjects
  let table: ImportTable
  private(set) var records: [ImportRecord]
  /// What waits for objects that have not come yet.
  private(set) var waiting: [Waiting] = []
  private(set) var failures: [(record: ImportRecord, problem: ImportProblem)] = []
  /// Whether nothing more will come, so that what is missing is missing.
  let isLast: Bool
  /// Whether the batch is saved although more will come.
  private let isSavedEarly: Bool

  init(
    _ records: [ImportRecord], in context: ManagedObjectContext, _ map: JSONMap, _ writer: ObjectWriter,
    _ policy: MergePolicy, _ openLinks: OpenLinks, _ lost: LostObjects, isLast: Bool,
    isSavedEarly: Bool
  ) {
    self.openLinks = openLinks
    self.isSavedEarly = isSavedEarly
    self.lost = lost
    self.records = records
    self.context = context
    self.map = map
    self.writer = writer
    self.policy = policy
    self.isLast = isLast
    table = ImportTable(context, map, writer, lost)
  }

  /// - Parameter pull: returns the records that wait for a key which the batch has as well.
  func carryOut(pulling pull: (ImportKey) -> [ImportRecord]) throws {
    try table.resolve(records)
    var pulled: [ImportRecord] = []
    for record in records { if let key = record.ownKey { pulled += pull(key) } }
    if !pulled.isEmpty {
      records = pulled + records
      try table.resolve(pulled)
      // Older records come first.
      let places = Dictionary(
        records.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
      for target in table.targets where target.records.count > 1 {
        target.records.sort { places[ObjectIdentifier($0), default: 0] < places[ObjectIdentifier($1), default: 0] }
      }
    }
    for record in records where !record.problems.isEmpty && !record.isRejected { reject(record) }
    try table.resolveReferences(of: records)
    if isSavedEarly { try postponeReplacements() }
    try makeObjects()
    notePostponed()
    for target in table.targets where target.object != nil && !target.isNew { try update(target) }
    try loadPartners()
    for record in records where !record.isRejected {
      guard let target = record.target, target.object != nil else { continue }
      for number in record.links.indices where record.links[number] != nil {
        if record.doneKey == nil || record.openLinks.contains(number) { try link(number, of: record, target) }
      }
    }
    try settleStrays()
  }

  // MARK: Objects without an owner

  private struct Stray {
    let object: ManagedObject
    let owner: ImportTarget
    let link: LinkMap

    var place: OpenLinks.Place { OpenLinks.Place(link.relationship, of: object) }
  }

  /// The objects that links of this batch have removed from their owners.
  private var strays: [Stray] = []
  /// The objects that were deleted, because they have lost their owners and cannot be given to others.
  private(set) var deleted: [ManagedObject] = []

  private func lose(_ object: ManagedObject, _ owner: ImportTarget, _ link: LinkMap) {
    lost.note(object, from: link.relationship)
    strays.append(Stray(object: object, owner: owner, link: link))
  }

  /// Leaves objects that require an owner with the one that they had, until the end of the import: a save would refuse
  /// them, and a later batch may give them to another owner.
  private func settleStrays() throws {
    // An object that another record gave to an owner and a third one took away is with the last one.
    let last = Dictionary(strays.enumerated().map { ($1.place, $0) }) { _, last in last }
    for (number, stray) in strays.enumerated() where !stray.object.isDeleted && last[stray.place] == number {
      guard let inverse = stray.link.owner else { continue }
      guard try stray.object.isEmpty(inverse) else {
        lost.forget(stray.object._key, in: stray.link.relationship)
        continue
      }
      // No record can tell which object it is.
      if !map.canBeNamed(type(of: stray.object)._entity) {
        lost.forget(stray.object._key, in: stray.link.relationship)
        if try stray.object.isOrphan(of: stray.link.relationship, in: context, map) {
          try context.delete(stray.object)
          deleted.append(stray.object)
        }
        continue
      }
      guard isSavedEarly, inverse.isRequired, let owner = stray.owner.object, owner.isWritable else { continue }
      try owner.add(stray.object, to: stray.link.relationship.index)
      lost.keep(stray.object, in: stray.link.relationship, with: owner)
      stray.owner.hasStrays = true
    }
  }

  /// Postpones the links that would remove an object from the owner that it requires, where it cannot stay with this owner
  /// for a while, because there is no room for others beside it.
  private func postponeReplacements() throws {
    guard policy.contextWins else { return }
    struct Place: Hashable {
      let owner: Int
      let relationship: ObjectIdentifier
    }
    var links: [(number: Int, record: ImportRecord, target: ImportTarget)] = []
    for record in records where !record.isRejected {
      guard let target = record.target else { continue }
      for (number, link) in record.links.enumerated() where link != nil {
        if record.map.links[number].leavesNoRoom, record.doneKey == nil || record.openLinks.contains(number) {
          links.append((number, record, target))
        }
      }
    }
    if links.isEmpty { return }
    for group in Dictionary(grouping: links, by: { ObjectIdentifier($0.record.map.links[$0.number]) }).values {
      try writer.load(group[0].record.map.links[group[0].number].relationship, of: group.compactMap(\.target.object))
    }
    // The members by the number of their targets, as the records before leave them.
    var members: [Place: Set<Int>] = [:]
    // Later links of the same objects wait as well.
    var waiting: Set<Place> = []
    for (number, record, target) in links {
      guard let given = record.links[number] else { continue }
      let map = record.map.links[number]
      let place = Place(owner: target.number, relationship: ObjectIdentifier(map.relationship))
      let present =
        try members[place] ?? Set((target.object?.partners(of: map.relationship) ?? []).map { table.number(of: $0) })
      var wanted = given.members.compactMap { self.target(of: $0, map)?.number }
      if !map.relationship.isToMany { wanted = wanted.suffix(1) }
      // A reference that leads nowhere leaves a to-one as it is.
      if !map.relationship.isToMany, wanted.isEmpty, !given.members.isEmpty { continue }
      // Where none takes its place, an object could stay, but not be told from one that was given.
      let room = map.relationship.isToMany ? map.relationship.maximumCount ?? .max : 1
      let losesAny = !present.isSubset(of: wanted)
      if waiting.contains(place) || target.object.map({ openLinks.isPostponed(map.relationship, of: $0) }) == true
        || losesAny && (wanted.isEmpty && !map.relationship.isToMany || present.union(wanted).count > room)
      {
        waiting.insert(place)
        postponed.insert(PostponedLink(record: ObjectIdentifier(record), number: number))
      }
      members[place] = Set(wanted)
    }
  }

  /// Notes the postponed links for the batches that follow. Links of objects that are not made yet come again with them.
  private func notePostponed() {
    if postponed.isEmpty { return }
    for record in records {
      guard let object = record.target?.object else { continue }
      for number in record.links.indices where isPostponed(number, of: record) {
        openLinks.postpone(number, of: record, object)
      }
    }
  }

  private struct PostponedLink: Hashable {
    let record: ObjectIdentifier
    let number: Int
  }

  /// The links of this batch that wait for the end.
  private var postponed: Set<PostponedLink> = []

  private func isPostponed(_ number: Int, of record: ImportRecord) -> Bool {
    !postponed.isEmpty && postponed.contains(PostponedLink(record: ObjectIdentifier(record), number: number))
  }

  // MARK: Rejecting

  /// Rejects a record with what is nested in it.
  func reject(_ record: ImportRecord, _ problems: [ImportProblem] = []) {
    for problem in record.isRejected ? problems : record.problems + problems { failures.append((record, problem)) }
    if record.isRejected { return }
    record.isRejected = true
    rejectNested(in: record)
  }

  private func rejectNested(in record: ImportRecord) {
    for case let link? in record.links {
      for case .record(let inner) in link.members where !inner.isRejected {
        for problem in inner.problems { failures.append((inner, problem)) }
        inner.isRejected = true
        rejectNested(in: inner)
      }
    }
  }

  // MARK: Making objects

  private func makeObjects() throws {
    var candidates: [ImportTarget] = []
    for target in table.targets where target.object == nil {
      let records = target.records.filter { !$0.isRejected }
      guard let first = records.first else { continue }
      if first.map.entity.isAbstract {
        for record in records {
          reject(
            record,
            [
              ImportProblem(
                .wrongEntity, at: record.start, "is abstract, and nothing tells of which entity the object is")
            ])
        }
      } else {
        for record in records where record.map !== first.map && !record.isRejected {
          reject(
            record,
            [
              ImportProblem(
                .wrongEntity, at: record.start,
                "has the key of an object of '\(first.map.entity.name)' in the same input")
            ])
        }
        candidates.append(target)
      }
    }
    // Which of them can be made depends on which others can.
    var missing: [Int: [ImportProblem]] = [:]
    for target in candidates {
      missing[target.number] = missingValues(of: target)
      target.isMade = missing[target.number]?.isEmpty == true
    }
    let owners = owners(of: candidates)
    var isSettled = false
    while !isSettled {
      isSettled = true
      for target in candidates where target.isMade {
        let problems = missingPartners(of: target, owners[target.number] ?? [])
        if problems.isEmpty { continue }
        missing[target.number] = problems
        target.isMade = false
        isSettled = false
      }
    }
    for target in candidates {
      if target.isMade { try make(target) } else { postpone(target, missing[target.number] ?? []) }
    }
  }

  private func liveRecords(_ target: ImportTarget) -> [ImportRecord] { target.records.filter { !$0.isRejected } }

  private func missingValues(of target: ImportTarget) -> [ImportProblem] {
    let records = liveRecords(target)
    guard let map = records.first?.map else { return [] }
    var problems: [ImportProblem] = []
    for case let attribute? in map.entity.properties.map(\.attribute)
    where !attribute.isOptional && attribute.description.defaultValue == nil && attribute.column != nil {
      let field = map.fields.firstIndex { $0.attribute === attribute }
      if let field, records.contains(where: { $0.values[field] != nil }) { continue }
      problems.append(
        ImportProblem(
          .missingValues, at: records[records.count - 1].start, property: attribute.name,
          "is needed for a new object, and is absent"))
    }
    return problems
  }

  /// The objects that nest others, or list them, by the number of the other and the relationship that this sets.
  private func owners(of candidates: [ImportTarget]) -> [Int: [(property: Int, owner: ImportTarget)]] {
    guard !candidates.isEmpty else { return [:] }
    var owners: [Int: [(property: Int, owner: ImportTarget)]] = [:]
    for record in records where !record.isRejected {
      guard let owner = record.target else { continue }
      for (number, link) in record.links.enumerated() {
        guard let link, let inverse = record.map.links[number].owner, !isPostponed(number, of: record) else {
          continue
        }
        for member in link.members {
          guard let target = target(of: member, record.map.links[number]), target.object == nil else { continue }
          owners[target.number, default: []].append((inverse.index, owner))
        }
      }
    }
    return owners
  }

  private func missingPartners(
    of target: ImportTarget, _ owners: [(property: Int, owner: ImportTarget)]
  ) -> [ImportProblem] {
    let records = liveRecords(target)
    guard let map = records.first?.map else { return [] }
    var problems: [ImportProblem] = []
    for case let relationship? in map.entity.properties.map(\.relationship) {
      if relationship.isTransient || !relationship.isRequired && !isOpenKey(relationship, of: records) { continue }
      if owners.contains(where: { $0.property == relationship.index && ($0.owner.object != nil || $0.owner.isMade) }) {
        continue
      }
      let number = map.links.firstIndex { $0.relationship === relationship }
      let links = number.map { number in records.compactMap { $0.links[number] } } ?? []
      let isGiven = links.contains { link in
        link.members.contains { member in
          guard let number, let partner = self.target(of: member, map.links[number]) else { return false }
          return partner.object != nil || partner.isMade || partner === target
        }
      }
      if isGiven { continue }
      let isAbsent = links.allSatisfy(\.members.isEmpty)
      var problem = ImportProblem(
        isAbsent ? .missingValues : .missingPartner, at: links.last?.offset ?? records[records.count - 1].start,
        property: relationship.name,
        isAbsent ? "is needed for a new object, and is absent" : "leads to no object of the input or the store")
      if let number, let member = links.last?.members.last { problem.key = key(of: member, map.links[number]) }
      problems.append(problem)
    }
    return problems
  }

  /// Whether an object is found by a partner, and is given one. Without the partner it cannot be told which object it is.
  private func isOpenKey(_ relationship: Relationship, of records: [ImportRecord]) -> Bool {
    guard let map = records.first?.map, map.keyParts.contains(where: { $0.isPartner(relationship.index) }),
      let number = map.links.firstIndex(where: { $0.relationship === relationship })
    else { return false }
    return records.contains { $0.links[number]?.members.isEmpty == false }
  }

  /// Keeps an object that cannot be made yet for a later batch, or rejects it after the last one.
  private func postpone(_ target: ImportTarget, _ problems: [ImportProblem]) {
    let records = liveRecords(target)
    if isLast {
      guard let last = records.last else { return }
      reject(last, problems)
      for record in records where record !== last { reject(record) }
    } else {
      waiting.append(Waiting(records: records, problems: problems))
    }
  }

  private func make(_ target: ImportTarget) throws {
    let records = liveRecords(target)
    guard let map = records.first?.map else { return }
    var values = map.entity.properties.map { $0.attribute.flatMap(\.initialValue) ?? .null }
    var assigned = ColumnMask(bits: 0)
    for record in records {
      for (number, value) in record.values.enumerated() {
        guard let value else { continue }
        let property = map.fields[number].attribute.index
        values[property] = value
        assigned.bits |= ColumnMask.bit(of: property)
      }
    }
    do {
      table.note(try writer.insert(map.entity.index, values, assigned: assigned), for: target)
      target.isNew = true
    } catch let refusal as RefusedValue {
      target.isMade = false
      for record in records { reject(record, refused(refusal, record)) }
    }
  }

  private func refused(_ refusal: RefusedValue, _ record: ImportRecord) -> [ImportProblem] {
    guard let field = record.map.fields.firstIndex(where: { $0.attribute.index == refusal.property }),
      record.values[field] != nil
    else { return [] }
    return [
      ImportProblem(
        .badValue, at: record.offsets[field], field: field, "must be \(record.map.fields[field].value.expectation)")
    ]
  }

  // MARK: Values

  private func update(_ target: ImportTarget) throws {
    guard let object = target.object else { return }
    for record in target.records where !record.isRejected && record.doneKey == nil {
      guard record.map.entity.subtree.contains(type(of: object)._entity)
      else {
        reject(
          record,
          [
            ImportProblem(
              .wrongEntity, at: record.start, "has the key of an object of another entity in the store")
          ])
        continue
      }
      if policy == .error {
        reject(record, [ImportProblem(.exists, at: record.start, "is in the store already")])
        continue
      }
      if policy == .rollback { continue }
      var values: [(property: Int, value: StoredValue)] = []
      for (number, value) in record.values.enumerated() {
        let property = record.map.fields[number].attribute.index
        if let value {
          if policy.storeWins, !object._value(property).isNull { continue }
          values.append((property, value))
        } else if policy.isWhole, let value = record.map.fields[number].attribute.initialValue {
          values.append((property, value))
        }
      }
      do {
        if try writer.set(values, of: object) { target.isTouched = true }
      } catch let refusal as RefusedValue {
        reject(record, refused(refusal, record))
      }
    }
  }

  // MARK: Partners

  func target(of member: ImportedLink.Member, _ link: LinkMap) -> ImportTarget? {
    switch member {
    case .record(let record): record.target
    case .reference(let value, _):
      link.referenceKeyNumber.flatMap { table.target(ImportKey(number: $0, values: KeyValues(value))) }
    case .unreadable: nil
    }
  }

  /// Loads the partners that given relationships have, in one request each.
  private func loadPartners() throws {
    var owners: [ObjectIdentifier: (link: LinkMap, objects: [ManagedObject])] = [:]
    for record in records where !record.isRejected {
      guard let target = record.target, let object = target.object, !target.isNew else { continue }
      for (number, link) in record.links.enumerated() where link != nil {
        let map = record.map.links[number]
        if map.relationship.isColumn { continue }
        owners[ObjectIdentifier(map.relationship), default: (map, [])].objects.append(object)
      }
    }
    for (link, objects) in owners.values { try writer.load(link.relationship, of: objects) }
  }

  func link(_ number: Int, of record: ImportRecord, _ target: ImportTarget) throws {
    guard let object = target.object, let given = record.links[number] else { return }
    if policy == .rollback, !target.isNew { return }
    let map = record.map.links[number]
    guard object.isWritable, !isPostponed(number, of: record) else { return }
    var partners: [ManagedObject] = []
    // Objects that are not linked if they are not yet.
    var reluctant: Set<Int64> = []
    var isOpen = false
    for member in given.members {
      var isRejected = false
      if case .record(let inner) = member { isRejected = inner.isRejected }
      if let partner = self.target(of: member, map) {
        guard let other = partner.object else {
          if !isRejected { isOpen = true }
          continue
        }
        guard other.isWritable, other.isOf(map.relationship.destination, map: self.map) else {
          if !isRejected { isOpen = true }
          continue
        }
        partners.append(other)
        if try isRejected || isKept(partner, by: map, from: object) { reluctant.insert(other._key) }
      } else if case .unreadable = member {
        continue
      } else {
        isOpen = !isRejected || isOpen
      }
    }
    switch map.relationship.isToMany ? map.members : .replace {
    case .replace: openLinks.close(map.relationship, of: object)
    case .keep:
      // The first members count, and some of them would keep the others out.
      guard !isLast, isOpen || openLinks.contains(map.relationship, of: object) else { break }
      record.openLinks.insert(number)
      return openLinks.note(number, of: record, object)
    case .add: break
    }
    if isOpen {
      if isLast {
        noteUnresolved(given, map, record)
      } else {
        record.openLinks.insert(number)
        if map.members == .replace { openLinks.note(number, of: record, object) }
      }
    }
    if map.relationship.isToMany {
      try setMembers(partners, except: reluctant, map, of: object, target)
    } else if let partner = partners.last {
      if reluctant.contains(partner._key) { return }
      try setPartner(partner, map, of: object, target)
    } else if given.members.isEmpty {
      try setPartner(nil, map, of: object, target)
    }
  }

  /// Whether an object of the store keeps the owner that it has, because the store is right.
  private func isKept(_ partner: ImportTarget, by map: LinkMap, from object: ManagedObject) throws -> Bool {
    guard policy.storeWins, !partner.isNew, let inverse = map.owner,
      let owner = try partner.object?.partner(of: inverse.index)
    else { return false }
    return owner !== object
  }

  private(set) var unresolved: [(record: ImportRecord, problem: ImportProblem)] = []

  private func noteUnresolved(_ link: ImportedLink, _ map: LinkMap, _ record: ImportRecord) {
    for member in link.members {
      let partner = target(of: member, map)?.object
      if partner?.isWritable == true, partner?.isOf(map.relationship.destination, map: self.map) == true { continue }
      let offset: Int
      switch member {
      case .reference(_, let place): offset = place
      // A nested object that is not made has a problem of its own.
      case .record(let inner): if partner == nil { continue } else { offset = inner.start }
      case .unreadable: continue
      }
      var problem = ImportProblem(
        .missingPartner, at: offset, property: map.relationship.name, "leads to no object of the input or the store")
      problem.key = key(of: member, map)
      unresolved.append((record, problem))
    }
  }

  /// The key that a reference names, as a text; nil for other members.
  private func key(of member: ImportedLink.Member, _ link: LinkMap) -> String? {
    guard case .reference(let value, _) = member else { return nil }
    return link.reference?.text(value)
  }

  private func setPartner(
    _ partner: ManagedObject?, _ map: LinkMap, of object: ManagedObject, _ target: ImportTarget
  ) throws {
    let property = map.relationship.index
    if let partner, !lost.isEmpty {
      lost.forget(partner._key, in: map.relationship)
      if let inverse = self.map.model.inverse(of: map.relationship) { lost.forget(object._key, in: inverse) }
    }
    if map.relationship.isColumn, object.presentKey(property) == partner?._key ?? 0 { return }
    let present = try object.partner(of: property)
    if present === partner || policy.storeWins && !target.isNew && present != nil { return }
    if !target.isNew { target.noteFormerPartner(present?._key ?? 0, of: map.relationship) }
    if let partner { try noteFormerOwner(of: partner, map) }
    try object.setPartner(of: property, partner)
    target.isTouched = true
    // An object that only its owner reaches goes with the link to it.
    if let present, map.ownsMembers, !present.isDeleted, map.owner != nil { lose(present, target, map) }
  }

  /// Notes the owner that a stored object has before a link gives it to another one.
  private func noteFormerOwner(of object: ManagedObject, _ map: LinkMap) throws {
    guard let inverse = map.owner, !object.isInserted else { return }
    let owner =
      try inverse.isColumn ? object.presentKey(inverse.index) : object.partner(of: inverse.index)?._key ?? 0
    table.target(of: object).noteFormerPartner(owner, of: inverse)
  }

  // MARK: Refused objects

  /// Gives back what the links to and from withdrawn objects have replaced: to-ones their former partners, and stored
  /// objects their former owners.
  func giveBack() throws {
    let withdrawn = table.targets.filter { $0.isNew && $0.object?.isWritable == false }
    if withdrawn.isEmpty { return }
    let numbers = Set(withdrawn.map(\.number))
    for record in records where !record.isRejected {
      guard let target = record.target, target.object != nil else { continue }
      for (number, link) in record.links.enumerated() {
        guard let link else { continue }
        let map = record.map.links[number]
        for case let partner? in link.members.map({ self.target(of: $0, map) }) {
          if numbers.contains(partner.number), !map.relationship.isToMany {
            try giveBack(map.relationship, of: target)
          } else if numbers.contains(target.number), let inverse = map.owner {
            try giveBack(inverse, of: partner)
          }
        }
      }
    }
  }

  /// Sets a to-one that has no partner to the one that it had before the batch, if that one is free.
  private func giveBack(_ relationship: Relationship, of target: ImportTarget) throws {
    guard let object = target.object, object.isWritable, let key = target.formerPartner(of: relationship), key != 0,
      try object.isEmpty(relationship),
      let partner = try context.objects([key], entity: relationship.destination)[key], partner.isWritable
    else { return }
    if let inverse = map.model.inverse(of: relationship), !inverse.isToMany, try !partner.isEmpty(inverse) { return }
    try object.setPartner(of: relationship.index, partner)
  }

  /// Notes the new objects that withdrawn ones own. They are saved, and deleted at the end if nothing owns them then.
  func loseMembersOfRefused() {
    for record in records {
      guard let target = record.target, target.isRefused, target.isNew else { continue }
      for (number, link) in record.links.enumerated() where record.map.links[number].ownsMembers {
        let map = record.map.links[number]
        for case let member? in (link?.members ?? []).map({ self.target(of: $0, map) }) where member.isNew {
          if let object = member.object, object.isWritable { lost.note(object, from: map.relationship) }
        }
      }
    }
  }

  /// Keeps the links to objects that are held, so that they are carried out again at the end.
  ///
  /// - Returns: the records with such links.
  func keepLinksToHeld() -> [ImportRecord] {
    var found: [ImportRecord] = []
    for record in records where !record.isRejected {
      guard let target = record.target, let object = target.object, !target.isRefused else { continue }
      for (number, link) in record.links.enumerated() {
        let map = record.map.links[number]
        guard (link?.members ?? []).contains(where: { self.target(of: $0, map)?.isHeld == true }) else { continue }
        record.openLinks.insert(number)
        if !map.relationship.isToMany || map.members != .add { openLinks.note(number, of: record, object) }
        found.append(record)
      }
    }
    return found
  }

  private func setMembers(
    _ members: [ManagedObject], except reluctant: Set<Int64>, _ map: LinkMap, of object: ManagedObject,
    _ target: ImportTarget
  ) throws {
    let property = map.relationship.index
    let present = try object.keysOfMembers(of: property)
    let known = reluctant.isEmpty ? [] : Set(present)
    var seen: Set<Int64> = []
    let wanted = members.filter { member in
      (!reluctant.contains(member._key) || known.contains(member._key)) && seen.insert(member._key).inserted
    }
    if !lost.isEmpty { for member in wanted { lost.forget(member._key, in: map.relationship) } }
    let adds = map.members == .add || policy.storeWins && !target.isNew
    if map.members == .keep, !present.isEmpty { return }
    if adds {
      let known = Set(present)
      for member in wanted where !known.contains(member._key) {
        try noteFormerOwner(of: member, map)
        try object.add(member, to: property)
        target.isTouched = true
      }
      return
    }
    let keys = wanted.map(\._key)
    if map.relationship.isOrdered ? keys == present : seen == Set(present) { return }
    let isLosing = map.ownsMembers && !seen.isSuperset(of: present)
    let gone = try isLosing ? object.members(of: property).filter { !seen.contains($0._key) } : []
    if map.owner != nil {
      let known = Set(present)
      for member in wanted where !known.contains(member._key) { try noteFormerOwner(of: member, map) }
    }
    try object.replaceMembers(of: property, with: wanted)
    for member in gone where !member.isDeleted { lose(member, target, map) }
    target.isTouched = true
  }
}

extension ManagedObject {
  /// The partners in a relationship.
  fileprivate final func partners(of relationship: Relationship) throws -> [ManagedObject] {
    if relationship.isToMany { return try members(of: relationship.index) }
    return try partner(of: relationship.index).map { [$0] } ?? []
  }

  final var isWritable: Bool { managedObjectContext != nil && !isDeleted }

  fileprivate final func isOf(_ entity: Int, map: JSONMap) -> Bool {
    map.model.entities[entity].subtree.contains(type(of: self)._entity)
  }
}
