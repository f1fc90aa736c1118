/// A binary property list, as a table of objects that refer to each other by number.
///
/// Foundation's reader hides the references of keyed archives on other systems than Apple's, so this one keeps them. No
/// list can cause a trap or a hang: objects are read once each, may not overlap, and are never followed here.
struct BinaryPlist {
  /// An object of the list.
  enum Object: Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// An integer that needs more than 63 bits.
    case unsigned(UInt64)
    case real(Double)
    /// Seconds since 2001-01-01T00:00:00Z.
    case date(Double)
    case data([UInt8])
    case string(String)
    /// A reference of a keyed archive: a number among the archive's objects.
    case uid(Int)
    /// The numbers of the elements.
    case array([Int])
    /// The numbers of the keys, and of the values.
    case dictionary(keys: [Int], values: [Int])
  }

  /// The objects, by number.
  let objects: [Object]
  /// The number of the outermost object.
  let top: Int

  /// Whether bytes begin like a binary property list.
  static func isMarked(_ bytes: [UInt8]) -> Bool { bytes.starts(with: "bplist0".utf8) }

  /// - Throws: ``ArchiveFault``.
  /// - Complexity: linear in the number of bytes.
  init(_ bytes: [UInt8]) throws(ArchiveFault) {
    var reader = try Reader(bytes)
    objects = try reader.readObjects()
    top = reader.top
  }

  subscript(_ number: Int) -> Object? { objects.indices.contains(number) ? objects[number] : nil }

  /// The value of a key in a dictionary; nil if the object is none or has no such key.
  func value(_ key: String, of object: Object) -> Object? {
    guard case .dictionary(let keys, let values) = object else { return nil }
    for (name, value) in zip(keys, values) where self[name] == .string(key) { return self[value] }
    return nil
  }
}

/// The reason why archived bytes cannot be read.
struct ArchiveFault: Error, Hashable {
  /// The fault, as the end of a sentence.
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

// MARK: - Reader

extension BinaryPlist {
  /// Reads the trailer, the table of offsets, and then each object.
  private struct Reader {
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let tableStart: Int
    let top: Int
    /// The bytes that objects may still take. Objects of a sound list do not overlap, so together they have at most the
    /// bytes of the list.
    private var budget: Int

    private static let header = 8
    private static let trailer = 32

    init(_ bytes: [UInt8]) throws(ArchiveFault) {
      guard bytes.count >= Self.header + 1 + Self.trailer, BinaryPlist.isMarked(bytes) else {
        throw ArchiveFault("it is no binary property list")
      }
      self.bytes = bytes
      budget = bytes.count
      let start = bytes.count - Self.trailer
      offsetSize = Int(bytes[start + 6])
      referenceSize = Int(bytes[start + 7])
      guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
        let count = Self.number(bytes, start + 8, 8), let top = Self.number(bytes, start + 16, 8),
        let table = Self.number(bytes, start + 24, 8)
      else { throw ArchiveFault("its trailer is damaged") }
      // Each object has at least one byte, and one entry in the table.
      guard count > 0, count <= start, table >= Self.header, table <= start, top < count,
        count <= (start - table) / offsetSize
      else { throw ArchiveFault("its table of objects is damaged") }
      self.count = count
      self.top = top
      tableStart = table
    }

    mutating func readObjects() throws(ArchiveFault) -> [Object] {
      var objects: [Object] = []
      objects.reserveCapacity(count)
      for number in 0..<count {
        guard let offset = Self.number(bytes, tableStart + number * offsetSize, offsetSize), offset >= Self.header,
          offset < tableStart
        else { throw ArchiveFault("an offset leads out of it") }
        objects.append(try readObject(at: offset))
      }
      return objects
    }

    private mutating func readObject(at offset: Int) throws(ArchiveFault) -> Object {
      let marker = bytes[offset]
      let low = Int(marker & 0x0F)
      try spend(1)
      switch marker >> 4 {
      case 0x0:
        switch low {
        case 0x0: return .null
        case 0x8: return .bool(false)
        case 0x9: return .bool(true)
        default: throw ArchiveFault("it has an unknown constant")
        }
      case 0x1: return try integer(at: offset + 1, log: low)
      case 0x2: return try real(at: offset + 1, log: low)
      case 0x3:
        guard low == 3 else { throw ArchiveFault("a date has another size than 8 bytes") }
        return .date(Double(bitPattern: try bits(at: offset + 1, 8)))
      case 0x4:
        let (length, start) = try length(low, at: offset)
        return .data(Array(try slice(start, length, of: 1)))
      case 0x5, 0x7:
        let (length, start) = try length(low, at: offset)
        return .string(String(decoding: try slice(start, length, of: 1), as: UTF8.self))
      case 0x6:
        let (length, start) = try length(low, at: offset)
        let part = try slice(start, length, of: 2)
        return .string(String(decoding: UTF16Units(part), as: UTF16.self))
      case 0x8:
        let part = try slice(offset + 1, low + 1, of: 1)
        guard let number = Self.number(bytes, part.startIndex, part.count) else {
          throw ArchiveFault("a reference is too large")
        }
        return .uid(number)
      case 0xA, 0xB, 0xC:
        let (length, start) = try length(low, at: offset)
        return .array(try references(start, length))
      case 0xD:
        let (length, start) = try length(low, at: offset)
        let keys = try references(start, length)
        return .dictionary(keys: keys, values: try references(start + length * referenceSize, length))
      default: throw ArchiveFault("it has an object of an unknown kind")
      }
    }

