import Foundation
public import TrellisSchema

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
  @usableFromInline @exclusivity(unchecked) final var _problem: RowProblem?

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
    get { _problem }
    set { _problem = newValue }
  }

  public init() {}

  /// Whether the column is null.
  open func isNull(_ column: Int) -> Bool { true }
  open func integer(_ column: Int) -> Int64 { 0 }
  open func real(_ column: Int) -> Double { 0 }
  open func text(_ column: Int) -> String { "" }
  /// The bytes of a blob or of a text, valid until the next call of this reader.
  open func bytes(_ column: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

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

/// A stored value that is invalid for its column.
public struct RowProblem: Hashable, Sendable {
  public let entity: Int
  public let key: Int64
  public let column: Int
  public let what: String
  /// The remedy; nil if the row needs a repair.
  public var remedy: String?
}
