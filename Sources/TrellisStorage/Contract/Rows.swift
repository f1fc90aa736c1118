public import Foundation
public import TrellisModel

/// A row of a store during a read: typed values by column number, without conversion through a common value type.
///
/// Each store has one subclass. Columns are numbered as in ``Entity/columns`` of the row's ``entity``. A reader is
/// valid only inside the call that passes it. Reading does not throw: the first invalid value is recorded in
/// ``problem`` and its placeholder is returned, and the caller checks ``problem`` at the end.
open class RowReader {
  // Plain values that are read and set for every row. Accesses cannot overlap, so exclusivity is not checked. Other
  // modules do not see that for a stored property, but inline the bodies of these accessors.

  @usableFromInline @exclusivity(unchecked) final var _key: Int64 = 0
  @usableFromInline @exclusivity(unchecked) final var _version: Int64 = 0
  @usableFromInline @exclusivity(unchecked) final var _entity: Int = 0
  @usableFromInline @exclusivity(unchecked) final var _problem = NotedProblem.none

  /// A problem in one word, since every row is asked for one.
  @usableFromInline indirect enum NotedProblem {
    case none
    case some(RowProblem)
  }

  /// The object's key.
  @inlinable public final var key: Int64 {
    get { _key }
    set { _key = newValue }
  }

  /// The row version: 1 after the insert, incremented by each update.
  @inlinable public final var version: Int64 {
    get { _version }
    set { _version = newValue }
  }

  /// The number of the row's own entity, which may be a descendant of the requested one.
  @inlinable public final var entity: Int {
    get { _entity }
    set { _entity = newValue }
  }

  /// The first value that was invalid for its column.
  @inlinable public final var problem: RowProblem? {
    get { if case .some(let problem) = _problem { problem } else { nil } }
    set { _problem = newValue.map(NotedProblem.some) ?? .none }
  }

  /// Creates a reader. A store creates one for each call and moves it from row to row.
  public init() {}

