import TrellisMemory
import TrellisSchema
import TrellisStorage

/// The contents of a document.
struct LoadedDocument {
  var state: MemoryState
  var nextKey: Int64
  var lineage = DocumentLineage()
  /// The reason why the document is opened read-only although it is writable. Nil if it is not.
  var refusalOfWrites: StoreError?
}

/// Reads a document into a state: first the offsets of the sections, then the head, then the objects, then the
/// references. So the order of keys does not matter, and no part of another program's file is read as an object.
struct DocumentReader {
  let document: DocumentLayout
  let bytes: UnsafeBufferPointer<UInt8>
  /// The offsets of the values of the document's own keys.
  private(set) var sections: [String: Int] = [:]
  /// The offset of the first key that is unknown to this version.
  private var unknownKey: Int?
  private var nextKey: Int64 = 1
  private var lineage = DocumentLineage()
  private var refusalOfWrites: StoreError?
  var loading: StateLoading

  /// - Parameter path: the path for messages.
  /// - Throws: ``StoreError`` with the position of the problem. Then nothing of the document is used.
  static func read(_ data: [UInt8], _ path: String, _ document: DocumentLayout) throws(StoreError) -> LoadedDocument {
    let result = data.withUnsafeBufferPointer { bytes -> Result<LoadedDocument, StoreError> in
      do throws(DocumentFault) {
        var reader = DocumentReader(bytes, document)
        return .success(try reader.read(path))
      } catch {
        return .failure(error.error(path, bytes))
      }
    }
    return try result.get()
  }

  private init(_ bytes: UnsafeBufferPointer<UInt8>, _ document: DocumentLayout) {
    self.bytes = bytes
    self.document = document
    loading = StateLoading(document)
  }

  private mutating func read(_ path: String) throws(DocumentFault) -> LoadedDocument {
    try checkEncoding()
    try findSections()
    try readHead(path)
    try readEntities()
    try loading.checkReferences(bytes)
    try readPairs()
    return LoadedDocument(
      state: loading.state, nextKey: max(nextKey, loading.highestKey + 1), lineage: lineage,
      refusalOfWrites: refusalOfWrites)
  }

  private func checkEncoding() throws(DocumentFault) {
    if String(validating: bytes, as: UTF8.self) != nil { return }
    var place = 0
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    while case .valid(let scalar) = parser.parseScalar(from: &iterator) { place += scalar.count }
    throw DocumentFault("the text is not UTF-8 from here on", at: place)
  }

  // MARK: Sections

  private static let known: Set<String> = [
    DocumentFormat.format, DocumentFormat.model, DocumentFormat.version, DocumentFormat.checksum,
    DocumentFormat.nextKey, DocumentFormat.storage, DocumentFormat.entities, DocumentFormat.pairs,
    DocumentFormat.description, DocumentFormat.features, DocumentFormat.models,
  ]

  private mutating func findSections() throws(DocumentFault) {
    var scanner = JSONScanner(bytes, at: JSONScanner.markLength(bytes))
    scanner.skipSpace()
    guard scanner.next == UInt8(ascii: "{") else { throw foreign(at: scanner.offset) }
    if try scanner.open("{", "}", "an object") {
      repeat {
        let place = scanner.offset
        let key = try scanner.key()
        if !Self.known.contains(key), unknownKey == nil { unknownKey = place }
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

  private mutating func readHead(_ path: String) throws(DocumentFault) {
    try checkFeatures(path)
    let name = try text(of: DocumentFormat.model)
    var scanner = try section(DocumentFormat.nextKey)
    let start = scanner.offset
    nextKey = try scanner.integer("the next key, a whole number")
    guard nextKey > 0 else { throw scanner.expected("a number above 0", at: start) }
    // The same model has the same layout, so usually only the checksum has to be compared.
    let checksum = try text(of: DocumentFormat.checksum)
    if checksum == document.model.checksum { return }
    let (stored, place) = try storage()
    let current = document.model.storageSignature
    guard TextBytes.areEqual(stored, current) else {
      let differences = Model.differences(from: stored, to: current).joined(separator: "; ")
      throw DocumentFault(
        "the document was made with another model: \(differences); open it with the model it was made with, or migrate it",
        at: place, .otherModel)
    }
    // Models that have the same storage layout by accident must not open each other's documents.
    guard TextBytes.areEqual(name, document.model.name) else {
      throw DocumentFault(
        "the document holds the objects of the model \(name), and not of \(document.model.name), though both are stored "
          + "alike; open it with \(name), or write \"model\": \"\(name)\" in the model file if it is the same model",
        at: try section(DocumentFormat.model).offset, .otherModel)
    }
    // The next save writes the program's model, even if the document had it before.
    lineage.former.append(try readPresentModel(checksum: checksum))
    lineage.former.removeAll { $0.checksum == document.model.checksum }
  }

  /// Checks the features that a newer Trellis lists in the document.
  private mutating func checkFeatures(_ path: String) throws(DocumentFault) {
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

  private func storage() throws(DocumentFault) -> (String, Int) {
    var scanner = try section(DocumentFormat.storage)
    let start = scanner.offset
    var lines: [String] = []
    if try scanner.open("[", "]", "a list of texts") {
      repeat {
        guard scanner.next == UInt8(ascii: "\"") else { throw scanner.expected("a text in double quotes") }
        lines.append(try scanner.string())
      } while try scanner.goOn("]")
    }
    return (lines.joined(separator: "\n"), start)
  }
}