    // MARK: Parts

    /// The length of an object, and where its content begins.
    private mutating func length(_ low: Int, at offset: Int) throws(ArchiveFault) -> (Int, Int) {
      guard low == 0xF else { return (low, offset + 1) }
      guard offset + 1 < tableStart, bytes[offset + 1] >> 4 == 0x1 else { throw ArchiveFault("a length is none") }
      let size = 1 << Int(bytes[offset + 1] & 0x0F)
      guard size <= 8, offset + 2 + size <= tableStart, let length = Self.number(bytes, offset + 2, size) else {
        throw ArchiveFault("a length is too large")
      }
      try spend(1 + size)
      return (length, offset + 2 + size)
    }

    private mutating func slice(_ start: Int, _ count: Int, of size: Int) throws(ArchiveFault) -> ArraySlice<UInt8> {
      let (length, overflow) = count.multipliedReportingOverflow(by: size)
      guard !overflow, start <= tableStart, length <= tableStart - start else {
        throw ArchiveFault("an object is longer than the list")
      }
      try spend(length)
      return bytes[start..<(start + length)]
    }

    private mutating func references(_ start: Int, _ count: Int) throws(ArchiveFault) -> [Int] {
      let part = try slice(start, count, of: referenceSize)
      var numbers: [Int] = []
      numbers.reserveCapacity(count)
      var place = part.startIndex
      while place < part.endIndex {
        guard let number = Self.number(bytes, place, referenceSize), number < self.count else {
          throw ArchiveFault("an object refers to one that is not there")
        }
        numbers.append(number)
        place += referenceSize
      }
      return numbers
    }

    private mutating func integer(at start: Int, log: Int) throws(ArchiveFault) -> Object {
      guard log <= 4 else { throw ArchiveFault("an integer is too large") }
      if log == 4 {
        // 16 bytes hold what needs more than 63 bits.
        let high = try bits(at: start, 8)
        let value = try bits(at: start + 8, 8)
        if high == 0 { return value <= UInt64(Int64.max) ? .integer(Int64(value)) : .unsigned(value) }
        guard high == .max else { throw ArchiveFault("an integer is too large") }
        return .integer(Int64(bitPattern: value))
      }
      let value = try bits(at: start, 1 << log)
      // Only integers of 8 bytes have a sign.
      return .integer(Int64(bitPattern: value))
    }

    private mutating func real(at start: Int, log: Int) throws(ArchiveFault) -> Object {
      switch log {
      case 2: return .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: try bits(at: start, 4)))))
      case 3: return .real(Double(bitPattern: try bits(at: start, 8)))
      default: throw ArchiveFault("a number has another size than 4 or 8 bytes")
      }
    }

    private mutating func bits(at start: Int, _ size: Int) throws(ArchiveFault) -> UInt64 {
      let part = try slice(start, size, of: 1)
      return part.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func spend(_ count: Int) throws(ArchiveFault) {
      budget -= count
      if budget < 0 { throw ArchiveFault("its objects overlap") }
    }

    /// A number in big-endian order; nil beyond what `Int` holds, or beyond the bytes.
    private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
      guard start >= 0, start <= bytes.count, size <= bytes.count - start else { return nil }
      var value: UInt64 = 0
      for place in start..<(start + size) {
        guard value >> 56 == 0 else { return nil }
        value = value << 8 | UInt64(bytes[place])
      }
      return Int(exactly: value)
    }
  }
}

/// The units of a text in UTF-16 with big-endian order.
private struct UTF16Units: Collection {
  private let bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  var startIndex: Int { 0 }
  var endIndex: Int { bytes.count / 2 }
  func index(after index: Int) -> Int { index + 1 }

  subscript(_ index: Int) -> UInt16 {
    let place = bytes.startIndex + index * 2
    return UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
  }
}
