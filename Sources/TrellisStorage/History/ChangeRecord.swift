package import TrellisModel

/// The changes of one transaction in the form in which a store keeps them.
///
/// A record is a sequence of bytes: the format, flags, then sections. A section is a kind and the number of an entity or
/// of a join table, followed by its changes. Numbers are written with seven bits a byte, the lowest first, and keys as
/// the difference to the key before, so that the change of a row takes one to five bytes. Numbers of entities,
/// properties and join tables are those of the model of the program that wrote the record.
///
/// ```
/// record     = format flags section*
/// section    = head body                    head = number * 8 + kind
/// inserted   = count key*                   deleted = count key*
/// updated    = properties count key*        properties = bits of a ColumnMask (count property*, if bit 63 is set)
/// kept       = count property* count (key value*)*
/// pairs      = count (first partner)*       for each kind of a pair's change
/// value      = class (integer | real | length byte*)
/// ```
package enum ChangeRecord {
  static let format: UInt8 = 1

  package enum Kind: UInt64, Sendable {
    case inserted, updated, deleted, kept
    case pairsAdded, pairsRemoved, pairsMoved

    package var isOfPairs: Bool { rawValue >= Kind.pairsAdded.rawValue }
  }

  package struct Flags: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Rows of entities without a history changed, too.
    package static let changesOthers = Flags(rawValue: 1)
    /// A migration changed rows that are not listed.
    package static let isMigration = Flags(rawValue: 2)
  }
}

// MARK: - Writing

/// Collects the changes of a transaction.
package struct ChangeRecordWriter {
  private var bytes: [UInt8] = [ChangeRecord.format, 0]
  private var lastKey: Int64 = 0
  package var flags = ChangeRecord.Flags()

  package init() {}

  /// Whether there is nothing to record.
  package var isEmpty: Bool { bytes.count == 2 && flags.isEmpty }

  /// The finished record. The recorder is then empty.
  package mutating func take() -> [UInt8] {
    bytes[1] = flags.rawValue
    defer { self = ChangeRecordWriter() }
    return bytes
  }

  /// Adds rows that were inserted or deleted.
  package mutating func add(_ kind: ChangeRecord.Kind, of entity: Int, keys: some Collection<Int64>) {
    if keys.isEmpty { return }
    head(kind, entity, count: keys.count)
    for key in keys { append(key: key) }
  }

  /// Adds updated rows with the same changed properties.
  ///
  /// - Parameter late: the changed properties without a bit of their own.
  package mutating func addUpdates(
    of entity: Int, _ properties: ColumnMask, late: [Int], keys: some Collection<Int64>
  ) {
    if keys.isEmpty { return }
    bytes.reserveCapacity(bytes.count + keys.count + 16)
    append(UInt64(entity) << 3 | ChangeRecord.Kind.updated.rawValue)
    append(properties.bits)
    if properties.bits & ColumnMask.bit(of: 63) != 0 {
      append(UInt64(late.count))
      for property in late { append(UInt64(property)) }
    }
    append(UInt64(keys.count))
    for key in keys { append(key: key) }
  }

  /// Adds deleted rows with the values that are kept of them.
  ///
  /// - Parameters:
  ///   - properties: the numbers of the kept attributes.
  ///   - rows: the keys, each with a value for each property.
  package mutating func addTombstones(
    of entity: Int, _ properties: [Int], rows: [(key: Int64, values: [StoredValue])]
  ) {
    if rows.isEmpty { return }
    append(UInt64(entity) << 3 | ChangeRecord.Kind.kept.rawValue)
    append(UInt64(properties.count))
    for property in properties { append(UInt64(property)) }
    append(UInt64(rows.count))
    for row in rows {
      append(key: row.key)
      for value in row.values { append(value) }
    }
  }

  package mutating func add(_ kind: ChangeRecord.Kind, _ table: Int, _ pairs: [SaveRequest.Pairs.Pair]) {
    if pairs.isEmpty { return }
    head(kind, table, count: pairs.count)
    for pair in pairs {
      append(key: pair.first)
      append(key: pair.partner)
    }
  }

  private mutating func head(_ kind: ChangeRecord.Kind, _ number: Int, count: Int) {
    bytes.reserveCapacity(bytes.count + count + 16)
    append(UInt64(number) << 3 | kind.rawValue)
    append(UInt64(count))
  }

  @inline(__always) private mutating func append(key: Int64) {
    let difference = key &- lastKey
    lastKey = key
    // The sign comes last, so that small differences are short in both directions.
    append(UInt64(bitPattern: (difference << 1) ^ (difference >> 63)))
  }

  @inline(__always) private mutating func append(_ number: UInt64) {
    var rest = number
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  private mutating func append(_ value: StoredValue) {
    switch value {
    case .null, .file: append(ValueClass.null.rawValue)
    case .integer(let number):
      append(ValueClass.integer.rawValue)
      append(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
    case .real(let number):
      append(ValueClass.real.rawValue)
      for place in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number.bitPattern >> (8 * UInt64(place)))) }
    case .text(let text):
      append(ValueClass.text.rawValue)
      append(UInt64(text.utf8.count))
      bytes.append(contentsOf: text.utf8)
    case .blob(let data):
      append(ValueClass.blob.rawValue)
      append(UInt64(data.count))
      bytes.append(contentsOf: data)
    }
  }
}

