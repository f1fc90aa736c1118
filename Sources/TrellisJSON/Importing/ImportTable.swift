import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage

/// The values of a unique key, as a key of dictionaries.
struct ImportKey: Hashable {
  /// The number in ``JSONMap/keys``.
  let number: Int
  let values: KeyValues
}

/// The objects that the records and references of one batch are about.
///
/// Keys are looked up in the store together: one request for each unique key and round, whatever the number of records.
/// A key that contains the owner of an object needs a round of its own, after the owner is known.
final class ImportTable {
  private let context: ManagedObjectContext
  private let map: JSONMap
  private let writer: ObjectWriter
  private let lost: LostObjects
  private(set) var targets: [ImportTarget] = []
  private var byKey: [ImportKey: ImportTarget] = [:]
  private var byObject: [ObjectIdentifier: ImportTarget] = [:]
  /// The keys that are to be looked up, by the number of the unique key.
  private var searches: [Int: Search] = [:]

  private struct Search {
    /// The values of each property of the key.
    var values: [[StoredValue]]
    var keys: [ImportKey] = []
    var targets: [ImportTarget] = []
  }

  init(_ context: ManagedObjectContext, _ map: JSONMap, _ writer: ObjectWriter, _ lost: LostObjects) {
    self.lost = lost
    self.context = context
    self.map = map
    self.writer = writer
  }

  /// The target of a key; nil if the table has none.
  func target(_ key: ImportKey) -> ImportTarget? { byKey[key] }

  private func add(_ object: ManagedObject? = nil) -> ImportTarget {
    if let object, let known = byObject[ObjectIdentifier(object)] { return known }
    let target = ImportTarget(targets.count, object)
    targets.append(target)
    if let object { byObject[ObjectIdentifier(object)] = target }
    return target
  }

  /// The number of the target of an object.
  func number(of object: ManagedObject) -> Int { target(of: object).number }

  /// The target of an object.
  func target(of object: ManagedObject) -> ImportTarget { add(object) }

  /// Notes the object that was made for a target.
  func note(_ object: ManagedObject, for target: ImportTarget) {
    target.object = object
    byObject[ObjectIdentifier(object)] = target
  }

  // MARK: Records

  /// Finds the targets of records, which are in the order of the input.
  func resolve(_ records: [ImportRecord]) throws {
    try resolveDone(records)
    var open = records.filter { $0.target == nil }
    for key in open.flatMap(references) { _ = target(key.number, key.values.all) }
    try search()
    while !open.isEmpty {
      var keyed: [(record: ImportRecord, target: ImportTarget)] = []
      var keyless: [ImportRecord] = []
      var later: [ImportRecord] = []
      for record in open {
        if let number = record.map.keyNumber {
          switch key(of: record) {
          case .known(let values): keyed.append((record, target(number, values)))
          case .needsPartner: later.append(record)
          case .incomplete(let problem):
            if let problem { record.note(problem) }
            let target = add()
            target.records.append(record)
            record.target = target
          }
        } else if let parent = record.parent, parent.target == nil {
          later.append(record)
        } else {
          keyless.append(record)
        }
      }
      try search()
      for (record, found) in keyed {
        let target = found.same ?? found
        target.records.append(record)
        record.target = target
        noteOtherKeys(of: record, target)
      }
      try resolveKeyless(keyless)
      if later.count == open.count {
        let stuck = later.filter(lacksPartnerOfKey)
        if stuck.isEmpty {
          for record in later {
            record.note(
              ImportProblem(.missingKey, at: record.start, "has a key of objects that depend on each other"))
            record.target = add()
          }
          return
        }
        // The partner may come in a later batch; until then the object is not made.
        for record in stuck {
          let target = add()
          target.records.append(record)
          record.target = target
        }
        later.removeAll { $0.target != nil }
      }
      open = later
    }
  }

