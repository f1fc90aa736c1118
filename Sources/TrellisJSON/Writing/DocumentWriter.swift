import TrellisMemory
import TrellisSchema
import TrellisStorage

/// Writes a state as a document: the head, then the objects in the order of the model and of their keys, one per line.
struct DocumentWriter {
  private let document: DocumentLayout
  private let state: MemoryState
  private let nextKey: Int64
  private let lineage: DocumentLineage
  private var bytes: [UInt8] = []

  /// The text of a document.
  ///
  /// - Parameter sizeHint: the approximate number of bytes.
  /// - Throws: ``StoreError`` if a value or the document cannot be written so that it can be read again.
  static func text(
    _ state: MemoryState, nextKey: Int64, _ lineage: DocumentLineage, _ document: DocumentLayout, sizeHint: Int = 0
  ) throws(StoreError) -> [UInt8] {
    var writer = DocumentWriter(document: document, state: state, nextKey: nextKey, lineage: lineage)
    writer.bytes.reserveCapacity(sizeHint + sizeHint / 8 + 4096)
    try writer.write()
    guard writer.bytes.count <= DocumentFormat.maximumSize else { throw tooLarge(writer.bytes.count) }
    return writer.bytes
  }

  private init(document: DocumentLayout, state: MemoryState, nextKey: Int64, lineage: DocumentLineage) {
    self.document = document
    self.state = state
    self.nextKey = nextKey
    self.lineage = lineage
  }

  private mutating func write() throws(StoreError) {
    bytes.append("{\n")
    writeHead()
    try writeEntities()
    writePairs()
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
    state.tables[entity.root].forEach { _, row in
      guard row.entity == entity.index else { return true }
      bytes.append(isFirst ? "\n      " : ",\n      ")
      isFirst = false
      fault = write(row, document.fields[entity.index])
      return fault == nil && bytes.count <= DocumentFormat.maximumSize
    }
    if let fault { throw fault }
    bytes.append(isFirst ? "]" : "\n    ]")
  }

  private mutating func write(_ row: MemoryRow, _ fields: [DocumentLayout.Field]) -> StoreError? {
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
      guard bytes.append(value, as: fields[place].form) else { return unstorable(fields[place], row.entity) }
    }
    bytes.append("}")
    return nil
  }

  private func unstorable(_ field: DocumentLayout.Field, _ entity: Int) -> StoreError {
    let entity = document.model.entities[entity]
    let name = entity.properties[field.property].name
    return StoreError(
      .unstorableValue, "\(entity.name).\(name) would hold a value that is none of its type.",
      remedy: "Set another value before saving.", entity: entity.name, properties: [name])
  }

  // MARK: Pairs

  private mutating func writePairs() {
    member(DocumentFormat.pairs, 1)
    bytes.append("{")
    for (table, name) in document.tableNames.enumerated() {
      bytes.append(table == 0 ? "\n" : ",\n")
      member(name, 2)
      writePairs(of: table)
    }
    bytes.append(document.tableNames.isEmpty ? "},\n" : "\n  },\n")
  }

  private mutating func writePairs(of table: Int) {
    bytes.append("[")
    var isFirst = true
    let backward = state.backward[table]
    state.forward[table].links.forEach { link, place in
      bytes.append(isFirst ? "\n      {\"from\": " : ",\n      {\"from\": ")
      isFirst = false
      bytes.appendInteger(link.from)
      bytes.append(", \"to\": ")
      bytes.appendInteger(link.to)
      if let place {
        bytes.append(", \"place\": ")
        bytes.appendInteger(place)
      }
      if let place = backward.place(link.to, link.from) {
        bytes.append(", \"inversePlace\": ")
        bytes.appendInteger(place)
      }
      bytes.append("}")
      return bytes.count <= DocumentFormat.maximumSize
    }
    bytes.append(isFirst ? "]" : "\n    ]")
  }

  private static func tooLarge(_ size: Int) -> StoreError {
    StoreError(
      .limit, "The document would be larger than \(DocumentFormat.maximumSize) bytes, so nothing was saved.",
      remedy: "Keep this much in a SQLite store.")
  }
}