  /// Whether the column is null.
  open func isNull(_ column: Int) -> Bool { true }
  /// The integer of a column. 0 and a ``problem`` if the column holds none.
  open func integer(_ column: Int) -> Int64 { 0 }
  /// The key in a column of references; 0 for null.
  open func reference(_ column: Int) -> Int64 { isNull(column) ? 0 : integer(column) }
  /// The real of a column. 0 and a ``problem`` if the column holds none.
  open func real(_ column: Int) -> Double { 0 }
  /// The text of a column. Empty, with a ``problem``, if the column holds none.
  open func text(_ column: Int) -> String { "" }
  /// The bytes of a blob or of a text, valid until the next call of this reader.
  open func bytes(_ column: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

  /// The bytes of a text that the store has at hand, valid until the next call of this reader; nil if it has none.
  @usableFromInline func textAtHand(_ column: Int) -> UnsafeRawBufferPointer? { nil }

  /// The file with the column's data; nil if the data is in the row. Only a store that supports external files
  /// overrides this.
  open func file(_ column: Int) -> ExternalFile? { nil }

  /// Data of an attribute with `externalStorage`, without loading it from its file.
  @inline(never) public final func external(_ column: Int) -> ExternalData {
    file(column).map(ExternalData.init) ?? ExternalData(Data(bytes(column)))
  }

  /// Records that a column's value is invalid for its type. Only the first problem is kept.
  ///
  /// - Parameter remedy: The remedy; nil if the row needs a repair.
  /// - Parameter what: What is wrong with the value.
  /// - Parameter column: The number of the column.
  @inline(never) public final func report(_ column: Int, _ what: String, remedy: String? = nil) {
    if problem == nil { problem = RowProblem(entity: entity, key: key, column: column, what: what, remedy: remedy) }
  }

  /// The value in its stored form.
  public final func value(_ column: Int, _ storageClass: StorageClass) -> StoredValue {
    guard !isNull(column) else { return .null }
    switch storageClass {
    case .integer: return .integer(integer(column))
    case .real: return .real(real(column))
    case .text: return .text(text(column))
    case .blob: return file(column).map(StoredValue.file) ?? .blob([UInt8](bytes(column)))
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether a text has these bytes.
  @inlinable func isEqual(to text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount, let baseAddress else { return false }
    return memcmp(baseAddress, text.utf8Start, count) == 0
  }
}

/// A stored value that is invalid for its column.
public struct RowProblem: Hashable, Sendable {
  /// The number of the row's entity.
  public let entity: Int
  /// The row's key.
  public let key: Int64
  /// The number of the column.
  public let column: Int
  /// What is wrong with the value.
  public let what: String
  /// The remedy; nil if the row needs a repair.
  public var remedy: String?
}

// MARK: - Row writer

/// Receives the values of a row, one after the other in column order. Each store has one subclass.
open class RowWriter {
  /// Creates a writer.
  public init() {}

  /// Writes null to the next column.
  open func null() {}
  /// Writes an integer to the next column.
  open func integer(_ value: Int64) {}
  /// Writes a real to the next column.
  open func real(_ value: Double) {}
  /// Writes a text to the next column.
  open func text(_ value: String) {}
  /// The bytes are valid only during the call.
  open func blob(_ value: UnsafeRawBufferPointer) {}
  /// Data of an attribute with `externalStorage`. A store that supports external files overrides this; in any other
  /// store the value is a blob.
  open func external(_ value: ExternalData) {
    switch value.place {
    case .memory(let bytes): bytes.withUnsafeBytes { blob($0) }
    case .file(let found): file(found)
    }
  }
  /// Data in an existing file. Only stores with external files create such values. If the file cannot be read, this
  /// writes NaN, which every store refuses, because nothing may be saved in its place.
  open func file(_ value: ExternalFile) {
    guard let bytes = try? value.origin?.bytes(of: value) else { return real(.nan) }
    bytes.withUnsafeBytes { blob($0) }
  }
}

extension RowWriter {
  /// Writes a value of any storage class.
  package final func write(_ value: StoredValue) {
    switch value {
    case .null: null()
    case .integer(let value): integer(value)
    case .real(let value): real(value)
    case .text(let value): text(value)
    case .blob(let value): value.withUnsafeBytes { blob($0) }
    case .file(let value): file(value)
    }
  }
}

extension RowWriter {
  /// Writes the value of a column, as external data if the column supports it.
  package final func write(_ value: StoredValue, of column: Column, in entity: Entity) {
    guard case .blob(let bytes) = value, entity.isExternal(column) else { return write(value) }
    external(ExternalData(Data(bytes)))
  }
}

extension Column {
  /// The number of the property that the column belongs to.
  package var property: Int {
    switch content {
    case .attribute(let property), .reference(let property, destination: _), .order(let property): property
    }
  }
}

/// An object with a row that a store can write.
public protocol StoredRecord: AnyObject {
  /// The object's key, which is the primary key of its row.
  var storedKey: Int64 { get }
  /// The row version when the object was read; 0 for an object that was never saved.
  var storedVersion: Int64 { get }
  /// Writes all columns of the object's entity, in order. The values have the attributes' own types, which a store may
  /// rely on.
  func writeRow(to row: RowWriter)
  /// Writes the columns of the marked properties, in column order.
  ///
  /// - Parameter properties: the properties to write.
  /// - Parameter row: Receives the values.
  func writeColumns(of properties: ColumnMask, to row: RowWriter)
}

/// A set of properties by number: bit n stands for property n, the last bit for property 63 and all beyond it.
///
/// An entity with more properties therefore writes a few unchanged columns, and no other entity needs a second word.
public struct ColumnMask: Hashable, Sendable {
  /// A bit for each property up to the 63rd, and one for all further ones.
  public var bits: UInt64

  /// The single property that the last bit stands for; -1 if it stands for property 63 and all beyond it.
  @usableFromInline let only: Int

  /// Creates a mask from its bits.
  public init(bits: UInt64) {
    self.bits = bits
    only = -1
  }

  /// Creates a set of one property, even if that property shares its bit with others.
  public init(only property: Int) {
    bits = Self.bit(of: property)
    only = property >= 63 ? property : -1
  }

  /// The set of all properties.
  @inlinable public static var all: ColumnMask { ColumnMask(bits: .max) }

  /// The bit of a property.
  @inlinable public static func bit(of property: Int) -> UInt64 { 1 << UInt64(truncatingIfNeeded: min(property, 63)) }

  /// Whether the mask has the bit of a property.
  @inlinable public func contains(_ property: Int) -> Bool {
    bits & Self.bit(of: property) != 0 && (property < 63 || only < 0 || only == property)
  }
}

extension ColumnMask {
  /// Masks for exactly these properties: one for all properties with their own bit, and one for each property beyond.
  package static func masks(of properties: [Int]) -> [ColumnMask] {
    if properties.count == 1, properties[0] < 63 { return [ColumnMask(bits: bit(of: properties[0]))] }
    let shared = properties.filter { $0 >= 63 }
    let own = properties.reduce(UInt64(0)) { $1 < 63 ? $0 | bit(of: $1) : $0 }
    return [ColumnMask(bits: own)] + shared.map(ColumnMask.init(only:))
  }
}

// MARK: - Value reader

/// Reads the values of a row in memory.
package final class ValueReader: RowReader {
  private var values: [StoredValue] = []
  /// The bytes returned last, because an array's own bytes are not accessible beyond a call.
  private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  package override init() {}

  deinit { buffer.deallocate() }

  /// Sets the row to read, with its values by column.
  package func show(key: Int64, version: Int64, entity: Int, values: [StoredValue]) {
    self.key = key
    self.version = version
    self.entity = entity
    self.values = values
  }

  package override func isNull(_ column: Int) -> Bool { value(column).isNull }

  package override func integer(_ column: Int) -> Int64 {
    if case .integer(let value) = value(column) { return value }
    report(column, "the stored value is no integer")
    return 0
  }

  package override func real(_ column: Int) -> Double {
    if case .real(let value) = value(column) { return value }
    report(column, "the stored value is no real")
    return 0
  }

  package override func text(_ column: Int) -> String {
    if case .text(let value) = value(column) { return value }
    report(column, "the stored value is no text")
    return ""
  }

  package override func bytes(_ column: Int) -> UnsafeRawBufferPointer {
    switch value(column) {
    case .blob(let bytes): return keep(bytes)
    case .text(let text): return keep(text.utf8)
    default:
      report(column, "the stored value is neither blob nor text")
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
  }

  package override func file(_ column: Int) -> ExternalFile? {
    if case .file(let file) = value(column) { file } else { nil }
  }

  private func value(_ column: Int) -> StoredValue {
    values.indices.contains(column) ? values[column] : .null
  }

  private func keep(_ bytes: some Collection<UInt8>) -> UnsafeRawBufferPointer {
    let count = bytes.count
    if buffer.count < count {
      buffer.deallocate()
      buffer = .allocate(byteCount: max(count, 64), alignment: 16)
    }
    buffer.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(start: buffer.baseAddress, count: count)
  }
}

// MARK: - Value writer

/// Collects the values of a row.
package final class ValueWriter: RowWriter {
  package private(set) var values: [StoredValue] = []
  /// The writer of external files; nil for a store without them.
  private let externals: ExternalWriter?

  package init(_ externals: ExternalWriter? = nil) { self.externals = externals }

  package override func null() { values.append(.null) }
  package override func integer(_ value: Int64) { values.append(.integer(value)) }
  package override func real(_ value: Double) { values.append(.real(value)) }
  package override func text(_ value: String) { values.append(.text(value)) }
  package override func blob(_ value: UnsafeRawBufferPointer) { values.append(.blob([UInt8](value))) }

  package override func file(_ value: ExternalFile) { values.append(.file(value)) }

  package override func external(_ value: ExternalData) {
    if let file = externals?.file(for: value) { return values.append(.file(file)) }
    super.external(value)
  }

  /// The values that `body` writes; nil unless their number is `count`.
  package func collect(_ count: Int, _ body: (RowWriter) -> Void) -> [StoredValue]? {
    values = []
    values.reserveCapacity(count)
    body(self)
    return values.count == count ? values : nil
  }
}
