import Foundation
public import TrellisSchema

/// Receives the values of a row, one after the other in column order. Each store has one subclass.
open class RowWriter {
  public init() {}

  open func null() {}
  open func integer(_ value: Int64) {}
  open func real(_ value: Double) {}
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
  func writeColumns(of properties: ColumnMask, to row: RowWriter)
}

/// A set of properties by number: bit n stands for property n, the last bit for property 63 and all beyond it.
///
/// An entity with more properties therefore writes a few unchanged columns, and no other entity needs a second word.
public struct ColumnMask: Hashable, Sendable {
  public var bits: UInt64

  /// The single property that the last bit stands for; -1 if it stands for property 63 and all beyond it.
  @usableFromInline let only: Int

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

  @inlinable public func contains(_ property: Int) -> Bool {
    bits & Self.bit(of: property) != 0 && (property < 63 || only < 0 || only == property)
  }
}

extension ColumnMask {
  /// Masks for exactly these properties: one for all properties with their own bit, and one for each property beyond.
  package static func masks(of properties: [Int]) -> [ColumnMask] {
    let shared = properties.filter { $0 >= 63 }
    let own = properties.reduce(UInt64(0)) { $1 < 63 ? $0 | bit(of: $1) : $0 }
    return [ColumnMask(bits: own)] + shared.map(ColumnMask.init(only:))
  }
}
