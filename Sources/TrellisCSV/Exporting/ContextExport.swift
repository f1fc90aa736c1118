public import Foundation
import TrellisJSON
import TrellisModel
@_spi(Generated) public import TrellisRuntime
package import TrellisStorage

extension ManagedObjectContext {
  /// Writes the objects of a request as CSV, with the columns that an import reads.
  ///
  /// ```swift
  /// let data = try context.exportCSV(Book.all.sorted { $0.title })
  /// ```
  /// The first line has the names of the columns. Partners are written by their keys. Importing the result into a store with
  /// the objects changes nothing.
  ///
  /// - Parameters:
  ///   - request: The request for the objects.
  ///   - format: How the file is written.
  ///   - columns: The names of the columns; nil for all that an object has in a row. Relationships whose partners have no key,
  ///     and values that the mapping takes from outside of an object, have no column.
  /// - Throws: ``JSONExportError`` if the entity has no mapping or no such column; the errors of
  ///   ``ManagedObjectContext/fetch(_:)``.
  /// - Complexity: linear in the number of objects.
  public func exportCSV<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, format: CSVFormat = CSVFormat(), columns: [String]? = nil
  ) throws -> Data {
    var data = Data()
    try exportCSV(request, format: format, columns: columns) { data.append(contentsOf: $0) }
    return data
  }

  /// Writes the objects of a request piece by piece, so that memory holds only a batch of them.
  ///
  /// - Parameter write: Receives the next bytes, some 64 KB at once.
  /// - Throws: the errors of ``exportCSV(_:format:columns:)``, and those of `write`.
  public func exportCSV<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, format: CSVFormat = CSVFormat(), columns: [String]? = nil,
    to write: ([UInt8]) throws -> Void
  ) throws {
    var exporter = try CSVExporter(self, entity: Columns.Object._entity, format, columns)
    try exporter.writeHeader(to: write)
    var batch: [ManagedObject] = []
    try stream(request) { object in
      batch.append(object)
      if batch.count == CSVExporter.objectsOfBatch {
        try exporter.append(batch, to: write)
        batch.removeAll(keepingCapacity: true)
      }
    }
    try exporter.append(batch, to: write)
    try exporter.finish(to: write)
  }

  /// Writes the objects of a request of an entity by its number, piece by piece.
  package func exportCSV(
    _ request: StoreRequest, format: CSVFormat, columns: [String]?, to write: ([UInt8]) throws -> Void
  ) throws {
    var exporter = try CSVExporter(self, entity: request.entity, format, columns)
    try exporter.writeHeader(to: write)
    var keys = try keys(of: request)[...]
    while !keys.isEmpty {
      let batch = Array(keys.prefix(CSVExporter.objectsOfBatch))
      keys = keys.dropFirst(batch.count)
      let objects = try objects(batch, entity: request.entity)
      try exporter.append(batch.compactMap { objects[$0] }, to: write)
    }
    try exporter.finish(to: write)
  }

  /// The properties of an entity that an export has no columns for, with the reasons.
  package func propertiesWithoutColumn(_ entity: Int) throws -> [(property: String, reason: String)] {
    try CSVExporter.mapping { () throws(JSONMappingFault) in
      let map = try JSONMap(model)
      return ColumnNames(of: try map.map(of: entity), in: map).leftOut
    }
  }
}

/// One export.
struct CSVExporter {
  static let objectsOfBatch = 1_000
  private static let pieceSize = 1 << 16

  private let context: ManagedObjectContext
  private let format: CSVFormat
  private let names: [String]
  private let columns: ColumnGroup
  private let separator: UInt8
  private let lineEnd: [UInt8]
  private var bytes: [UInt8] = []
  private var row: [CellText]

  private enum CellText {
    case null
    case text(String)
  }

