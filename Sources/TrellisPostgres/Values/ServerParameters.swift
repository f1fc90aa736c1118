import TrellisModel

/// The parameters of a statement, in binary form.
struct ServerParameters {
  /// The numbers of the parameters' types.
  private(set) var types: [UInt32] = []
  /// The place of each value among ``bytes``; nil for null.
  private(set) var places: [Range<Int>?] = []
  private(set) var bytes: [UInt8] = []

  init() {}

  /// A list of keys, or other integers, as the only parameter.
  init(_ keys: [Int64]) { add(keys) }

  var count: Int { types.count }

  /// Adds a parameter.
  ///
  /// - Returns: its marker, or nil if the type cannot hold the value. Then there is no such parameter.
  mutating func add(_ value: StoredValue, as type: ServerType) -> String? {
    if case .null = value { return addNull(as: type) }
    let start = bytes.count
    guard ValueCoding.append(value, as: type, to: &bytes) else {
      bytes.removeSubrange(start...)
      return nil
    }
    return marker(type.rawValue, start..<bytes.count)
  }

  @discardableResult mutating func add(_ value: Int64) -> String {
    let start = bytes.count
    bytes.append(bigEndian: value)
    return marker(ServerType.bigint.rawValue, start..<bytes.count)
  }

  @discardableResult mutating func add(_ text: String) -> String {
    let start = bytes.count
    bytes.append(contentsOf: text.utf8)
    return marker(ServerType.text.rawValue, start..<bytes.count)
  }

  @discardableResult mutating func add(bytes value: some Collection<UInt8>) -> String {
    let start = bytes.count
    bytes.append(contentsOf: value)
    return marker(ServerType.bytes.rawValue, start..<bytes.count)
  }

  @discardableResult mutating func addNull(as type: ServerType) -> String { marker(type.rawValue, nil) }

  @discardableResult mutating func add(_ keys: [Int64]) -> String {
    var list = ServerArray(of: .bigint)
    list.reserve(keys.count)
    for key in keys { list.append(key) }
    return add(list)
  }

  @discardableResult mutating func add(_ array: ServerArray) -> String {
    let start = bytes.count
    array.write(to: &bytes)
    return marker(array.type.array, start..<bytes.count)
  }

  private mutating func marker(_ type: UInt32, _ place: Range<Int>?) -> String {
    types.append(type)
    places.append(place)
    return "$\(types.count)"
  }
}

/// An array in the server's binary form, which is one parameter.
struct ServerArray {
  let type: ServerType
  private(set) var count = 0
  private var hasNull = false
  private var elements: [UInt8] = []

  init(of type: ServerType) { self.type = type }

  mutating func reserve(_ count: Int) { elements.reserveCapacity(12 * count) }

  mutating func append(_ key: Int64) {
    elements.append(bigEndian: Int32(8))
    elements.append(bigEndian: key)
    count += 1
  }

  mutating func appendNull() {
    elements.append(bigEndian: Int32(-1))
    hasNull = true
    count += 1
  }

  /// Appends a value that is not null.
  ///
  /// - Parameter write: appends the value's binary form, or returns false with nothing appended.
  /// - Returns: what `write` returns; false as well for a value beyond what the server can receive.
  mutating func append(_ write: (inout [UInt8]) -> Bool) -> Bool {
    let start = elements.count
    elements.append(bigEndian: Int32(0))
    guard write(&elements), let length = Int32(exactly: elements.count - start - 4), length < 1_000_000_000 else {
      elements.removeSubrange(start...)
      return false
    }
    withUnsafeBytes(of: length.bigEndian) { elements.replaceSubrange(start..<(start + 4), with: $0) }
    count += 1
    return true
  }

  mutating func append(_ value: StoredValue) -> Bool {
    if case .null = value {
      appendNull()
      return true
    }
    let type = type
    return append { ValueCoding.append(value, as: type, to: &$0) }
  }

  /// Writes the header, with one dimension, and the elements.
  func write(to bytes: inout [UInt8]) {
    bytes.append(bigEndian: Int32(count == 0 ? 0 : 1))
    bytes.append(bigEndian: Int32(hasNull ? 1 : 0))
    bytes.append(bigEndian: type.rawValue)
    if count == 0 { return }
    bytes.append(bigEndian: Int32(truncatingIfNeeded: count))
    bytes.append(bigEndian: Int32(1))
    bytes += elements
  }

  /// The number of bytes of its form.
  var byteCount: Int { elements.count + 20 }
}
