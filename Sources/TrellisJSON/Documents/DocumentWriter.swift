import TrellisModel
import TrellisStorage

/// The rows and pairs that a document is written from. A body that returns false ends the iteration.
protocol DocumentContents {
  associatedtype Row: DocumentRow
  /// Passes the rows of exactly one entity, in the order of their keys.
  func forEachRow(of entity: Entity, _ body: (Row) -> Bool) throws(StoreError)
  /// Passes the rows of a join table, in the order of both keys.
  func forEachPair(of table: Int, _ body: (SaveRequest.Pairs.Pair) -> Bool) throws(StoreError)
}

/// A row that a document is written from.
protocol DocumentRow {
  var key: Int64 { get }
  var version: Int64 { get }
  /// The number of the row's entity.
  var entity: Int { get }
  /// The value of a column.
  func value(_ column: Int) -> StoredValue
}

extension MemoryRow: DocumentRow {}

/// Where a document goes.
enum DocumentTarget {
  /// The memory, whole.
  case memory
  /// A stream that receives the text in pieces.
  case stream((borrowing [UInt8]) throws(StoreError) -> Void)
}

extension DocumentWriter where Contents == MemoryState {
  /// The text of a document.
  ///
  /// - Parameter sizeHint: the approximate number of bytes.
  /// - Throws: ``StoreError`` if a value or the document cannot be written so that it can be read again.
  static func text(
    _ state: MemoryState, nextKey: Int64, _ lineage: DocumentLineage, _ document: DocumentLayout, sizeHint: Int = 0
  ) throws(StoreError) -> [UInt8] {
    var writer = DocumentWriter(document: document, contents: state, nextKey: nextKey, lineage: lineage)
    writer.bytes.reserveCapacity(sizeHint + sizeHint / 8 + 4096)
    try writer.write()
    guard writer.bytes.count <= DocumentFormat.maximumSize else { throw tooLarge(writer.bytes.count) }
    return writer.bytes
  }
}

/// Writes the contents of a store as a document: the head, then the objects in the order of the model and of their keys,
/// one per line.
struct DocumentWriter<Contents: DocumentContents> {
  /// The number of bytes that a stream receives at once.
  private static var pieceSize: Int { 1 << 18 }

  private let document: DocumentLayout
  private let contents: Contents
  private let nextKey: Int64
  private let lineage: DocumentLineage
  private let target: DocumentTarget
  private var bytes: [UInt8] = []

  init(
    document: DocumentLayout, contents: Contents, nextKey: Int64, lineage: DocumentLineage,
    target: DocumentTarget = .memory
  ) {
    self.document = document
    self.contents = contents
    self.nextKey = nextKey
    self.lineage = lineage
    self.target = target
  }

  /// Writes the document to the stream.
  ///
  /// - Throws: ``StoreError`` if a value cannot be written so that it can be read again, or errors of the contents and
  ///   the stream.
  mutating func stream() throws(StoreError) {
    try write()
    try pass(atLeast: 1)
  }

  /// Passes the text on to the stream if there is enough of it.
  private mutating func pass(atLeast size: Int) throws(StoreError) {
    guard case .stream(let receive) = target, bytes.count >= size else { return }
    try receive(bytes)
    bytes.removeAll(keepingCapacity: true)
  }

  /// The reason why writing has to end; nil if it goes on.
  private mutating func fault(afterPiece isFull: Bool) -> StoreError? {
    guard isFull else { return nil }
    do throws(StoreError) { try pass(atLeast: Self.pieceSize) } catch { return error }
    return nil
  }

  /// Whether the document has become too large for a save.
  private var isTooLarge: Bool {
    if case .memory = target { bytes.count > DocumentFormat.maximumSize } else { false }
  }

  private mutating func write() throws(StoreError) {
    bytes.append("{\n")
    writeHead()
    try writeEntities()
    try writePairs()
    writeFormerModels()
    member(DocumentFormat.description, 1)
    writeDescription()
    bytes.append("\n}\n")
  }

  private mutating func member(_ name: String, _ indent: Int) {
    for _ in 0..<indent { bytes.append("  ") }
    bytes.appendQuoted(name)
    bytes.append(": ")
  }

  // MARK: Head

  private mutating func writeHead() {
    let model = document.model
    member(DocumentFormat.format, 1)
    bytes.appendInteger(DocumentFormat.number)
    text(DocumentFormat.model, model.name)
    if let version = model.description.version { text(DocumentFormat.version, version) }
    text(DocumentFormat.checksum, model.checksum)
    writeFeatures()
    bytes.append(",\n")
    member(DocumentFormat.nextKey, 1)
    bytes.appendInteger(nextKey)
    bytes.append(",\n")
    member(DocumentFormat.storage, 1)
    bytes.append("[")
    lines(model.storageSignature.split(separator: "\n")) { $0.bytes.appendQuoted(String($1)) }
    bytes.append("],\n")
  }

  private mutating func writeFeatures() {
    let features = lineage.writtenFeatures
    if features.isEmpty { return }
    bytes.append(",\n")
    member(DocumentFormat.features, 1)
    bytes.append("{")
    let lists = [
      (DocumentFormat.compatible, features.compatible),
      (DocumentFormat.readOnlyCompatible, features.readOnlyCompatible),
      (DocumentFormat.incompatible, features.incompatible),
    ]
    for (place, (name, words)) in lists.filter({ !$0.1.isEmpty }).enumerated() {
      if place > 0 { bytes.append(", ") }
      bytes.appendQuoted(name)
      bytes.append(": [")
      for (place, word) in words.sorted().enumerated() {
        if place > 0 { bytes.append(", ") }
        bytes.appendQuoted(word)
      }
      bytes.append("]")
    }
    bytes.append("}")
  }

