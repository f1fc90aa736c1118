import TrellisModel
@_spi(Generated) public import TrellisRuntime
@_spi(Generated) import TrellisStorage

extension ManagedObjectContext {
  /// Inserts random objects that the rules of the model allow, and saves them: data to look at, for previews and for tests
  /// of large stores. `trellis seed` does the same for a file.
  ///
  /// ```swift
  /// let report = try container.newContext().seed(20)
  /// print(report)                                     // 20 EmotionDiary, 31 DiaryImage, 20 Tag
  /// ```
  /// Values keep to bounds, lengths, patterns and unique keys. Required partners are linked, and where no object has room,
  /// another one is made, so there may be more objects than asked for. The same seed gives the same objects in the same
  /// order.
  ///
  /// - Parameters:
  ///   - count: The number of objects of each entity that is not abstract; 0 or less for none but those that rules ask for.
  ///   - seed: The seed, any number.
  /// - Returns: what was made, and what could not be.
  /// - Throws: the errors of ``ManagedObjectContext/save(mergePolicy:)`` other than ``ValidationError``; ``ContextError``
  ///   with the code `unsaved-changes` if the context has unsaved changes.
  /// - Complexity: linear in the number of objects.
  @discardableResult public func seed(_ count: Int, seed: UInt64 = 1) throws -> SeedReport {
    if hasChanges {
      throw ContextError(
        .unsavedChanges, "Random objects are saved, and so would the changes be. Save or roll back first.")
    }
    var seeder = Seeder(self, count, seed: seed)
    return try seeder.run(count)
  }
}

/// What random objects were made, and what could not be.
public struct SeedReport: Sendable, CustomStringConvertible {
  /// The number of saved objects of each entity that is not abstract, in the order of the model.
  public fileprivate(set) var counts: [(entity: String, count: Int)] = []
  /// What could not be met, each once, as sentences.
  public fileprivate(set) var notes: [String] = []
  /// The objects that were not saved, because they break rules, such as those of hooks.
  public fileprivate(set) var discarded: [DiscardedChange] = []

  package init() {}

  /// The numbers of objects, and what could not be met: `20 EmotionDiary, 31 DiaryImage`.
  public var description: String {
    let made = counts.map { "\($0.count) \($0.entity)" }.joined(separator: ", ")
    let left = discarded.isEmpty ? [] : ["\(discarded.count) left out, because they break rules"]
    return ([made] + left + notes).joined(separator: "\n")
  }
}

/// Fills a context with random objects that the rules of the model allow.
///
/// Objects with values come first, then what the rules need: members of counted relationships, partners of required
/// ones. Where no object has room, another one is created. Optional links come last.
struct Seeder {
  private struct End: Hashable {
    let key: Int64
    let property: Int
  }

  private let context: ManagedObjectContext
  private let model: Model
  private let writer: ObjectWriter
  private var random: SeedNumbers
  private var values: [AttributeNumber: SampleValues] = [:]
  private var unique = SeedKeys()
  /// The objects by entity, in the order of their creation.
  private var objects: [[ManagedObject]]
  /// The number of objects, from the first on, that are known to have no room for a relationship.
  private var full: [Pool: Int] = [:]
  private var counts: [End: Int] = [:]
  private var open: [ManagedObject] = []
  private var left: Int
  private var report = SeedReport()

  private struct AttributeNumber: Hashable {
    let entity: Int
    let property: Int
  }

  private struct Pool: Hashable {
    let entity: Int
    let relationship: RelationshipNumber
  }

  /// The number of random partners that are looked at before all are.
  private static let picks = 8
  /// How many objects more than asked for may be created, as a factor.
  private static let mostMore = 4

  init(_ context: ManagedObjectContext, _ count: Int, seed: UInt64) {
    self.context = context
    model = context.model
    writer = ObjectWriter(context)
    random = SeedNumbers(seed: seed)
    objects = model.entities.map { _ in [] }
    left = (count.multipliedReportingOverflow(by: Self.mostMore).partialValue &+ 100) &* model.entities.count
  }