  /// Finds the objects of records that were carried out in an earlier batch.
  private func resolveDone(_ records: [ImportRecord]) throws {
    let done = Dictionary(grouping: records.filter { $0.doneKey != nil }, by: \.map.entity.index)
    for (entity, records) in done.sortedByKey {
      let objects = try context.objects(records.compactMap(\.doneKey), entity: entity)
      for record in records {
        let target = add(record.doneKey.flatMap { objects[$0] })
        target.records.append(record)
        record.target = target
        if target.object == nil { record.isRejected = true }
        if let number = record.map.keyNumber, case .known(let values) = key(of: record) {
          let key = ImportKey(number: number, values: KeyValues(values))
          if byKey[key] == nil { byKey[key] = target }
        }
      }
    }
  }

  private enum KeyState {
    case known([StoredValue])
    /// The key contains a partner that is not known yet.
    case needsPartner
    case incomplete(ImportProblem?)
  }

  private func key(of record: ImportRecord) -> KeyState {
    var values: [StoredValue] = []
    for part in record.map.keyParts {
      switch part {
      case .field(let number):
        guard let value = record.values[number], !value.isNull else {
          let field = record.map.fields[number]
          // A value, or an object, that could not be read has a problem already.
          let isTold = record.problems.contains { $0.field == number || $0.field == nil && $0.property == nil }
          return .incomplete(
            isTold
              ? nil
              : ImportProblem(
                .missingKey, at: record.start, property: field.attribute.name,
                "is the key by which the object is found, and is absent"))
        }
        values.append(value)
      case .partner(let property):
        switch partner(property, of: record) {
        case .known(let part): values += part
        case .needsPartner: return .needsPartner
        case .incomplete(let problem): return .incomplete(problem)
        }
      }
    }
    return .known(values)
  }

  private func partner(_ property: Int, of record: ImportRecord) -> KeyState {
    if let parent = record.parent, record.link?.owner?.index == property {
      return parent.target.map { .known([$0.keyPart]) } ?? .needsPartner
    }
    let name = record.map.entity.properties[property].name
    guard let number = record.map.links.firstIndex(where: { $0.relationship.index == property }),
      let member = record.links[number]?.members.first
    else {
      return .incomplete(
        ImportProblem(
          .missingKey, at: record.start, property: name,
          "is part of the key by which the object is found, and is absent"
        ))
    }
    switch member {
    case .record(let inner): return inner.target.map { .known([$0.keyPart]) } ?? .needsPartner
    case .reference(let value, _):
      guard
        let key = record.map.links[number].referenceKeyNumber.map({
          ImportKey(number: $0, values: KeyValues(value))
        }), let target = knownTarget(key)
      else { return .needsPartner }
      return .known([target.keyPart])
    case .unreadable: return .incomplete(nil)
    }
  }

  /// The references that keys of records contain.
  private func references(inKeyOf record: ImportRecord) -> [ImportKey] {
    record.map.keyParts.compactMap { part in
      guard case .partner(let property) = part,
        let number = record.map.links.firstIndex(where: { $0.relationship.index == property }),
        case .reference(let value, _)? = record.links[number]?.members.first,
        let key = record.map.links[number].referenceKeyNumber
      else { return nil }
      return ImportKey(number: key, values: KeyValues(value))
    }
  }

  /// The target of a key that the store or the input has.
  private func knownTarget(_ key: ImportKey) -> ImportTarget? {
    byKey[key].flatMap { $0.object != nil || !$0.records.isEmpty ? $0 : nil }
  }

  /// Whether the key of a record refers to an object that is neither in the store nor among the records.
  private func lacksPartnerOfKey(_ record: ImportRecord) -> Bool {
    references(inKeyOf: record).contains { knownTarget($0) == nil }
  }

  /// Notes the values of a record by which references find it, if they use another key.
  private func noteOtherKeys(of record: ImportRecord, _ target: ImportTarget) {
    for (number, property) in map.referenceKeys[record.map.entity.index] ?? [] where number != record.map.keyNumber {
      guard let field = record.map.fields.firstIndex(where: { $0.attribute.index == property }),
        let value = record.values[field], !value.isNull
      else { continue }
      let key = ImportKey(number: number, values: KeyValues(value))
      if knownTarget(key) == nil { byKey[key] = target }
    }
  }

  // MARK: Objects without a key