  /// Writes each former model on a line of its own, except for its description, which is kept as it was in the
  /// document.
  private mutating func writeFormerModels() {
    if lineage.former.isEmpty { return }
    member(DocumentFormat.models, 1)
    bytes.append("[")
    lines(lineage.former) { $0.write($1) }
    bytes.append("],\n")
  }

  private mutating func write(_ model: DocumentLineage.FormerModel) {
    bytes.append("{\"checksum\": ")
    bytes.appendQuoted(model.checksum)
    if let version = model.version {
      bytes.append(", \"version\": ")
      bytes.appendQuoted(version)
    }
    if let replaced = model.replaced {
      bytes.append(", \"replaced\": ")
      bytes.appendQuoted(DateText.text(replaced))
    }
    bytes.append(", \"description\": ")
    bytes.append(contentsOf: model.description)
    bytes.append("}")
  }

  private mutating func text(_ name: String, _ value: String) {
    bytes.append(",\n")
    member(name, 1)
    bytes.appendQuoted(value)
  }

  /// Writes the elements of a list, each on a line of its own.
  private mutating func lines<Element>(_ elements: [Element], _ write: (inout DocumentWriter, Element) -> Void) {
    var isFirst = true
    for element in elements {
      bytes.append(isFirst ? "\n    " : ",\n    ")
      isFirst = false
      write(&self, element)
    }
    if !isFirst { bytes.append("\n  ") }
  }

  /// Writes the whole model, for a later migration of the document.
  private mutating func writeDescription() {
    let lines = document.model.description.canonicalJSON().split(separator: "\n")
    for (place, line) in lines.enumerated() {
      if place > 0 { bytes.append("\n  ") }
      bytes.append(contentsOf: line.utf8)
    }
  }

  // MARK: Objects

  private mutating func writeEntities() throws(StoreError) {
    member(DocumentFormat.entities, 1)
    bytes.append("{")
    var isFirst = true
    for entity in document.model.entities where !entity.isAbstract {
      bytes.append(isFirst ? "\n" : ",\n")
      isFirst = false
      member(entity.name, 2)
      try writeRows(of: entity)
    }
    bytes.append("\n  },\n")
  }

  private mutating func writeRows(of entity: Entity) throws(StoreError) {
    bytes.append("[")
    var isFirst = true
    var fault: StoreError?
    let fields = document.fields[entity.index]
    try contents.forEachRow(of: entity) { row in
      bytes.append(isFirst ? "\n      " : ",\n      ")
      isFirst = false
      fault = write(row, fields) ?? self.fault(afterPiece: bytes.count >= Self.pieceSize)
      return fault == nil && !isTooLarge
    }
    if let fault { throw fault }
    bytes.append(isFirst ? "]" : "\n    ]")
  }

  private mutating func write(_ row: Contents.Row, _ fields: [DocumentLayout.Field]) -> StoreError? {
    bytes.append("{\"_key\": ")
    bytes.appendInteger(row.key)
    if row.version != 1 {
      bytes.append(", \"_version\": ")
      bytes.appendInteger(row.version)
    }
    for place in fields.indices {
      let value = row.value(place)
      if value.isNull { continue }
      bytes.append(", ")
      bytes.append(contentsOf: fields[place].keyBytes)
      guard bytes.append(value, as: fields[place].form) else { return unstorable(fields[place], row) }
    }
    bytes.append("}")
    return nil
  }

  private func unstorable(_ field: DocumentLayout.Field, _ row: Contents.Row) -> StoreError {
    let entity = document.model.entities[row.entity]
    let property = entity.properties[field.property]
    let expectation = property.attribute?.expectation ?? "the key of an object"
    return StoreError(
      .unstorableValue,
      "\(entity.name)#\(row.key).\(property.name) has a value that a document cannot carry; it can carry \(expectation).",
      remedy: "Set another value there.", entity: entity.name, properties: [property.name])
  }

  // MARK: Pairs

  private mutating func writePairs() throws(StoreError) {
    member(DocumentFormat.pairs, 1)
    bytes.append("{")
    for (table, name) in document.tableNames.enumerated() {
      bytes.append(table == 0 ? "\n" : ",\n")
      member(name, 2)
      try writePairs(of: table)
    }
    bytes.append(document.tableNames.isEmpty ? "},\n" : "\n  },\n")
  }

  private mutating func writePairs(of table: Int) throws(StoreError) {
    bytes.append("[")
    var isFirst = true
    var fault: StoreError?
    try contents.forEachPair(of: table) { pair in
      bytes.append(isFirst ? "\n      {\"from\": " : ",\n      {\"from\": ")
      isFirst = false
      bytes.appendInteger(pair.first)
      bytes.append(", \"to\": ")
      bytes.appendInteger(pair.partner)
      if let place = pair.place {
        bytes.append(", \"place\": ")
        bytes.appendInteger(place)
      }
      if let place = pair.inversePlace {
        bytes.append(", \"inversePlace\": ")
        bytes.appendInteger(place)
      }
      bytes.append("}")
      fault = self.fault(afterPiece: bytes.count >= Self.pieceSize)
      return fault == nil && !isTooLarge
    }
    if let fault { throw fault }
    bytes.append(isFirst ? "]" : "\n    ]")
  }

  private static func tooLarge(_ size: Int) -> StoreError {
    StoreError(
      .limit, "The document would be larger than \(DocumentFormat.maximumSize) bytes, so nothing was saved.",
      remedy: "Keep this much in a SQLite store.")
  }
}

extension MemoryState: DocumentContents {
  func forEachRow(of entity: Entity, _ body: (MemoryRow) -> Bool) {
    tables[entity.root].forEach { _, row in row.entity == entity.index ? body(row) : true }
  }
}