  init(_ context: ManagedObjectContext, entity: Int, _ format: CSVFormat, _ columns: [String]?) throws {
    let model = context.model
    let map = try Self.mapping { () throws(JSONMappingFault) in try JSONMap(model) }
    let own = try Self.mapping { () throws(JSONMappingFault) in try map.map(of: entity) }
    let all = ColumnNames(of: own, in: map).names
    names = columns ?? all
    for (place, name) in names.enumerated() where names[..<place].contains(name) {
      throw JSONExportError(message: "The column '\(name)' is named twice.")
    }
    let group = ColumnGroup(own, names.enumerated().map { ($0.element, $0.offset) }, map)
    if let number = names.indices.first(where: { !group.known.contains($0) }) {
      let nearest = NearestName.closest(to: names[number], among: all).map { " Did you mean '\($0)'?" } ?? ""
      throw JSONExportError(message: "'\(own.entity.name)' has no column '\(names[number])'.\(nearest)")
    }
    guard !names.isEmpty else { throw JSONExportError(message: "'\(own.entity.name)' has no columns.") }
    self.columns = group
    self.context = context
    self.format = format
    separator = format.separator?.rawValue.utf8.first ?? UInt8(ascii: ",")
    lineEnd = Array((format.isForSpreadsheet ? "\r\n" : "\n").utf8)
    row = Array(repeating: .null, count: names.count)
  }

  static func mapping<Result>(_ body: () throws(JSONMappingFault) -> Result) throws -> Result {
    do throws(JSONMappingFault) { return try body() } catch { throw JSONExportError(message: error.message) }
  }

  // MARK: Pieces

  mutating func writeHeader(to write: ([UInt8]) throws -> Void) throws {
    if format.isForSpreadsheet { bytes += [0xEF, 0xBB, 0xBF] }
    for name in names { append(.text(name), isFirst: name == names[0]) }
    bytes += lineEnd
  }

  mutating func append(_ objects: [ManagedObject], to write: ([UInt8]) throws -> Void) throws {
    try load(columns, objects)
    for object in objects {
      for place in row.indices { row[place] = .null }
      try fill(columns, object)
      for place in row.indices { append(row[place], isFirst: place == 0) }
      bytes += lineEnd
      if bytes.count >= Self.pieceSize {
        try write(bytes)
        bytes.removeAll(keepingCapacity: true)
      }
    }
  }

  func finish(to write: ([UInt8]) throws -> Void) throws { if !bytes.isEmpty { try write(bytes) } }

  /// Loads the partners of many objects at once.
  private func load(_ group: ColumnGroup, _ objects: [ManagedObject]) throws {
    if objects.isEmpty { return }
    let writer = ObjectWriter(context)
    for (number, plan) in group.plans {
      let owners = objects.filter { type(of: $0)._entity == number }
      if owners.isEmpty { continue }
      for (_, target) in plan.targets {
        switch target {
        case .reference(let link), .members(let link): try writer.load(plan.entity.links[link].relationship, of: owners)
        case .field, .list, .presence: break
        }
      }
      for (link, _, inner) in plan.nested {
        let relationship = plan.entity.links[link].relationship
        try writer.load(relationship, of: owners)
        try load(inner, try owners.compactMap { try $0.partner(of: relationship.index) })
      }
    }
  }

  // MARK: Cells

  private mutating func fill(_ group: ColumnGroup, _ object: ManagedObject) throws {
    object._willRead(-1)
    guard let plan = group.plans[type(of: object)._entity] else { return }
    if let column = group.entityColumn { row[column] = .text(plan.entity.entityValue) }
    for (column, target) in plan.targets {
      switch target {
      case .field(let number):
        let field = plan.entity.fields[number]
        row[column] = cell(object._value(field.attribute.index), field.value)
      case .list(let number):
        let field = plan.entity.fields[number]
        let value = object._value(field.attribute.index)
        row[column] = value.isNull ? .null : list(field.value.items(value), field.value)
      case .presence(let number):
        row[column] = object._value(plan.entity.fields[number].attribute.index).isNull ? .null : .text("true")
      case .reference(let number):
        let link = plan.entity.links[number]
        guard let reference = link.reference, let partner = try object.partner(of: link.relationship.index) else {
          continue
        }
        partner._willRead(-1)
        row[column] = cell(partner._value(reference.attribute.index), reference)
      case .members(let number):
        let link = plan.entity.links[number]
        guard let reference = link.reference else { continue }
        var members = try object.members(of: link.relationship.index)
        if !link.relationship.isOrdered { members.sort { $0._key < $1._key } }
        let keys = members.map { member in
          member._willRead(-1)
          return member._value(reference.attribute.index)
        }
        row[column] = list(keys.filter { !$0.isNull }, reference)
      }
    }
    for (number, _, inner) in plan.nested {
      if let partner = try object.partner(of: plan.entity.links[number].relationship.index) { try fill(inner, partner) }
    }
  }

