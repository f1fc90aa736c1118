import TrellisJSON
package import TrellisModel
package import TrellisStorage

/// Reads rows of a file straight into an empty store, without objects.
///
/// That is the same as an import where each row is a new object with attributes only, and keeps to the rules of the model. A
/// file with anything else, or with a mistake, has to be imported.
package struct BulkRows {
  private let format: CSVFormat
  private let model: Model
  private let entity: Int

  /// The file is none that can be read this way.
  package struct Refusal: Error {}

  package init(_ format: CSVFormat, _ model: Model, entity: Int) {
    self.format = format
    self.model = model
    self.entity = entity
  }

  /// Passes the rows to a writer.
  ///
  /// - Returns: the number of objects, and that of the rows that have separators only.
  /// - Throws: ``Refusal``, or errors of the writer. What is written then has to be thrown away.
  package func write(
    _ bytes: UnsafeBufferPointer<UInt8>, to writer: any BulkWriter, progress: (Int) -> Void
  ) throws -> (objects: Int, emptyRows: Int) {
    guard format.encoding == .unicode, !bytes.starts(with: [0xFF, 0xFE]), !bytes.starts(with: [0xFE, 0xFF]),
      let map = try? JSONMap(model), let own = try? map.map(of: entity)
    else { throw Refusal() }
    let reader = CSVElementReader(format, map, own)
    let row = ValueReader()
    var plan: RowPlan?
    var count: Int64 = 0
    do {
      while try reader.scanNext(bytes) {
        if plan == nil, let group = reader.plan { plan = RowPlan(group, own) }
        guard let plan, let values = plan.values(reader.row, bytes, format) else { throw Refusal() }
        count += 1
        row.show(key: count, version: 1, entity: entity, values: values)
        try writer.add(row)
        if count % 10_000 == 0 { progress(Int(count)) }
      }
    } catch is DocumentFault {
      throw Refusal()
    }
    return (Int(count), reader.emptyRows)
  }
}

/// The columns of a row of the table, from cells.
private struct RowPlan {
  private struct Source {
    enum Kind {
      case text
      case integer(ClosedRange<Int64>)
      case other
    }

    let column: Int
    let cell: Int
    let kind: Kind
    let map: ValueMap
    let isOptional: Bool
    /// Nil if every value is valid.
    let rules: CheckedAttribute?

    func allows(_ value: StoredValue) -> Bool { rules.map { $0.failures(of: value).isEmpty } ?? true }
  }

  private var sources: [Source] = []
  /// The values of columns without a cell.
  private var defaults: [StoredValue]
  private var changingDefaults: [(column: Int, attribute: Attribute)] = []

  /// - Returns: nil if rows are more than new objects with attributes.
  init?(_ group: ColumnGroup, _ own: EntityMap) {
    let entity = own.entity
    guard group.entityColumn == nil, !entity.isAbstract, own.key != nil, let columns = group.plans[entity.index],
      columns.nested.isEmpty, columns.groups.isEmpty, columns.others.isEmpty, entity.optionalGroups.isEmpty,
      !entity.properties.contains(where: { $0.relationship.map { $0.isRequired || $0.minimumCount ?? 0 > 0 } == true })
    else { return nil }
    defaults = Array(repeating: .null, count: entity.columns.count)
    var given: [Int: (cell: Int, field: FieldMap)] = [:]
    for (cell, target) in columns.targets {
      guard case .field(let number) = target else { return nil }
      let field = own.fields[number]
      given[field.attribute.index] = (cell, field)
    }
    for (number, column) in entity.columns.enumerated() {
      guard case .attribute = column.content, let attribute = entity.properties[column.property].attribute else {
        continue
      }
      if let (cell, field) = given[attribute.index] {
        guard let kind = Self.kind(field), !field.keepsOnNull else { return nil }
        sources.append(
          Source(
            column: number, cell: cell, kind: kind, map: field.value, isOptional: attribute.isOptional,
            rules: CheckedAttribute(attribute)))
      } else {
        if attribute.description.derivation != nil { continue }
        guard let value = attribute.initialValue else { return nil }
        defaults[number] = value
        switch attribute.description.defaultValue {
        case .now, .new: changingDefaults.append((number, attribute))
        case .value, .list, nil: break
        }
      }
    }
  }

  /// - Returns: nil for values whose form in a store takes more than the cell.
  private static func kind(_ field: FieldMap) -> Source.Kind? {
    let map = field.value
    if field.attribute.description.isExternal { return nil }
    switch map.type {
    case .string where map.take.isEmpty && !map.emptyIsNull: return .text
    case .integer: return map.take.isEmpty ? .integer(map.type.integerRange) : .other
    case .string, .bool, .float, .double, .decimal, .date, .uuid, .data, .enumeration:
      return .other
    case .url, .array, .codable: return nil
    }
  }

  /// The values of a row; nil for one with a mistake.
  func values(_ row: RowScanner, _ bytes: UnsafeBufferPointer<UInt8>, _ format: CSVFormat) -> [StoredValue]? {
    var values = defaults
    for (column, attribute) in changingDefaults { values[column] = attribute.initialValue ?? .null }
    for source in sources {
      let cell = row.cells[source.cell]
      switch source.kind {
      case .integer(let range):
        if let number = Self.integer(bytes, cell.content), !format.isNull(cell, bytes) {
          guard range.contains(number), source.allows(.integer(number)) else { return nil }
          values[source.column] = .integer(number)
          continue
        }
      case .text:
        if !cell.hasEscapes, !cell.content.isEmpty, !format.isForSpreadsheet, format.null == nil {
          guard let text = String(validating: UnsafeBufferPointer(rebasing: bytes[cell.content]), as: UTF8.self) else {
            return nil
          }
          guard source.allows(.text(text)) else { return nil }
          values[source.column] = .text(text)
          continue
        }
      case .other: break
      }
      guard String(validating: UnsafeBufferPointer(rebasing: bytes[cell.content]), as: UTF8.self) != nil else {
        return nil
      }
      switch format.value(format.content(cell, row, bytes), source.map) {
      case .value(let value):
        guard source.allows(value) else { return nil }
        values[source.column] = value
      case .null:
        guard source.isOptional else { return nil }
        values[source.column] = .null
      case .wrong: return nil
      }
    }
    return values
  }

  /// A number of up to eighteen digits; nil for other cells.
  @inline(__always) private static func integer(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Int64? {
    var offset = range.lowerBound
    guard range.count <= 18, offset < range.upperBound else { return nil }
    let isNegative = bytes[offset] == UInt8(ascii: "-")
    if isNegative { offset += 1 }
    guard offset < range.upperBound else { return nil }
    var number: Int64 = 0
    while offset < range.upperBound {
      let digit = bytes[offset] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      number = number * 10 + Int64(digit)
      offset += 1
    }
    return isNegative ? -number : number
  }
}
