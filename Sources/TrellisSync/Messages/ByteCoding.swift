import TrellisModel

/// Writes the parts of a message. Numbers have seven bits a byte, the lowest first.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func byte(_ byte: UInt8) { bytes.append(byte) }

  mutating func number(_ number: UInt64) {
    var rest = number
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  mutating func count(_ count: Int) { number(UInt64(count)) }

  /// The sign comes last, so that small numbers are short in both directions.
  mutating func signed(_ number: Int64) { self.number(UInt64(bitPattern: (number << 1) ^ (number >> 63))) }

  mutating func data(_ data: some Collection<UInt8>) {
    count(data.count)
    bytes.append(contentsOf: data)
  }

  mutating func text(_ text: String) { data(Array(text.utf8)) }

  mutating func optional(_ text: String?) {
    byte(text == nil ? 0 : 1)
    if let text { self.text(text) }
  }

  /// Data in a file is written as the name of a content.
  mutating func value(_ value: StoredValue) {
    switch value {
    case .null: byte(0)
    case .integer(let number):
      byte(1)
      signed(number)
    case .real(let number):
      byte(2)
      for place in 0..<8 { byte(UInt8(truncatingIfNeeded: number.bitPattern >> (8 * UInt64(place)))) }
    case .text(let text):
      byte(3)
      self.text(text)
    case .blob(let data):
      byte(4)
      self.data(data)
    case .file(let file):
      byte(5)
      content(file)
    }
  }

  mutating func list<Element>(_ list: [Element], _ write: (inout ByteWriter, Element) -> Void) {
    count(list.count)
    for element in list { write(&self, element) }
  }
}

/// Reads the parts of a message that may come from anywhere.
struct ByteReader {
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private var rest: Int { bytes.count - place }
  var isAtEnd: Bool { rest == 0 }

  mutating func byte() throws(SyncError) -> UInt8 {
    guard place < bytes.count else { throw .damagedMessage }
    defer { place += 1 }
    return bytes[place]
  }

  mutating func number() throws(SyncError) -> UInt64 {
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while shift < 64 {
      let byte = try byte()
      // The tenth byte has one bit, and no number has more bytes than it needs.
      if shift == 63 && byte > 1 || shift > 0 && byte == 0 { throw .damagedMessage }
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
      shift += 7
    }
    throw .damagedMessage
  }

  mutating func signed() throws(SyncError) -> Int64 {
    let number = try number()
    return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }

  /// A number of elements, each of which takes a byte at least.
  mutating func count() throws(SyncError) -> Int {
    guard let count = Int(exactly: try number()), count <= rest else { throw .damagedMessage }
    return count
  }

  /// A small number, such as that of an entity.
  mutating func index() throws(SyncError) -> Int {
    guard let index = Int(exactly: try number()), index <= 1 << 20 else { throw .damagedMessage }
    return index
  }

  mutating func data() throws(SyncError) -> [UInt8] {
    let count = try count()
    defer { place += count }
    return Array(bytes[place..<place + count])
  }

  mutating func text() throws(SyncError) -> String {
    guard let text = String(validating: try data(), as: UTF8.self) else { throw .damagedMessage }
    return text
  }

  mutating func flag() throws(SyncError) -> Bool {
    switch try byte() {
    case 0: false
    case 1: true
    default: throw .damagedMessage
    }
  }

  mutating func optionalText() throws(SyncError) -> String? { try flag() ? try text() : nil }

  mutating func value() throws(SyncError) -> StoredValue {
    switch try byte() {
    case 0: return .null
    case 1: return .integer(try signed())
    case 2:
      var bits: UInt64 = 0
      for place in 0..<8 { bits |= UInt64(try byte()) << (8 * UInt64(place)) }
      return .real(Double(bitPattern: bits))
    case 3: return .text(try text())
    case 4: return .blob(try data())
    case 5: return .file(try content())
    default: throw .damagedMessage
    }
  }

  mutating func list<Element>(
    _ read: (inout ByteReader) throws(SyncError) -> Element
  ) throws(SyncError) -> [Element] {
    let count = try count()
    var list: [Element] = []
    for _ in 0..<count { list.append(try read(&self)) }
    return list
  }

  /// - Throws: ``SyncError`` if anything is left.
  func end() throws(SyncError) { if rest != 0 { throw .damagedMessage } }
}
