import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage

/// Restores one object, and the parts that come back with it.
struct ObjectRestoring {
  private struct Subject {
    let former: ManagedObject
    let entity: Entity
    let hasReturned: Bool

    var key: Int64 { former._key }
  }

  private let context: ManagedObjectContext
  private let model: Model
  private let past: MomentView
  private let present: MomentView
  /// The properties of each entity that the model of the moment did not have.
  private let unknown: [Int: Set<Int>]
  private var losses: [Restoration.Loss] = []

  init(asOf token: HistoryToken, of container: PersistentContainer, in context: ManagedObjectContext) throws {
    self.context = context
    model = context.model
    past = MomentView(try container.newContext(asOf: token))
    present = MomentView(context)
    let match = try container.transaction(token.transaction)?.modelMatch
    unknown = match.map { Self.newProperties($0) } ?? [:]
  }

  private static func newProperties(_ match: ModelMatch) -> [Int: Set<Int>] {
    var found: [Int: Set<Int>] = [:]
    for case (let entity, let origin?) in match.origins.enumerated() {
      let properties = match.properties[origin]
      found[entity] = Set(properties.indices.filter { properties[$0] == nil })
    }
    return found
  }

  mutating func run(_ id: AnyObjectID, withParts: Bool) throws -> Restoration {
    guard let entity = model.entity(named: id.entity), let former = try past.object(id.key, of: entity.index) else {
      throw RestoreError(object: id)
    }
    let subjects = try subjects(former, withParts: withParts)
    let writer = ObjectWriter(context)
    let deletedHere = context.deletedByKey
    for subject in subjects { try restoreValues(subject, writer, deletedHere) }
    for subject in subjects {
      for case let relationship? in subject.entity.properties.map(\.relationship)
      where relationship.isStored && isKnown(relationship.index, subject) {
        try restore(relationship, subject)
      }
      if subject.hasReturned { try restoreHolders(subject) }
    }
    func object(_ subject: Subject) throws -> ManagedObject? {
      try present.object(subject.key, of: subject.entity.index)
    }
    return Restoration(
      objects: try subjects.compactMap(object), returned: try subjects.filter(\.hasReturned).compactMap(object),
      losses: losses)
  }

  /// The object, and its parts that are gone.
  private func subjects(_ first: ManagedObject, withParts: Bool) throws -> [Subject] {
    func subject(_ former: ManagedObject) throws -> Subject {
      let entity = past.entity(of: former)
      let isGone = try present.object(former._key, of: entity.index) == nil
      return Subject(former: former, entity: entity, hasReturned: isGone)
    }
    var found = [try subject(first)]
    guard withParts else { return found }
    var known: Set<Int64> = [first._key]
    var place = 0
    while place < found.count {
      let owner = found[place]
      place += 1
      for case let relationship? in owner.entity.properties.map(\.relationship)
      where relationship.isStored && relationship.deleteRule == .cascade {
        for key in try past.partners(of: owner.former, relationship) where known.insert(key).inserted {
          guard let part = try past.object(key, of: relationship.destination) else { continue }
          let next = try subject(part)
          if next.hasReturned { found.append(next) }
        }
      }
    }
    return found
  }

  // MARK: Values

  private func isKnown(_ property: Int, _ subject: Subject) -> Bool {
    unknown[subject.entity.index]?.contains(property) != true
  }

  private mutating func restoreValues(
    _ subject: Subject, _ writer: ObjectWriter, _ deletedHere: [Int64: ManagedObject]
  ) throws {
    for property in subject.entity.properties where !isKnown(property.index, subject) {
      lose(subject, property.name, nil, .notInFormerModel)
    }
    if subject.hasReturned {
      present.add(try ReturningObject(subject.former, past).insert(into: context, writer, deletedHere))
      return
    }
    guard let object = try present.object(subject.key, of: subject.entity.index) else { return }
    let attributes = subject.entity.properties.compactMap(\.attribute).filter {
      $0.isStored && isKnown($0.index, subject)
    }
    _ = try writer.set(attributes.map { ($0.index, try past.value(of: $0, subject.former)) }, of: object)
  }

  // MARK: Partners

