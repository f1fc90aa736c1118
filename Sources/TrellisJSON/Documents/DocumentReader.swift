import Foundation
import TrellisModel
import TrellisStorage

/// The contents of a document.
struct LoadedDocument {
  var state: MemoryState
  var nextKey: Int64
  var lineage = DocumentLineage()
  /// The reason why the document is opened read-only although it is writable. Nil if it is not.
  var refusalOfWrites: StoreError?
  /// Whether a migration has left out some of the document's data.
  var losesData = false
}

/// Receives the rows and pairs of a document, and checks what concerns several of them.
protocol DocumentRows {
  /// Adds an object that begins at an offset of the document.
  mutating func add(_ row: MemoryRow, at offset: Int, _ bytes: UnsafeBufferPointer<UInt8>) throws(DocumentFault)
  /// Called after the last object.
  mutating func checkReferences(_ bytes: UnsafeBufferPointer<UInt8>) throws(DocumentFault)
  /// Adds a pair that begins at an offset of the document.
  mutating func add(_ pair: SaveRequest.Pairs.Pair, to table: Int, at offset: Int) throws(DocumentFault)
  /// Called after the last pair of a join table, with the offsets of its pairs.
  func checkSymmetry(
    of table: Int, _ offsets: [Int], _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(DocumentFault)
}

/// A migration that a document needs, and the model that it was written with.
struct NeededMigration {
  let migration: Migration
  let former: DocumentLineage.FormerModel
  let steps: [CodedStep]
}

/// The model of a document that is not the program's, and the models that the document had before.
struct FoundModel {
  let migration: Migration
  let model: DocumentLineage.FormerModel
  let lineage: DocumentLineage
}

extension DocumentReader where Rows == StateLoading {
  /// - Parameter path: the path for messages.
  /// - Throws: ``StoreError`` with the position of the problem. Then nothing of the document is used.
  static func read(_ data: [UInt8], _ path: String, _ document: DocumentLayout) throws(StoreError) -> LoadedDocument {
    let result = data.withUnsafeBufferPointer { bytes -> Result<LoadedDocument, StoreError> in
      do throws(DocumentFault) {
        var reader = DocumentReader(bytes, document, StateLoading(document))
        return .success(try reader.read(path))
      } catch {
        return .failure(error.error(path, bytes))
      }
    }
    return try result.get()
  }

  /// The migration that a document needs before it is read with a model; nil if it can be read as it is.
  ///
  /// - Parameter tellsBounds: whether a document that can be read as it is, but whose rows may break rules, needs one.
  /// - Throws: ``StoreError`` if the document is damaged, foreign, of another model or of a newer one.
  static func migration(
    of data: [UInt8], _ path: String, to document: DocumentLayout, _ policy: MigrationPolicy,
    tellsBounds: Bool = false
  ) throws(StoreError) -> NeededMigration? {
    let result = data.withUnsafeBufferPointer { bytes -> Result<FoundModel?, StoreError> in
      do throws(DocumentFault) {
        var reader = DocumentReader(bytes, document, StateLoading(document))
        return .success(try reader.readModel(path, tellsIdentity: tellsBounds || !policy.steps.isEmpty))
      } catch {
        return .failure(error.error(path, bytes))
      }
    }
    guard let found = try result.get() else { return nil }
    let steps = try policy.steps(
      for: found.model.checksum, former: found.lineage.former.map(\.checksum), to: document.model)
    if found.migration.isIdentity && steps.isEmpty && !(tellsBounds && found.migration.isTold) {
      return nil
    }
    return NeededMigration(migration: found.migration, former: found.model, steps: steps)
  }

