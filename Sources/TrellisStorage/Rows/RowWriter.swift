import Foundation
public import TrellisSchema

/// Where a row's values go, one after the other in the order of its columns. A store has one subclass.
open class RowWriter {
  public init() {}

  open func null() {}
  open func integer(_ value: Int64) {}
  open func real(_ value: Double) {}
  open func text(_ value: String) {}
  /// The bytes are valid during the call only.
  open func blob(_ value: UnsafeRawBufferPointer) {}
  /// Data of an attribute with `externalStorage`. A store that keeps large ones in files overrides this; for any other the value
  /// is a blob.
  open func external(_ value: ExternalData) {
    switch value.place {
    case .memory(let bytes): bytes.withUnsafeBytes { blob($0) }
    case .file(let found): file(found)
    }
  }
  /// Data in a file that is there already. Only stores that keep files make such values. What cannot be read is written as a
  /// real that is no number, which every store refuses: nothing may be saved in its place.
  open func file(_ value: ExternalFile) {
    guard let bytes = try? value.origin?.bytes(of: value) else { return real(.nan) }
    bytes.withUnsafeBytes { blob($0) }
  }
}

extension RowWriter {
  /// Writes a value of any kind.
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
  /// Writes a value of a column, as large data where it is that.
  package final func write(_ value: StoredValue, of column: Column, in entity: Entity) {
    guard case .blob(let bytes) = value, entity.isExternal(column) else { return write(value) }
    external(ExternalData(Data(bytes)))
  }
}

extension Column {
  /// The property that the column belongs to, by number.
  package var property: Int {
    switch content {
    case .attribute(let property), .reference(let property, destination: _), .order(let property): property
    }
  }
}

/// An object whose row a store can write.
public protocol StoredRecord: AnyObject {
  /// The object's key, which is its row's primary key.
  var storedKey: Int64 { get }
  /// The version that the row had when the object read it; 0 for one that was never saved.
  var storedVersion: Int64 { get }
  /// Writes every column of the object's entity, in order: values of the attributes' own types, on which a store may rely.
  func writeRow(to row: RowWriter)
  /// Writes the columns of the marked properties, in the order of the columns.
  ///
  /// - Parameter properties: what ``ColumnMask`` says.
  func writeColumns(of properties: ColumnMask, to row: RowWriter)
}

/// A set of properties, by number: bit n stands for property n, the last bit for property 63 and all beyond it.
///
/// So an entity with more properties writes a few columns more than have changed, and nothing else costs a second word.
public struct ColumnMask: Hashable, Sendable {
  public var bits: UInt64

  /// The one property for which the last bit stands; -1 where it stands for all beyond.
  @usableFromInline let only: Int

  public init(bits: UInt64) {
    self.bits = bits
    only = -1
  }

  /// One property alone, even one that shares its bit.
  public init(only property: Int) {
    bits = Self.bit(of: property)
    only = property >= 63 ? property : -1
  }

  /// Every property.
  @inlinable public static var all: ColumnMask { ColumnMask(bits: .max) }

  /// The bit of a property.
  @inlinable public static func bit(of property: Int) -> UInt64 { 1 << UInt64(truncatingIfNeeded: min(property, 63)) }

  @inlinable public func contains(_ property: Int) -> Bool {
    bits & Self.bit(of: property) != 0 && (property < 63 || only < 0 || only == property)
  }
}

extension ColumnMask {
  /// Masks that stand for these properties and no others: one for all that have a bit of their own, one for each beyond.
  package static func masks(of properties: [Int]) -> [ColumnMask] {
    let shared = properties.filter { $0 >= 63 }
    let own = properties.reduce(UInt64(0)) { $1 < 63 ? $0 | bit(of: $1) : $0 }
    return [ColumnMask(bits: own)] + shared.map(ColumnMask.init(only:))
  }
}
