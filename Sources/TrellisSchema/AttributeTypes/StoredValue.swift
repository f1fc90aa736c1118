/// A value in the form in which stores keep it.
///
/// Booleans are 0 or 1, dates are microseconds since 1970-01-01T00:00:00Z, decimals are their canonical text,
/// UUIDs are their 16 bytes, URLs their absolute text, enums their raw value, lists and structs their JSON text.
public enum StoredValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
  /// Data that lies in a file beside the store, of an attribute with `externalStorage`.
  case file(ExternalFile)

  /// Whether this is ``null``.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// Texts are their UTF-8 bytes: a composed and a decomposed Hangul syllable differ, unlike under Swift's `==`.
  public static func == (left: StoredValue, right: StoredValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    case (.text(let a), .text(let b)): TextBytes.areEqual(a, b)
    case (.blob(let a), .blob(let b)): a == b
    case (.file(let a), .file(let b)): a == b
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let value): hasher.combine(value)
    case .real(let value): hasher.combine(value)
    case .text(var value): value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .blob(let value): hasher.combine(value)
    case .file(let value): hasher.combine(value)
    }
  }
}

extension StoredValue {
  /// Whether both are the same to a user: as `==`, but bytes in a file are the same as those bytes in memory, which hashing cannot
  /// tell.
  package func isSame(as other: StoredValue) -> Bool {
    switch (self, other) {
    case (.file(let file), .blob(let bytes)), (.blob(let bytes), .file(let file)): bytes.withUnsafeBytes(file.holds)
    default: self == other
    }
  }
}