  private mutating func read(_ path: String) throws(DocumentFault) -> LoadedDocument {
    try readContents(path)
    return LoadedDocument(
      state: loading.state, nextKey: max(nextKey, loading.highestKey + 1), lineage: lineage,
      refusalOfWrites: refusalOfWrites)
  }
}

/// The document's own keys.
private let documentKeys: Set<String> = [
  DocumentFormat.format, DocumentFormat.model, DocumentFormat.version, DocumentFormat.checksum,
  DocumentFormat.nextKey, DocumentFormat.storage, DocumentFormat.entities, DocumentFormat.pairs,
  DocumentFormat.description, DocumentFormat.features, DocumentFormat.models,
]

/// Reads a document: first the offsets of the sections, then the head, then the objects, then the
/// references. So the order of keys does not matter, and no part of another program's file is read as an object.
struct DocumentReader<Rows: DocumentRows> {
  let document: DocumentLayout
  let bytes: UnsafeBufferPointer<UInt8>
  /// The offsets of the values of the document's own keys.
  private(set) var sections: [String: Int] = [:]
  /// The offset of the first key that is unknown to this version.
  private var unknownKey: Int?
  fileprivate(set) var nextKey: Int64 = 1
  fileprivate(set) var lineage = DocumentLineage()
  fileprivate var refusalOfWrites: StoreError?
  var loading: Rows

  init(_ bytes: UnsafeBufferPointer<UInt8>, _ document: DocumentLayout, _ loading: Rows) {
    self.bytes = bytes
    self.document = document
    self.loading = loading
  }

  /// Continues with the sections that another reader has found.
  init<Others>(continuing other: DocumentReader<Others>, with document: DocumentLayout, _ loading: Rows) {
    self.init(other.bytes, document, loading)
    sections = other.sections
    unknownKey = other.unknownKey
  }

  /// Finds the document's sections.
  mutating func find() throws(DocumentFault) {
    try JSONScanner.checkEncoding(bytes)
    try findSections()
  }

  /// Reads the whole document.
  mutating func readContents(_ path: String) throws(DocumentFault) {
    try find()
    try readHead(path)
    try readRows()
  }

  /// Reads the objects and the pairs.
  mutating func readRows() throws(DocumentFault) {
    try readEntities()
    try loading.checkReferences(bytes)
    try readPairs()
  }

  // MARK: Sections

  private mutating func findSections() throws(DocumentFault) {
    var scanner = JSONScanner(bytes, at: JSONScanner.markLength(bytes))
    scanner.skipSpace()
    guard scanner.next == UInt8(ascii: "{") else { throw foreign(at: scanner.offset) }
    if try scanner.open("{", "}", "an object") {
      repeat {
        let place = scanner.offset
        let key = try scanner.key()
        if !documentKeys.contains(key), unknownKey == nil { unknownKey = place }
        guard sections.updateValue(scanner.offset, forKey: key) == nil else {
          throw DocumentFault("this key is already in the document", at: place)
        }
        try scanner.skipValue(depth: 1)
      } while try scanner.goOn("}")
    }
    scanner.skipSpace()
    guard scanner.offset == bytes.count else { throw scanner.expected("the end of the document") }
    guard let format = sections[DocumentFormat.format] else { throw foreign(at: 0) }
    try checkFormat(JSONScanner(bytes, at: format))
  }

  private func foreign(at place: Int) -> DocumentFault {
    DocumentFault(
      "this is no document of Trellis, which is an object with the key \"trellis\"", at: place, .foreignFile)
  }

  private func checkFormat(_ scanner: JSONScanner) throws(DocumentFault) {
    var scanner = scanner
    let start = scanner.offset
    let format = try scanner.integer("the number of the document's format")
    guard format > 0 else { throw scanner.expected("the number of the document's format", at: start) }
    guard format <= DocumentFormat.number else {
      throw DocumentFault(
        "the document was written by a newer version of Trellis (format \(format), known up to "
          + "\(DocumentFormat.number)); update Trellis in this program", at: start, .newerFormat)
    }
  }

  /// A scanner at a section's value.
  func section(_ name: String) throws(DocumentFault) -> JSONScanner {
    guard let offset = sections[name] else { throw DocumentFault("the document lacks the key \"\(name)\"", at: 0) }
    return JSONScanner(bytes, at: offset)
  }

  // MARK: Head

