import TrellisJSON
import TrellisModel
@_spi(Generated) import TrellisStorage

/// One object of a fixture, before it is made.
struct FixtureRecord {
  struct Link {
    let relationship: Relationship
    let offset: Int
    var partners: [FixtureName] = []
    /// The places of the partners' names.
    var places: [Int] = []
  }

  let entity: Entity
  let name: FixtureName
  let offset: Int
  /// The values by property number.
  var values: [StoredValue]
  var assigned = ColumnMask(bits: 0)
  /// The places of the given values, by property number.
  var offsets: [Int: Int] = [:]
  var links: [Link] = []

  init(_ entity: Entity, _ name: FixtureName, at offset: Int) {
    self.entity = entity
    self.name = name
    self.offset = offset
    values = entity.properties.map { $0.attribute.flatMap(\.initialValue) ?? .null }
  }

  mutating func set(_ attribute: Attribute, _ value: StoredValue, at offset: Int) {
    values[attribute.index] = value
    offsets[attribute.index] = offset
    assigned.bits |= ColumnMask.bit(of: attribute.index)
  }
}

/// Reads the document of a fixture. The scanner and the values are those of imports.
struct FixtureReader {
  private let model: Model
  private var scanner: JSONScanner
  private var records: [FixtureRecord] = []
  private var names: [FixtureName: Int] = [:]

  init(_ bytes: UnsafeBufferPointer<UInt8>, _ model: Model) {
    self.model = model
    scanner = JSONScanner(bytes, at: JSONScanner.markLength(bytes))
  }

  /// - Returns: the objects, in the order of the document. Each partner that they name is one of them.
  mutating func read() throws(DocumentFault) -> [FixtureRecord] {
    try JSONScanner.checkEncoding(scanner.bytes)
    scanner.skipSpace()
    if try scanner.open("{", "}", "an object of entities") {
      repeat { try readEntity() } while try scanner.goOn("}")
    }
    scanner.skipSpace()
    guard scanner.next == nil else { throw scanner.expected("the end of the document") }
    for record in records { try check(record) }
    return records
  }

  private mutating func readEntity() throws(DocumentFault) {
    let place = scanner.offset
    let name = try scanner.key()
    guard let entity = model.entity(named: name) else {
      throw DocumentFault(
        "\(model.name) has no entity '\(name)'" + suggestion(for: name, among: model.entities.map(\.name)), at: place)
    }
    guard !entity.isAbstract else {
      throw DocumentFault("\(name) is abstract, so only its subentities have objects", at: place)
    }
    let root = entity.root(in: model)
    guard try scanner.open("{", "}", "an object with the objects of \(name) by name") else { return }
    repeat {
      let place = scanner.offset
      let name = FixtureName(root: root, name: try scanner.key())
      guard names.updateValue(records.count, forKey: name) == nil else {
        throw DocumentFault("another object has the name '\(name.name)' already", at: place)
      }
      var record = FixtureRecord(entity, name, at: place)
      try readObject(&record)
      records.append(record)
    } while try scanner.goOn("}")
  }

  private mutating func readObject(_ record: inout FixtureRecord) throws(DocumentFault) {
    guard try scanner.open("{", "}", "an object with the properties of \(record.entity.name)") else { return }
    repeat { try readProperty(&record) } while try scanner.goOn("}")
  }

  private mutating func readProperty(_ record: inout FixtureRecord) throws(DocumentFault) {
    let (entity, place) = (record.entity, scanner.offset)
    let name = try scanner.key()
    if let composite = entity.composites.first(where: { $0.name == name }) {
      try readComposite(composite, &record)
    } else if let property = entity.property(named: name), property.attribute?.isField != true {
      try readValue(of: property, &record, at: place)
    } else {
      let known = entity.properties.filter { $0.attribute?.isField != true }.map(\.name) + entity.composites.map(\.name)
      throw DocumentFault("\(entity.name) has no property '\(name)'" + suggestion(for: name, among: known), at: place)
    }
  }

  private mutating func readValue(
    of property: Property, _ record: inout FixtureRecord, at place: Int
  ) throws(DocumentFault) {
    let name = "\(record.entity.name).\(property.name)"
    switch property {
    case .relationship(let relationship):
      guard !relationship.isTransient else { throw DocumentFault("\(name) is not stored", at: place) }
      guard !record.links.contains(where: { $0.relationship === relationship }) else {
        throw DocumentFault("\(name) is given already", at: place)
      }
      try readPartners(relationship, name, &record)
    case .attribute(let attribute):
      guard attribute.column != nil, attribute.description.derivation == nil else {
        throw DocumentFault("\(name) is not stored, or is computed from others", at: place)
      }
      guard record.offsets[attribute.index] == nil else { throw DocumentFault("\(name) is given already", at: place) }
      let start = scanner.offset
      record.set(attribute, try value(of: attribute, name), at: start)
    }
  }

  // MARK: Values