  mutating func run(_ count: Int) throws -> SeedReport {
    for entity in model.entities where !entity.isAbstract {
      for _ in 0..<max(0, count) where try create(entity) == nil { break }
    }
    // Members before partners: an owner may need some that no other owner has taken.
    for object in all { try meetCounts(of: object) }
    open = all.reversed()
    try meetNeeds()
    for object in all { try linkFreely(object) }
    try meetNeeds()
    report.discarded = try context.saveValidChanges()
    for entity in model.entities where !entity.isAbstract {
      report.counts.append((entity.name, objects[entity.index].count { $0.managedObjectContext != nil }))
    }
    return report
  }

  private var all: [ManagedObject] { objects.flatMap(\.self) }

  private mutating func note(_ note: String) { if !report.notes.contains(note) { report.notes.append(note) } }

  // MARK: Objects

  /// - Returns: nil if no values were found that the rules allow.
  private mutating func create(_ entity: Entity) throws -> ManagedObject? {
    guard left > 0 else {
      note("No more objects were created for \(entity.name): its rules ask for too many.")
      return nil
    }
    guard let values = makeValues(entity) else { return nil }
    left -= 1
    var row = entity.properties.map { $0.attribute.flatMap(\.initialValue) ?? .null }
    var assigned = ColumnMask(bits: 0)
    for property in entity.properties {
      guard let value = values[property.name] else { continue }
      row[property.index] = value
      assigned.bits |= ColumnMask.bit(of: property.index)
    }
    let object: ManagedObject
    do {
      object = try writer.insert(entity.index, row, assigned: assigned)
    } catch let refusal as RefusedValue {
      let name = entity.properties.indices.contains(refusal.property) ? entity.properties[refusal.property].name : "?"
      note("No object of \(entity.name) was made: its \(name) \(refusal.reason).")
      return nil
    }
    unique.take(object, entity)
    objects[entity.index].append(object)
    open.append(object)
    return object
  }

  private mutating func makeValues(_ entity: Entity) -> [String: StoredValue]? {
    let keys = entity.uniqueKeys.filter { key in key.properties.allSatisfy { entity.properties[$0].attribute != nil } }
    for _ in 0..<100 {
      var made: [String: StoredValue] = [:]
      for case let attribute? in entity.properties.map(\.attribute) where attribute.description.derivation == nil {
        guard let value = makeValue(attribute, isUnique: keys.contains { $0.properties == [attribute.index] }) else {
          note("No value of \(entity.name).\(attribute.name) was found that its rules allow.")
          return nil
        }
        made[attribute.name] = value
      }
      guard makeGroups(entity, &made) else { return nil }
      let value = { (property: Int) in made[entity.properties[property].name] ?? .null }
      if keys.allSatisfy({ unique.isFree($0, $0.properties.map(value)) }) { return made }
    }
    let names = keys.map { key in key.properties.map { entity.properties[$0].name }.joined(separator: ", ") }
    note("\(entity.name) has no more values for its unique keys (\(names.joined(separator: "; "))).")
    return nil
  }

  /// Makes the values of each composite that may be nil those of a whole, or of none.
  private mutating func makeGroups(_ entity: Entity, _ made: inout [String: StoredValue]) -> Bool {
    for group in entity.optionalGroups {
      func name(_ number: Int) -> String { entity.properties[number].name }
      guard made[name(group.presence)] == .integer(1) else {
        made[name(group.presence)] = .null
        for field in group.fields { made[name(field)] = .null }
        continue
      }
      for field in group.required where made[name(field.number)]?.isNull != false {
        guard let attribute = entity.properties[field.number].attribute else { continue }
        var value: StoredValue?
        if case .codable = attribute.type { value = .text("{}") }
        for _ in 0..<100 where value == nil {
          let found = makeValue(attribute, isUnique: false)
          if found?.isNull == false { value = found }
        }
        guard let value else {
          note("No value of \(entity.name).\(attribute.name) was found that its rules allow.")
          return false
        }
        made[attribute.name] = value
      }
    }
    return true
  }