  /// A nested object without a key is the partner that its owner has, or the member at its place.
  private func resolveKeyless(_ records: [ImportRecord]) throws {
    var nested: [ObjectIdentifier: (link: LinkMap, owners: [(ImportTarget, [ImportRecord])])] = [:]
    var order: [ObjectIdentifier] = []
    for record in records {
      guard let parent = record.parent, let link = record.link, let owner = parent.target, owner.object != nil,
        link.members != .add
      else {
        let target = add()
        target.records.append(record)
        record.target = target
        noteOtherKeys(of: record, target)
        continue
      }
      let id = ObjectIdentifier(link)
      if nested[id] == nil { order.append(id) }
      var group = nested[id] ?? (link, [])
      if let last = group.owners.last, last.1[0].parent === parent {
        group.owners[group.owners.count - 1].1.append(record)
      } else {
        group.owners.append((owner, [record]))
      }
      nested[id] = group
    }
    for id in order {
      guard let (link, owners) = nested[id] else { continue }
      try writer.load(link.relationship, of: owners.compactMap { $0.0.object })
      for (owner, records) in owners { try pair(records, with: owner, link) }
    }
  }

  private func pair(_ records: [ImportRecord], with owner: ImportTarget, _ link: LinkMap) throws {
    var present: [ManagedObject] = []
    if let object = owner.object {
      let property = link.relationship.index
      present =
        link.relationship.isToMany
        ? try object.members(of: property) : try object.partner(of: property).map { [$0] } ?? []
    }
    if !lost.isEmpty { present.removeAll { lost.isKept($0._key) } }
    // Members that are kept are not those of the document.
    let isPassedOver = link.members == .keep && link.relationship.isToMany && !present.isEmpty
    // An unordered relationship has the order in which its members were made.
    if link.relationship.isToMany, !link.relationship.isOrdered { present.sort { $0._key < $1._key } }
    for (place, record) in records.enumerated() {
      if isPassedOver, record.doneKey == nil {
        var nested: [ImportRecord] = []
        record.appendAll(to: &nested)
        for inner in nested { inner.isRejected = true }
        record.target = add()
        continue
      }
      let known = place < present.count ? present[place] : nil
      let isSame = known.map { type(of: $0)._entity == record.map.entity.index } ?? false
      let target = add(isSame ? known : nil)
      target.records.append(record)
      record.target = target
      noteOtherKeys(of: record, target)
    }
  }

  // MARK: References

  /// Finds the targets of references.
  func resolveReferences(of records: [ImportRecord]) throws {
    for record in records {
      for (number, link) in record.links.enumerated() {
        guard let link, let key = record.map.links[number].referenceKeyNumber else { continue }
        for case .reference(let value, _) in link.members { _ = target(key, [value]) }
      }
    }
    try search()
  }

  // MARK: Looking up

  /// The target of a key. One that the table does not have yet is looked up by the next ``search()``.
  private func target(_ number: Int, _ values: [StoredValue]) -> ImportTarget {
    let key = ImportKey(number: number, values: values.count == 1 ? KeyValues(values[0]) : KeyValues(values))
    if let known = byKey[key] { return known }
    let target = add()
    byKey[key] = target
    let unique = map.keys[number]
    let properties = map.model.entities[unique.entity].properties
    // A key with a partner that is new is in no store.
    for (place, value) in values.enumerated()
    where value.isNewObject && properties[unique.properties[place]].relationship != nil { return target }
    var search = searches.removeValue(forKey: number) ?? Search(values: values.map { _ in [] })
    for place in values.indices { search.values[place].append(values[place]) }
    search.keys.append(key)
    search.targets.append(target)
    searches[number] = search
    return target
  }

  /// Looks up the keys that were asked for, in one request for each unique key.
  private func search() throws {
    let wanted = searches
    searches = [:]
    for (number, search) in wanted.sortedByKey {
      let found = try context.holders(of: map.keys[number], values: search.values)
      for (place, object) in found.enumerated() {
        guard let object else { continue }
        let target = search.targets[place]
        if let known = byObject[ObjectIdentifier(object)] {
          // The object was found by another key before.
          target.same = known
          byKey[search.keys[place]] = known
        } else {
          note(object, for: target)
        }
      }
    }
  }
}

extension StoredValue {
  /// Whether the value stands for an object without a key, see ``ImportTarget/keyPart``.
  fileprivate var isNewObject: Bool { if case .integer(let key) = self { key < 0 } else { false } }
}
