/// A value in its stored form.
///
/// Booleans are 0 or 1, dates are microseconds since 1970-01-01T00:00:00Z, decimals are their canonical text, UUIDs are
/// their 16 bytes, URLs are their absolute text, enums are their raw value, lists and structs are their JSON text.
public enum StoredValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
  /// Data in a file beside the store, for an attribute with `externalStorage`.
  case file(ExternalFile)

  /// Whether the value is ``null``.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// Texts are equal if their UTF-8 bytes are: a composed and a decomposed Hangul syllable differ, unlike with Swift's
  /// `==`.
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
  /// Whether both values are the same to the user. Unlike with `==`, data in a file equals the same data in memory;
  /// hash values do not reflect that.
  package func isSame(as other: StoredValue) -> Bool {
    switch (self, other) {
    case (.file(let file), .blob(let bytes)), (.blob(let bytes), .file(let file)): bytes.withUnsafeBytes(file.holds)
    default: self == other
    }
  }
}