  private mutating func makeValue(_ attribute: Attribute, isUnique: Bool) -> StoredValue? {
    if case .codable(let name) = attribute.type {
      if attribute.isOptional { return .null }
      note("\(name) is a struct of the program: attributes of this type have the value {}.")
    }
    let number = AttributeNumber(entity: attribute.entity, property: attribute.index)
    var values = self.values[number] ?? SampleValues(attribute)
    defer { self.values[number] = values }
    return values.next(isUnique: isUnique, &random)
  }

  // MARK: Needs

  private mutating func meetNeeds() throws {
    while let object = open.popLast() {
      for relationship in relationships(of: object) where relationship.isRequired && count(object, relationship) == 0 {
        try link(object, relationship, creates: true)
      }
      try meetCounts(of: object)
    }
  }

  private mutating func meetCounts(of object: ManagedObject) throws {
    for relationship in relationships(of: object) {
      guard let least = relationship.minimumCount, count(object, relationship) > 0 || !relationship.isOptional else {
        continue
      }
      while count(object, relationship) < least, try link(object, relationship, creates: true) {}
    }
  }

  /// Links that no rule asks for. Each relationship with an inverse is looked at from one end.
  private mutating func linkFreely(_ object: ManagedObject) throws {
    for relationship in relationships(of: object) where isMain(relationship) {
      let most = relationship.isToMany ? Int.random(in: 0...3, using: &random) : random.isOne(in: 3) ? 0 : 1
      for _ in 0..<most where count(object, relationship) < most {
        guard try link(object, relationship, creates: false) else { break }
      }
    }
  }

  private func isMain(_ relationship: Relationship) -> Bool {
    guard let inverse = model.inverse(of: relationship) else { return true }
    if relationship.isToMany != inverse.isToMany { return !relationship.isToMany }
    return (relationship.entity, relationship.index) <= (inverse.entity, inverse.index)
  }

  private func relationships(of object: ManagedObject) -> [Relationship] {
    object.entity(in: model).properties.compactMap(\.relationship).filter { !$0.isTransient }
  }

  private func count(_ object: ManagedObject, _ relationship: Relationship) -> Int {
    counts[End(key: object._key, property: relationship.index)] ?? 0
  }

  // MARK: Links

  /// Links an object to one more partner.
  ///
  /// - Parameter creates: whether a partner is created if none has room.
  /// - Returns: whether there was one.
  @discardableResult private mutating func link(
    _ object: ManagedObject, _ relationship: Relationship, creates: Bool
  ) throws -> Bool {
    guard hasRoom(object, relationship) else { return false }
    var partner = pick(for: object, relationship, tries: creates)
    if partner == nil && creates {
      partner = try createPartner(relationship)
      if let made = partner, !fits(made, object, relationship) { partner = nil }
    }
    guard let partner else {
      if creates { note("No partner was found for each \(relationship.entityName).\(relationship.name).") }
      return false
    }
    try connect(object, relationship, partner)
    return true
  }

  private mutating func connect(_ object: ManagedObject, _ relationship: Relationship, _ partner: ManagedObject) throws
  {
    if relationship.isToMany {
      try object.add(partner, to: relationship.index)
    } else {
      try object.setPartner(of: relationship.index, partner)
    }
    counts[End(key: object._key, property: relationship.index), default: 0] += 1
    if let inverse = model.inverse(of: relationship) {
      counts[End(key: partner._key, property: inverse.index), default: 0] += 1
    }
    for end in [object, partner] {
      unique.take(end, end.entity(in: model))
      // One more member may be too few.
      if relationships(of: end).contains(where: { $0.minimumCount ?? 0 > 1 }) { open.append(end) }
    }
  }

  private mutating func createPartner(_ relationship: Relationship) throws -> ManagedObject? {
    guard let number = model.entities[relationship.destination].subtree.first(where: { !model.entities[$0].isAbstract })
    else { return nil }
    return try create(model.entities[number])
  }

