import TrellisMemory
import TrellisSchema
import TrellisStorage

extension DocumentReader {
  mutating func readEntities() throws(DocumentFault) {
    var scanner = try section(DocumentFormat.entities)
    var seen: Set<Int> = []
    guard try scanner.open("{", "}", "an object of entities") else { return }
    repeat {
      let place = scanner.offset
      let name = try scanner.key()
      guard let entity = document.model.entity(named: name), !entity.isAbstract else {
        throw DocumentFault("the model has no entity of this name that can have objects", at: place)
      }
      guard seen.insert(entity.index).inserted else {
        throw DocumentFault("this entity is already in the document", at: place)
      }
      try readRows(of: entity, &scanner)
    } while try scanner.goOn("}")
  }

  private mutating func readRows(of entity: Entity, _ scanner: inout JSONScanner) throws(DocumentFault) {
    guard try scanner.open("[", "]", "a list of objects") else { return }
    var reader = RowParser(
      entity: entity, fields: document.fields[entity.index], places: document.places[entity.index],
      folder: document.folder)
    repeat {
      let place = scanner.offset
      try loading.add(try reader.read(&scanner), at: place, bytes)
    } while try scanner.goOn("]")
  }

  // MARK: Pairs

  mutating func readPairs() throws(DocumentFault) {
    var scanner = try section(DocumentFormat.pairs)
    var seen: Set<Int> = []
    if try scanner.open("{", "}", "an object of pairs") {
      repeat {
        let place = scanner.offset
        let name = try scanner.key()
        guard let table = document.tableNames.firstIndex(where: { TextBytes.areEqual($0, name) }) else {
          throw DocumentFault("the model has no relationship of this name that is kept in pairs", at: place)
        }
        guard seen.insert(table).inserted else {
          throw DocumentFault("this relationship is already in the document", at: place)
        }
        try readPairs(of: table, &scanner)
      } while try scanner.goOn("}")
    }
  }

  private mutating func readPairs(of table: Int, _ scanner: inout JSONScanner) throws(DocumentFault) {
    guard try scanner.open("[", "]", "a list of pairs") else { return }
    var places: [Int] = []
    repeat {
      places.append(scanner.offset)
      try loading.add(try PairParser.read(&scanner), to: table, at: places[places.count - 1])
    } while try scanner.goOn("]")
    try loading.checkSymmetry(of: table, places, bytes)
  }
}

/// Reads the objects of one entity.
struct RowParser {
  let entity: Entity
  let fields: [DocumentLayout.Field]
  let places: [String: Int]
  let folder: ExternalFolder?

  init(entity: Entity, fields: [DocumentLayout.Field], places: [String: Int], folder: ExternalFolder?) {
    self.entity = entity
    self.folder = folder
    self.fields = fields
    self.places = places
  }

  private static let keyBytes = Array("\"_key\": ".utf8)
  private static let versionBytes = Array("\"_version\": ".utf8)

  /// The state of an object while it is read.
  private struct Draft {
    var key: Int64?
    var version: Int64?
    var values: [StoredValue]
    var isSeen: [Bool]
    /// The next field, if the object's keys are in the written order.
    var nextField = 0
  }

  mutating func read(_ scanner: inout JSONScanner) throws(DocumentFault) -> MemoryRow {
    let start = scanner.offset
    var draft = Draft(
      values: Array(repeating: .null, count: fields.count), isSeen: Array(repeating: false, count: fields.count))
    if try scanner.open("{", "}", "an object") {
      repeat { try readMember(&scanner, &draft) } while try scanner.goOn("}")
    }
    guard let key = draft.key else { throw fault("the object lacks its \"_key\"", at: start) }
    for (place, field) in fields.enumerated() where !field.isOptional && draft.values[place].isNull {
      throw fault("the object lacks \"\(field.name)\", which is not optional", at: start, field)
    }
    return MemoryRow(key: key, version: draft.version ?? 1, entity: entity.index, values: draft.values)
  }