/// The class of a kept value.
private enum ValueClass: UInt64 {
  case null, integer, real, text, blob
}

// MARK: - Reading

/// The changes of one transaction.
package struct RecordedChanges: Sendable {
  /// Rows of one entity that changed in the same way.
  package struct Rows: Sendable {
    /// ``ChangeRecord/Kind/inserted``, ``ChangeRecord/Kind/updated`` or ``ChangeRecord/Kind/deleted``.
    package var kind: ChangeRecord.Kind
    package var entity: Int
    package var keys: [Int64]
    /// The changed properties of updated rows; those from 63 on share a bit, and are in ``late``.
    package var properties = ColumnMask(bits: 0)
    package var late: [Int] = []
    /// Whether a property of the updated rows changed.
    package func hasChange(of property: Int) -> Bool {
      property < 63 ? properties.contains(property) : late.contains(property)
    }

    /// The attributes of deleted rows that are kept.
    package var keptProperties: [Int] = []
    /// The kept values of each deleted row.
    package var keptValues: [[StoredValue]] = []
  }

  /// Pairs of one join table that changed in the same way.
  package struct Pairs: Sendable {
    package var kind: ChangeRecord.Kind
    package var table: Int
    package var pairs: [(first: Int64, partner: Int64)]
  }

  package var flags = ChangeRecord.Flags()
  package var rows: [Rows] = []
  package var pairs: [Pairs] = []

  package init() {}

  /// Reads a record. The numbers in it are not checked against a model.
  ///
  /// - Throws: ``DamagedRecord``.
  /// - Complexity: linear in the number of bytes.
  package init(_ bytes: [UInt8]) throws(DamagedRecord) {
    guard bytes.count >= 2, bytes[0] == ChangeRecord.format else { throw DamagedRecord() }
    flags = ChangeRecord.Flags(rawValue: bytes[1])
    var reader = RecordReader(bytes)
    while !reader.isAtEnd {
      let head = try reader.number()
      guard let kind = ChangeRecord.Kind(rawValue: head & 7), let number = Int(exactly: head >> 3) else {
        throw DamagedRecord()
      }
      if kind.isOfPairs {
        pairs.append(Pairs(kind: kind, table: number, pairs: try reader.pairs()))
      } else {
        rows.append(try reader.rows(kind, number))
      }
    }
  }
}

/// A record that no version of Trellis has written.
package struct DamagedRecord: Error {
  package init() {}
}

private struct RecordReader {
  private let bytes: [UInt8]
  private var place = 2
  private var lastKey: Int64 = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { place >= bytes.count }

  mutating func rows(_ kind: ChangeRecord.Kind, _ entity: Int) throws(DamagedRecord) -> RecordedChanges.Rows {
    if kind == .kept { return try tombstones(of: entity) }
    let properties = ColumnMask(bits: kind == .updated ? try number() : 0)
    let late = properties.bits & ColumnMask.bit(of: 63) != 0 ? try numbers() : []
    let count = try count(leastBytes: 1)
    var keys: [Int64] = []
    keys.reserveCapacity(count)
    for _ in 0..<count { keys.append(try key()) }
    return RecordedChanges.Rows(kind: kind, entity: entity, keys: keys, properties: properties, late: late)
  }

  private mutating func numbers() throws(DamagedRecord) -> [Int] {
    var numbers: [Int] = []
    for _ in 0..<(try count(leastBytes: 1)) {
      guard let number = Int(exactly: try number()) else { throw DamagedRecord() }
      numbers.append(number)
    }
    return numbers
  }