  /// A random partner with room.
  ///
  /// - Parameter tries: whether all candidates are looked at if a few are full.
  private mutating func pick(
    for object: ManagedObject, _ relationship: Relationship, tries: Bool
  ) -> ManagedObject? {
    let pools = model.entities[relationship.destination].subtree.filter { !objects[$0].isEmpty }
    guard !pools.isEmpty else { return nil }
    for _ in 0..<Self.picks {
      guard let pool = pools.randomElement(using: &random), let found = objects[pool].randomElement(using: &random)
      else { continue }
      if fits(found, object, relationship) { return found }
    }
    guard tries else { return nil }
    for pool in pools {
      // A partner without room has none later, so the first ones need not be looked at again.
      let place = Pool(
        entity: pool, relationship: RelationshipNumber(entity: relationship.entity, property: relationship.index))
      var start = full[place] ?? 0
      while start < objects[pool].count, !hasRoomForOne(objects[pool][start], relationship) { start += 1 }
      full[place] = start
      if let found = objects[pool][start...].first(where: { fits($0, object, relationship) }) { return found }
    }
    return nil
  }

  private func hasRoom(_ object: ManagedObject, _ relationship: Relationship) -> Bool {
    count(object, relationship) < (relationship.isToMany ? relationship.maximumCount ?? .max : 1)
  }

  private func hasRoomForOne(_ partner: ManagedObject, _ relationship: Relationship) -> Bool {
    model.inverse(of: relationship).map { hasRoom(partner, $0) } ?? true
  }

  private func fits(_ partner: ManagedObject, _ object: ManagedObject, _ relationship: Relationship) -> Bool {
    guard partner !== object, hasRoomForOne(partner, relationship) else { return false }
    let inverse = model.inverse(of: relationship)
    // A tree of objects has no circles, unless its rules ask for them.
    if !relationship.isToMany, !relationship.isRequired, inverse?.isToMany == true,
      relationship.destination == relationship.entity,
      partner._key > object._key
    {
      return false
    }
    if relationship.isToMany {
      let isMember = (try? object.keysOfMembers(of: relationship.index).contains(partner._key)) ?? true
      if isMember { return false }
    }
    return unique.allows(object, object.entity(in: model), relationship, partner._key)
      && (inverse.map { unique.allows(partner, partner.entity(in: model), $0, object._key) } ?? true)
  }
}

/// The values of unique keys that objects have.
struct SeedKeys {
  private struct Number: Hashable {
    let entity: Int
    let properties: [Int]
  }

  private var taken: [Number: [[StoredValue]: Int64]] = [:]

  /// Whether no object has some values. Nulls are no values.
  func isFree(_ key: UniqueKey, _ values: [StoredValue], for object: Int64 = 0) -> Bool {
    if values.contains(.null) { return true }
    let owner = taken[Number(entity: key.entity, properties: key.properties)]?[values]
    return owner == nil || owner == object
  }

  /// Notes the values of an object.
  mutating func take(_ object: ManagedObject, _ entity: Entity) {
    for key in entity.uniqueKeys {
      let values = key.properties.map { object.storedValue($0, of: entity) }
      if values.contains(.null) { continue }
      taken[Number(entity: key.entity, properties: key.properties), default: [:]][values] = object._key
    }
  }

  /// Whether an object's unique keys stay unique with another partner.
  func allows(_ object: ManagedObject, _ entity: Entity, _ relationship: Relationship, _ partner: Int64) -> Bool {
    guard relationship.column != nil else { return true }
    return entity.uniqueKeys.allSatisfy { key in
      guard key.properties.contains(relationship.index) else { return true }
      let values = key.properties.map {
        $0 == relationship.index ? .integer(partner) : object.storedValue($0, of: entity)
      }
      return isFree(key, values, for: object._key)
    }
  }
}

extension ManagedObject {
  fileprivate final func entity(in model: Model) -> Entity { model.entities[type(of: self)._entity] }

  /// The value of an attribute, or the key of a partner whose key is in the row.
  fileprivate final func storedValue(_ property: Int, of entity: Entity) -> StoredValue {
    guard entity.properties[property].relationship != nil else { return _value(property) }
    let key = _reference(property)
    return key > 0 ? .integer(key) : .null
  }
}