  private func readMember(_ scanner: inout JSONScanner, _ draft: inout Draft) throws(DocumentFault) {
    let start = scanner.offset
    // Written objects have their keys in order and byte for byte. Other keys are looked up.
    for place in draft.nextField..<fields.count where scanner.take(fields[place].keyBytes) {
      draft.nextField = place + 1
      return try readValue(&scanner, &draft, place, start)
    }
    if scanner.take(Self.keyBytes) { return try readKey(&scanner, &draft, start) }
    if scanner.take(Self.versionBytes) { return try readVersion(&scanner, &draft, start) }
    let name = try scanner.key()
    if let place = places[name] { return try readValue(&scanner, &draft, place, start) }
    switch name {
    case DocumentFormat.key: try readKey(&scanner, &draft, start)
    case DocumentFormat.rowVersion: try readVersion(&scanner, &draft, start)
    default: throw fault("\(entity.name) has no stored property of this name", at: start)
    }
  }

  private func readValue(
    _ scanner: inout JSONScanner, _ draft: inout Draft, _ place: Int, _ start: Int
  ) throws(DocumentFault) {
    scanner.skipSpace()
    let field = fields[place]
    guard !draft.isSeen[place] else { throw fault("this key is already in the object", at: start, field) }
    draft.isSeen[place] = true
    if scanner.isAtNull(), field.form != .json {
      try scanner.word("null")
      return
    }
    do throws(DocumentFault) {
      let value = try scanner.value(field.form)
      draft.values[place] = value
      if case .file(let file) = value { draft.values[place] = .file(folder?.unsharedFile(file) ?? file) }
    } catch {
      throw fault(error.what, at: error.offset, field, error.code)
    }
  }

  private func readKey(_ scanner: inout JSONScanner, _ draft: inout Draft, _ start: Int) throws(DocumentFault) {
    guard draft.key == nil else { throw fault("this key is already in the object", at: start) }
    scanner.skipSpace()
    let place = scanner.offset
    let key = try scanner.integer("the object's key, a whole number above 0")
    guard key > 0, key < .max else { throw scanner.expected("the object's key, a whole number above 0", at: place) }
    draft.key = key
  }

  private func readVersion(_ scanner: inout JSONScanner, _ draft: inout Draft, _ start: Int) throws(DocumentFault) {
    guard draft.version == nil else { throw fault("this key is already in the object", at: start) }
    scanner.skipSpace()
    let place = scanner.offset
    let version = try scanner.integer("the object's version, a whole number above 0")
    guard version > 0, version < .max else {
      throw scanner.expected("the object's version, a whole number above 0", at: place)
    }
    draft.version = version
  }

  private func fault(
    _ what: String, at place: Int, _ field: DocumentLayout.Field? = nil, _ code: StoreError.Code = .damaged
  ) -> DocumentFault {
    let property = field.map { entity.properties[$0.property].name }
    let named = property.map { "\(entity.name).\($0): " } ?? ""
    return DocumentFault(named + what, at: place, code, entity: entity.name, properties: property.map { [$0] } ?? [])
  }
}

/// Reads the pairs of a join table.
enum PairParser {
  static func read(_ scanner: inout JSONScanner) throws(DocumentFault) -> SaveRequest.Pairs.Pair {
    let start = scanner.offset
    var numbers: [String: Int64] = [:]
    if try scanner.open("{", "}", "an object with \"from\" and \"to\"") {
      repeat { try readMember(&scanner, &numbers) } while try scanner.goOn("}")
    }
    guard let from = numbers[DocumentFormat.from], let to = numbers[DocumentFormat.to] else {
      throw DocumentFault("the pair lacks \"from\" or \"to\"", at: start)
    }
    return SaveRequest.Pairs.Pair(
      first: from, partner: to, place: numbers[DocumentFormat.place],
      inversePlace: numbers[DocumentFormat.inversePlace])
  }

  private static func readMember(
    _ scanner: inout JSONScanner, _ numbers: inout [String: Int64]
  ) throws(DocumentFault) {
    let start = scanner.offset
    let name = try scanner.key()
    switch name {
    case DocumentFormat.from, DocumentFormat.to, DocumentFormat.place, DocumentFormat.inversePlace: break
    default: throw DocumentFault("a pair has no key of this name", at: start)
    }
    guard numbers.updateValue(try scanner.integer("a whole number"), forKey: name) == nil else {
      throw DocumentFault("this key is already in the pair", at: start)
    }
  }
}