  mutating func readHead(_ path: String) throws(DocumentFault) {
    try checkFeatures(path)
    var scanner = try section(DocumentFormat.nextKey)
    let start = scanner.offset
    nextKey = try scanner.integer("the next key, a whole number")
    guard nextKey > 0 else { throw scanner.expected("a number above 0", at: start) }
    let checksum = try text(of: DocumentFormat.checksum)
    if TextBytes.areEqual(checksum, document.model.checksum) { return }
    // The next save writes the program's model, even if the document had it before.
    lineage.former.append(try readPresentModel(checksum: checksum))
    let current = document.model.checksum
    lineage.former.removeAll { $0.checksum == current }
  }

  /// - Parameter forSteps: whether a model that is stored like the program's is of interest, too.
  fileprivate mutating func readModel(_ path: String, tellsIdentity: Bool) throws(DocumentFault) -> FoundModel? {
    try JSONScanner.checkEncoding(bytes)
    try findSections()
    try checkFeatures(path)
    // The same model has the same layout, so usually only the checksum has to be compared.
    let checksum = try text(of: DocumentFormat.checksum)
    if TextBytes.areEqual(checksum, document.model.checksum) { return nil }
    let signature = try storage()
    let current = document.model.storageSignature
    let name = try text(of: DocumentFormat.model)
    guard TextBytes.areEqual(name, document.model.name) else {
      let other = OtherModel(name, signature, document.model)
      throw DocumentFault(
        "\(other.message("the document")); \(other.remedy)", at: sections[DocumentFormat.model] ?? 0, .otherModel)
    }
    // A model that the document had earlier must not replace its newer model.
    let isFormerModel = lineage.former.contains { TextBytes.areEqual($0.checksum, document.model.checksum) }
    if isFormerModel && !TextBytes.areEqual(signature, current) { throw try newerModel() }
    let migration = Migration(from: try storedModel(checksum), to: document.model)
    if migration.isIdentity && (isFormerModel || !tellsIdentity) { return nil }
    if isFormerModel { throw try newerModel() }
    return FoundModel(migration: migration, model: try readPresentModel(checksum: checksum), lineage: lineage)
  }

  private func newerModel() throws(DocumentFault) -> DocumentFault {
    DocumentFault(
      "the document has been migrated from this program's model to a newer one; update this program. "
        + ModelFit.adviceToNewerProgram.dropLast(),
      at: try section(DocumentFormat.checksum).offset, .newerModel)
  }

  /// The model that the document was written with.
  func storedModel(_ checksum: String) throws(DocumentFault) -> Model {
    var scanner = try section(DocumentFormat.description)
    let start = scanner.offset
    let text = try Self.verbatim(&scanner)
    do throws(StoreError) {
      return try StoredModelReading.model(text, checksum: checksum, of: "the document")
    } catch {
      throw DocumentFault(
        String(error.message.dropLast()), at: start, error.code)
    }
  }

  /// Checks the features that a newer Trellis lists in the document.
  mutating func checkFeatures(_ path: String) throws(DocumentFault) {
    lineage.features = try readFeatures()
    if let refusal = lineage.features.refusal(of: "the document") {
      throw DocumentFault(
        String(refusal.message.dropLast()) + "; update Trellis in this program",
        at: sections[DocumentFormat.features] ?? 0, refusal.code)
    }
    lineage.former = try readFormerModels()
    refusalOfWrites = lineage.features.refusalOfWrites(to: path)
    guard let unknownKey else { return }
    // A save writes the whole document, so unknown content would be lost.
    var features = lineage.features
    features.readOnlyCompatible.formUnion(features.compatible.subtracting(StoreFeatures.known.compatible))
    refusalOfWrites = features.refusalOfWrites(to: path)
    if refusalOfWrites == nil { throw DocumentFault("a document has no key of this name", at: unknownKey) }
  }

  func text(of name: String) throws(DocumentFault) -> String {
    var scanner = try section(name)
    guard scanner.next == UInt8(ascii: "\"") else { throw scanner.expected("a text in double quotes") }
    return try scanner.string()
  }