  private mutating func restore(_ relationship: Relationship, _ subject: Subject) throws {
    guard let object = try present.object(subject.key, of: subject.entity.index) else { return }
    let former = try past.partners(of: subject.former, relationship)
    try present.load(Dictionary(former.map { ($0, relationship.destination) }) { first, _ in first })
    var there: [Int64] = []
    for key in former {
      if try present.object(key, of: relationship.destination) != nil {
        there.append(key)
      } else {
        lose(subject, relationship.name, (key, relationship.destination), .partnerGone)
      }
    }
    if relationship.isToMany { return try restoreMembers(of: relationship, object, subject, there) }
    if there.isEmpty && !former.isEmpty { return }
    if try present.partners(of: object, relationship) == there { return }
    try object.setPartner(
      of: relationship.index, there.first.flatMap { try present.object($0, of: relationship.destination) })
    if let owner = there.first { try place(subject, in: relationship, owner) }
  }

  private mutating func restoreMembers(
    of relationship: Relationship, _ object: ManagedObject, _ subject: Subject, _ former: [Int64]
  ) throws {
    let members = try present.partners(of: object, relationship)
    var kept: [Int64] = []
    if let inverse = model.inverse(of: relationship), inverse.isRequired {
      let known = Set(former)
      kept = members.filter { !known.contains($0) }
      for key in kept { lose(subject, relationship.name, (key, relationship.destination), .memberStays) }
    }
    let all = former.woven(with: Set(kept), inTheOrderOf: members)
    let coming = Set(all).subtracting(members)
    if coming.isEmpty && Set(members).isSubset(of: all) {
      if relationship.isOrdered { try object.arrange(relationship, all, in: present) }
      return
    }
    try object.replaceMembers(
      of: relationship.index, with: all.compactMap { try present.object($0, of: relationship.destination) })
    if relationship.joinTable != nil, let inverse = model.inverse(of: relationship), inverse.isOrdered {
      for key in coming { try arrange(inverse, key, returning: [subject.key]) }
    }
  }

  /// Gives an object the position among the members of its partner that it had.
  private func place(_ subject: Subject, in relationship: Relationship, _ owner: Int64) throws {
    guard let inverse = model.inverse(of: relationship), inverse.isOrdered else { return }
    try arrange(inverse, owner, returning: [subject.key])
  }

  private func arrange(_ relationship: Relationship, _ owner: Int64, returning keys: Set<Int64>) throws {
    guard let object = try present.object(owner, of: relationship.entity),
      let former = try past.object(owner, of: relationship.entity)
    else { return }
    let others = try present.partners(of: object, relationship).filter { !keys.contains($0) }
    let order = try past.partners(of: former, relationship)
    guard keys.isSubset(of: order) else { return }
    try object.arrange(relationship, others.woven(with: keys, inTheOrderOf: order), in: present)
  }

  // MARK: Objects that referred to a deleted one

  private mutating func restoreHolders(_ subject: Subject) throws {
    guard let object = try present.object(subject.key, of: subject.entity.index) else { return }
    for reference in model.referencesWithoutInverse(to: subject.entity.index) {
      guard let relationship = model.entities[reference.entity].properties[reference.property].relationship else {
        continue
      }
      for key in try past.holders(of: subject.key, reference).sorted() {
        let holder = try present.object(key, of: reference.entity)
        let partners = try holder.map { try present.partners(of: $0, relationship) } ?? []
        if partners.contains(subject.key) { continue }
        guard let holder, relationship.isToMany || partners.isEmpty else {
          losses.append(
            Restoration.Loss(
              object: AnyObjectID(key, entity: reference.entity, in: context), property: relationship.name,
              partner: AnyObjectID(subject.key, entity: subject.entity.index, in: context), reason: .holderChanged))
          continue
        }
        if relationship.isToMany {
          try holder.add(object, to: relationship.index)
          if relationship.isOrdered { try arrange(relationship, key, returning: [subject.key]) }
        } else {
          try holder.setPartner(of: relationship.index, object)
        }
      }
    }
  }

  private mutating func lose(
    _ subject: Subject, _ property: String, _ partner: (key: Int64, entity: Int)?, _ reason: Restoration.Loss.Reason
  ) {
    losses.append(
      Restoration.Loss(
        object: AnyObjectID(subject.key, entity: subject.entity.index, in: context), property: property,
        partner: partner.map { AnyObjectID($0.key, entity: $0.entity, in: context) }, reason: reason))
  }
}
