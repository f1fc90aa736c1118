import Foundation
public import TrellisSchema

/// One row of a store while it is being read: values by column number, typed, without a detour through a common value.
///
/// A store has one subclass. Columns are numbered as in ``Entity/columns`` of the row's ``entity``. A reader is valid only
/// inside the call that handed it out. Reading never fails at once: the first value that does not fit is noted in
/// ``problem``, its placeholder is returned, and who asked for the row looks at ``problem`` at the end.
open class RowReader {
  // Plain values that are read and set for every row: nothing can overlap, so nothing is checked. Other modules do not see
  // that of a stored property, but take over the bodies of these accessors.

  @usableFromInline @exclusivity(unchecked) final var _key: Int64 = 0
  @usableFromInline @exclusivity(unchecked) final var _version: Int64 = 0
  @usableFromInline @exclusivity(unchecked) final var _entity: Int = 0
  @usableFromInline @exclusivity(unchecked) final var _problem: RowProblem?

  /// The object's key.
  @inlinable public final var key: Int64 {
    get { _key }
    set { _key = newValue }
  }

  /// The row's version: 1 when inserted, one more at each update.
  @inlinable public final var version: Int64 {
    get { _version }
    set { _version = newValue }
  }

  /// The row's own entity, by number, which in a hierarchy may lie below the one asked for.
  @inlinable public final var entity: Int {
    get { _entity }
    set { _entity = newValue }
  }

  /// The first value that did not fit its column.
  @inlinable public final var problem: RowProblem? {
    get { _problem }
    set { _problem = newValue }
  }

  public init() {}

  /// Whether the column holds null.
  open func isNull(_ column: Int) -> Bool { true }
  open func integer(_ column: Int) -> Int64 { 0 }
  open func real(_ column: Int) -> Double { 0 }
  open func text(_ column: Int) -> String { "" }
  /// The bytes of a blob or of a text. They are valid until the next call of this reader.
  open func bytes(_ column: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

  /// The file in which the column's data lies; nil where it lies in the row. Only a store that keeps files overrides this.
  open func file(_ column: Int) -> ExternalFile? { nil }

  /// Data of an attribute with `externalStorage`, which stays where it is.
  @inline(never) public final func external(_ column: Int) -> ExternalData {
    file(column).map(ExternalData.init) ?? ExternalData(Data(bytes(column)))
  }

  /// Notes that a column's value does not fit its type. Only the first is kept.
  ///
  /// - Parameter remedy: The way out; nil where the row is to be repaired.
  @inline(never) public final func report(_ column: Int, _ what: String, remedy: String? = nil) {
    if problem == nil { problem = RowProblem(entity: entity, key: key, column: column, what: what, remedy: remedy) }
  }

  /// A value as it lies in the store.
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

/// A stored value that does not fit its column.
public struct RowProblem: Hashable, Sendable {
  public let entity: Int
  public let key: Int64
  public let column: Int
  public let what: String
  /// The way out; nil where the row is to be repaired.
  public var remedy: String?
}