  private func storage() throws(DocumentFault) -> String {
    var scanner = try section(DocumentFormat.storage)
    var lines: [String] = []
    if try scanner.open("[", "]", "a list of texts") {
      repeat {
        guard scanner.next == UInt8(ascii: "\"") else { throw scanner.expected("a text in double quotes") }
        lines.append(try scanner.string())
      } while try scanner.goOn("]")
    }
    return lines.joined(separator: "\n")
  }
}

// MARK: - Rows

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

// MARK: - Lineage

extension DocumentReader {
  /// The features that the document uses. Empty if the document does not list any.
  func readFeatures() throws(DocumentFault) -> StoreFeatures {
    var features = StoreFeatures()
    guard let start = sections[DocumentFormat.features] else { return features }
    var scanner = JSONScanner(bytes, at: start)
    guard try scanner.open("{", "}", "an object with lists of words") else { return features }
    repeat {
      let place = scanner.offset
      let key = try scanner.key()
      let words = try Self.words(&scanner)
      switch key {
      case DocumentFormat.compatible: features.compatible = words
      case DocumentFormat.readOnlyCompatible: features.readOnlyCompatible = words
      case DocumentFormat.incompatible: features.incompatible = words
      default: throw DocumentFault("there is no such kind of features", at: place)
      }
    } while try scanner.goOn("}")
    return features
  }

  private static func words(_ scanner: inout JSONScanner) throws(DocumentFault) -> Set<String> {
    let start = scanner.offset
    var words: [String] = []
    if try scanner.open("[", "]", "a list of words") {
      repeat { words.append(try text(&scanner)) } while try scanner.goOn("]")
    }
    guard StoreFeatures.areWords(words) else {
      throw DocumentFault("features are words of letters from a to z, digits and hyphens", at: start)
    }
    return Set(words)
  }

  /// The former models of the document.
  func readFormerModels() throws(DocumentFault) -> [DocumentLineage.FormerModel] {
    guard let start = sections[DocumentFormat.models] else { return [] }
    var scanner = JSONScanner(bytes, at: start)
    var models: [DocumentLineage.FormerModel] = []
    guard try scanner.open("[", "]", "a list of models") else { return [] }
    repeat { models.append(try Self.formerModel(&scanner)) } while try scanner.goOn("]")
    return models
  }

  private static func formerModel(_ scanner: inout JSONScanner) throws(DocumentFault) -> DocumentLineage.FormerModel {
    let start = scanner.offset
    var model = DocumentLineage.FormerModel(checksum: "", description: [])
    if try scanner.open("{", "}", "a model, which is an object") {
      repeat {
        let place = scanner.offset
        switch try scanner.key() {
        case DocumentFormat.checksum: model.checksum = try text(&scanner)
        case DocumentFormat.version: model.version = try text(&scanner)
        case DocumentFormat.replaced:
          let place = scanner.offset
          guard let moment = DateText.microseconds(try text(&scanner)) else {
            throw scanner.expected("a date", at: place)
          }
          model.replaced = moment
        case DocumentFormat.description: model.description = try verbatim(&scanner)
        default: throw DocumentFault("a former model has no key of this name", at: place)
        }
      } while try scanner.goOn("}")
    }
    guard !model.checksum.isEmpty, !model.description.isEmpty else {
      throw DocumentFault("a former model has a \"checksum\" and a \"description\"", at: start)
    }
    return model
  }

  /// The document's current model, as a former model, because it is about to be replaced.
  func readPresentModel(checksum: String) throws(DocumentFault) -> DocumentLineage.FormerModel {
    var scanner = try section(DocumentFormat.description)
    let description = try Self.verbatim(&scanner)
    var version: String?
    if sections[DocumentFormat.version] != nil { version = try text(of: DocumentFormat.version) }
    return DocumentLineage.FormerModel(
      checksum: checksum, version: version, replaced: Int64(Date().timeIntervalSince1970 * 1_000_000),
      description: description)
  }

  private static func text(_ scanner: inout JSONScanner) throws(DocumentFault) -> String {
    guard scanner.next == UInt8(ascii: "\"") else { throw scanner.expected("a text in double quotes") }
    return try scanner.string()
  }

  private static func verbatim(_ scanner: inout JSONScanner) throws(DocumentFault) -> [UInt8] {
    let start = scanner.offset
    try scanner.skipValue(depth: 4)
    return Array(scanner.bytes[start..<scanner.offset])
  }
}