  private mutating func value(of attribute: Attribute, _ name: String) throws(DocumentFault) -> StoredValue {
    let start = scanner.offset
    if scanner.isAtNull(), attribute.isOptional {
      try scanner.word("null")
      return .null
    }
    // A store keeps such elements in another form than documents have.
    if case .array(let element) = attribute.type, element == .date || element == .decimal {
      let map = try map(of: attribute, isItem: true, name)
      var items: [StoredValue] = []
      if try scanner.open("[", "]", "a list") {
        repeat { items.append(try read(map, name)) } while try scanner.goOn("]")
      }
      guard let text = ListText.text(items, of: map.type) else {
        throw DocumentFault("\(name) must be \(attribute.expectation)", at: start)
      }
      return .text(text)
    }
    return try read(try map(of: attribute, isItem: false, name), name)
  }

  private func map(of attribute: Attribute, isItem: Bool, _ name: String) throws(DocumentFault) -> ValueMap {
    do throws(JSONMappingFault) {
      return try ValueMap(attribute, PropertyJSON(), isItem: isItem, name)
    } catch {
      throw DocumentFault(String(error.message.dropLast()), at: scanner.offset)
    }
  }

  private mutating func read(_ map: ValueMap, _ name: String) throws(DocumentFault) -> StoredValue {
    let start = scanner.offset
    guard let value = try map.read(&scanner) else {
      throw DocumentFault("\(name) must be \(map.expectation)", at: start)
    }
    return value
  }

  private mutating func readComposite(_ composite: Composite, _ record: inout FixtureRecord) throws(DocumentFault) {
    let start = scanner.offset
    let name = "\(record.entity.name).\(composite.name)"
    if let presence = composite.presence, let attribute = record.entity.properties[presence].attribute {
      if scanner.isAtNull() { return try scanner.word("null") }
      record.set(attribute, .integer(1), at: start)
    }
    guard try scanner.open("{", "}", "an object with the fields of \(name)") else { return }
    repeat {
      let place = scanner.offset
      let field = try scanner.key()
      let path = "\(composite.name).\(field)"
      if let property = record.entity.property(named: path), composite.fieldNames.contains(path) {
        try readValue(of: property, &record, at: place)
      } else if let inner = composite.inner(named: path) {
        try readComposite(inner, &record)
      } else {
        let known = composite.type.members.map(\.name)
        throw DocumentFault("\(name) has no field '\(field)'" + suggestion(for: field, among: known), at: place)
      }
    } while try scanner.goOn("}")
  }

  // MARK: Partners

  private mutating func readPartners(
    _ relationship: Relationship, _ name: String, _ record: inout FixtureRecord
  ) throws(DocumentFault) {
    var link = FixtureRecord.Link(relationship: relationship, offset: scanner.offset)
    if relationship.isToMany {
      guard scanner.next == UInt8(ascii: "[") else {
        throw DocumentFault("\(name) must be a list of names of objects", at: scanner.offset)
      }
      if try scanner.open("[", "]", "a list") {
        repeat { try readPartner(&link, name) } while try scanner.goOn("]")
      }
    } else if scanner.isAtNull() {
      try scanner.word("null")
    } else {
      try readPartner(&link, name)
    }
    record.links.append(link)
  }

  private mutating func readPartner(_ link: inout FixtureRecord.Link, _ name: String) throws(DocumentFault) {
    guard scanner.next == UInt8(ascii: "\"") else {
      throw DocumentFault("\(name) must be the name of an object, in double quotes", at: scanner.offset)
    }
    link.places.append(scanner.offset)
    let root = model.entities[link.relationship.destination].root(in: model)
    link.partners.append(FixtureName(root: root, name: try scanner.string()))
  }

  // MARK: Checks

  /// Completes an object, and checks that it has all values and that its partners are there.
  private mutating func check(_ record: FixtureRecord) throws(DocumentFault) {
    guard let number = names[record.name] else { return }
    for group in record.entity.optionalGroups.reversed() { group.complete(&records[number].values) }
    for case let attribute? in record.entity.properties.map(\.attribute)
    where !attribute.isOptional && attribute.column != nil && attribute.description.derivation == nil
      && records[number].values[attribute.index].isNull
    {
      throw DocumentFault(
        "\(record.entity.name).\(attribute.name) needs a value: it is neither optional nor has a default",
        at: record.offset)
    }
    for link in record.links {
      let destination = model.entities[link.relationship.destination]
      for (partner, place) in zip(link.partners, link.places) {
        if let found = names[partner], destination.subtree.contains(records[found].entity.index) { continue }
        let known = records.filter { destination.subtree.contains($0.entity.index) }.map(\.name.name)
        throw DocumentFault(
          "\(record.entity.name).\(link.relationship.name): there is no \(destination.name) '\(partner.name)'"
            + suggestion(for: partner.name, among: known), at: place)
      }
    }
  }
}

extension Composite {
  fileprivate func inner(named name: String) -> Composite? {
    for case .composite(let inner) in members where inner.name == name { return inner }
    return nil
  }
}