  private func cell(_ value: StoredValue, _ map: ValueMap) -> CellText {
    switch value {
    case .null: return .null
    case .file:
      let quoted = map.json(value)
      guard quoted.first == RowScanner.quote else { return .null }
      return .text(String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self))
    default: break
    }
    // The empty text would be nil.
    if case .blob(let bytes) = value, bytes.isEmpty, map.type == .data { return .text("\\x") }
    let text = map.text(value)
    if case .array = map.type, let listSeparator = format.listSeparator,
      let elements = CSVFormat.elements(ofJSON: text), !elements.isEmpty
    {
      let joined = elements.joined(separator: listSeparator)
      if joined.utf8.first != UInt8(ascii: "["), case .value(value) = format.value(.text(joined, isQuoted: true), map) {
        return .text(format.guards(joined) ? "'" + joined : joined)
      }
    }
    switch map.type {
    case .string, .url, .array, .codable: return .text(format.guards(text) ? "'" + text : text)
    case .float, .double, .decimal: return .text(format.hasDecimalCommas ? text.replacing(".", with: ",") : text)
    default: return .text(text)
    }
  }

  private func list(_ values: [StoredValue], _ map: ValueMap) -> CellText {
    if let separator = format.listSeparator, let text = separated(values, map, separator) {
      return .text(format.guards(text) ? "'" + text : text)
    }
    var text: [UInt8] = [UInt8(ascii: "[")]
    for (place, value) in values.enumerated() {
      if place > 0 { text.append(UInt8(ascii: ",")) }
      text += map.json(value)
    }
    return .text(String(decoding: text + [UInt8(ascii: "]")], as: UTF8.self))
  }

  /// The elements with a separator between them; nil if they would not be read again as they are.
  private func separated(_ values: [StoredValue], _ map: ValueMap, _ separator: String) -> String? {
    var texts: [String] = []
    for value in values {
      guard case .text(let text) = cell(value, map) else { return nil }
      texts.append(text)
    }
    let joined = texts.joined(separator: separator)
    guard !texts.isEmpty, joined.utf8.first != UInt8(ascii: "["), format.list(joined, map) == values else { return nil }
    return joined
  }

  // MARK: Bytes

  private mutating func append(_ cell: CellText, isFirst: Bool) {
    if !isFirst { bytes.append(separator) }
    guard case .text(var text) = cell else { return }
    if format.hasBackslashes, text.utf8.contains(UInt8(ascii: "\\")) { text = text.replacing("\\", with: "\\\\") }
    guard needsQuotes(text, isFirst: isFirst) else {
      bytes += text.utf8
      return
    }
    bytes.append(RowScanner.quote)
    for byte in text.utf8 {
      if byte == RowScanner.quote { bytes.append(byte) }
      bytes.append(byte)
    }
    bytes.append(RowScanner.quote)
  }

  private func needsQuotes(_ text: String, isFirst: Bool) -> Bool {
    let letters = text.utf8
    guard let first = letters.first, let last = letters.last else { return true }
    if first == 0x20 || last == 0x20 || text == format.null || isFirst && text.hasPrefix("sep=") { return true }
    return letters.contains { $0 == separator || $0 == RowScanner.quote || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
  }
}