  private mutating func tombstones(of entity: Int) throws(DamagedRecord) -> RecordedChanges.Rows {
    var rows = RecordedChanges.Rows(kind: .deleted, entity: entity, keys: [])
    rows.keptProperties = try numbers()
    for _ in 0..<(try count(leastBytes: 1)) {
      rows.keys.append(try key())
      var values: [StoredValue] = []
      for _ in rows.keptProperties { values.append(try value()) }
      rows.keptValues.append(values)
    }
    return rows
  }

  mutating func pairs() throws(DamagedRecord) -> [(first: Int64, partner: Int64)] {
    let count = try count(leastBytes: 2)
    var pairs: [(first: Int64, partner: Int64)] = []
    pairs.reserveCapacity(count)
    for _ in 0..<count { pairs.append((try key(), try key())) }
    return pairs
  }

  private mutating func key() throws(DamagedRecord) -> Int64 {
    let number = try number()
    lastKey = lastKey &+ (Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))
    return lastKey
  }

  /// The number of elements that follow, which cannot be more than the bytes that are left.
  private mutating func count(leastBytes: Int) throws(DamagedRecord) -> Int {
    guard let count = Int(exactly: try number()), count <= (bytes.count - place) / leastBytes else {
      throw DamagedRecord()
    }
    return count
  }

  mutating func number() throws(DamagedRecord) -> UInt64 {
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while place < bytes.count, shift < 64 {
      let byte = bytes[place]
      place += 1
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
      shift += 7
    }
    throw DamagedRecord()
  }

  private mutating func value() throws(DamagedRecord) -> StoredValue {
    switch ValueClass(rawValue: try number()) {
    case .null: return .null
    case .integer:
      let number = try number()
      return .integer(Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))
    case .real:
      var bits: UInt64 = 0
      for (index, byte) in try data(count: 8).enumerated() { bits |= UInt64(byte) << (8 * UInt64(index)) }
      return .real(Double(bitPattern: bits))
    case .text: return .text(String(decoding: try data(count: count(leastBytes: 1)), as: UTF8.self))
    case .blob: return .blob(Array(try data(count: count(leastBytes: 1))))
    case nil: throw DamagedRecord()
    }
  }

  private mutating func data(count: Int) throws(DamagedRecord) -> ArraySlice<UInt8> {
    guard count <= bytes.count - place else { throw DamagedRecord() }
    defer { place += count }
    return bytes[place..<(place + count)]
  }
}

// MARK: - Numbers of another model

extension RecordedChanges {
  /// The same changes with the numbers of the current model. What the current model does not have is left out.
  ///
  /// - Complexity: linear in the number of changes.
  package func translated(by match: ModelMatch) -> RecordedChanges {
    var result = RecordedChanges()
    result.flags = flags
    for group in rows {
      guard match.successors.indices.contains(group.entity), let entity = match.successors[group.entity] else {
        continue
      }
      let successor = match.properties[group.entity]
      var moved = group
      moved.entity = entity
      let changed = successor.indices.filter { property in successor[property].map(group.hasChange) ?? false }
      moved.properties = ColumnMask(bits: changed.reduce(0) { $0 | ColumnMask.bit(of: $1) })
      moved.late = changed.filter { $0 >= 63 }
      let places = successor.enumerated().compactMap { property, origin in
        origin.flatMap { group.keptProperties.firstIndex(of: $0) }.map { (property, $0) }
      }
      moved.keptProperties = places.map(\.0)
      moved.keptValues = group.keptValues.map { values in places.map { values[$0.1] } }
      result.rows.append(moved)
    }
    for group in pairs {
      guard let table = match.currentTable(of: group.table) else { continue }
      var moved = group
      moved.table = table.number
      if table.isTurned { moved.pairs = group.pairs.map { ($0.partner, $0.first) } }
      result.pairs.append(moved)
    }
    return result
  }
}

extension ModelMatch {
  /// The join table of the current model that has the pairs of a stored one; nil if there is none.
  fileprivate func currentTable(of table: Int) -> (number: Int, isTurned: Bool)? {
    guard stored.joinTables.indices.contains(table) else { return nil }
    let first = stored.joinTables[table].first
    guard let entity = successors[first.entity], let property = successor(of: first.property, in: first.entity),
      case .joinTable(let number, let isFirst)? = current.entities[entity].properties[property].relationship?.home
    else { return nil }
    return (number, !isFirst)
  }
}
