package import Foundation

/// The type of an attribute.
///
/// The name in a model file is ``spelling``: `"string"`, `"[int64]"`, or the name of an enum or of a `Codable` struct.
public enum AttributeType: Hashable, Sendable {
  /// A `String`.
  case string
  /// A `Bool`.
  case bool
  /// An `Int16`, an `Int32` or an `Int64`.
  case integer(IntegerType)
  /// A `Float`.
  case float
  /// A `Double`.
  case double
  /// A `Decimal`.
  case decimal
  /// A `Date`, to the microsecond.
  case date
  /// Bytes: `Data`, or ``ExternalData`` with external storage.
  case data
  /// A `UUID`.
  case uuid
  /// A `URL`.
  case url
  /// One of the model's enums, by name.
  case enumeration(String)
  /// A list of scalars, stored as one JSON text.
  indirect case array(AttributeType)
  /// A `Codable` struct of the app, by name, stored as one JSON text.
  case codable(String)

  /// An `Int16`.
  public static let int16 = AttributeType.integer(.int16)
  /// An `Int32`.
  public static let int32 = AttributeType.integer(.int32)
  /// An `Int64`.
  public static let int64 = AttributeType.integer(.int64)

  /// The scalar types, in the order in which messages list them.
  public static let scalars: [AttributeType] =
    [.string, .bool] + IntegerType.allCases.map { .integer($0) }
    + [.float, .double, .decimal, .date, .data, .uuid, .url]

  /// The type's name in a model file.
  public var spelling: String {
    switch self {
    case .string: "string"
    case .bool: "bool"
    case .integer(let integer): integer.rawValue
    case .float: "float"
    case .double: "double"
    case .decimal: "decimal"
    case .date: "date"
    case .data: "data"
    case .uuid: "uuid"
    case .url: "url"
    case .enumeration(let name), .codable(let name): name
    case .array(let element): "[\(element.spelling)]"
    }
  }
}

/// A type of integers.
///
/// The raw value is its name in a model file.
public enum IntegerType: String, Hashable, Sendable, CaseIterable {
  /// `Int16`.
  case int16
  /// `Int32`.
  case int32
  /// `Int64`.
  case int64

  /// The type's values.
  package var range: ClosedRange<Int64> {
    switch self {
    case .int16: Int64(Int16.min)...Int64(Int16.max)
    case .int32: Int64(Int32.min)...Int64(Int32.max)
    case .int64: Int64.min...Int64.max
    }
  }

  /// The type's name in Swift.
  package var swiftName: String {
    switch self {
    case .int16: "Int16"
    case .int32: "Int32"
    case .int64: "Int64"
    }
  }
}

extension ClosedRange<Int64> {
  /// The integers up to which every one is a `Double`, of 53 bits.
  package static var exactInDouble: Self { -(Int64(1) << 53)...(Int64(1) << 53) }
  /// The integers up to which every one is a `Float`, of 24 bits.
  package static var exactInFloat: Self { -(Int64(1) << 24)...(Int64(1) << 24) }
}

/// How a store keeps a value: the four storage classes that every store holds exactly.
public enum StorageClass: String, Hashable, Sendable {
  /// 64-bit integers.
  case integer
  /// 64-bit floating-point numbers.
  case real
  /// Texts in UTF-8.
  case text
  /// Bytes.
  case blob
}

// MARK: - Traits

extension AttributeType {
  /// The values of an integer type; those of `Int64` for any other type.
  package var integerRange: ClosedRange<Int64> {
    if case .integer(let integer) = self { integer.range } else { Int64.min...Int64.max }
  }

  /// Whether values of the type may have a minimum and a maximum.
  package var hasBounds: Bool {
    switch self {
    case .integer, .float, .double, .decimal, .date: true
    default: false
    }
  }

  /// Whether values of the type have a length.
  package var hasLength: Bool {
    switch self {
    case .string, .data, .array: true
    default: false
    }
  }

  /// Whether objects can be sorted by values of the type.
  package var isSortable: Bool {
    switch self {
    case .array, .codable, .data: false
    default: true
    }
  }
}

extension AttributeType {
  /// The name of the enum of the value, or of the elements of a list; nil for any other type.
  package var enumName: String? {
    switch self {
    case .enumeration(let name): name
    case .array(let element): element.enumName
    default: nil
    }
  }

  /// The storage class of a value of this type.
  ///
  /// - Parameter rawTypeOf: returns the raw type of an enum by its name. An unknown enum counts as text.
  public func storageClass(rawTypeOf: (String) -> EnumDescription.RawType?) -> StorageClass {
    switch self {
    case .bool, .integer, .date: .integer
    case .float, .double: .real
    case .string, .decimal, .url, .array, .codable: .text
    case .data, .uuid: .blob
    case .enumeration(let name): rawTypeOf(name) == .integer ? .integer : .text
    }
  }
}

// MARK: - Stored value

/// A value in its stored form.
///
/// Booleans are 0 or 1, dates are microseconds since 1970-01-01T00:00:00Z, decimals are their canonical text, UUIDs are
/// their 16 bytes, URLs are their absolute text, enums are their raw value, lists and structs are their JSON text.
public enum StoredValue: Hashable, Sendable {
  /// No value.
  case null
  /// An integer.
  case integer(Int64)
  /// A floating-point number.
  case real(Double)
  /// A text.
  case text(String)
  /// Bytes.
  case blob([UInt8])
  /// Data in a file beside the store, for an attribute with `externalStorage`.
  indirect case file(ExternalFile)

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
    case .blob(let value): value.withUnsafeBytes { hasher.combine(bytes: $0) }
    case .file(let value): hasher.combine(value)
    }
  }
}

extension StoredValue {
  /// Whether both values are the same to the user. Unlike with `==`, data in a file equals the same data in memory;
  /// hash values do not reflect that.
  package func isSame(as other: StoredValue) -> Bool {
    switch (self, other) {
    // What most values are comes first.
    case (.text(let a), .text(let b)): TextBytes.areEqual(a, b)
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    case (.file(let file), .blob(let bytes)), (.blob(let bytes), .file(let file)): bytes.withUnsafeBytes(file.holds)
    default: self == other
    }
  }
}

// MARK: - External file

/// The folder that reads files of external data and counts how often each of them is in use.
package protocol ExternalFileOrigin: AnyObject, Sendable {
  /// The file's bytes, which match its digest.
  ///
  /// - Throws: if the file is missing, unreadable or does not have the expected content.
  func bytes(of file: ExternalFile) throws -> [UInt8]
  /// As ``bytes(of:)``.
  func data(of file: ExternalFile) throws -> Data
  /// The first bytes of the file, which are not compared with its digest; fewer if the file is shorter.
  ///
  /// - Throws: if the file is missing or unreadable.
  func start(of file: ExternalFile, _ count: Int) throws -> [UInt8]
  /// Reads the file to its end in pieces, without keeping its content.
  ///
  /// - Throws: if the file is missing, unreadable or does not have the expected content.
  func check(_ file: ExternalFile) throws
  /// Counts one more use of the file with this content; ``noteRelease(of:)`` counts one less.
  func noteUse(of digest: ContentDigest)
  func noteRelease(of digest: ContentDigest)
}

/// A file beside a store that holds the value of one attribute. It is identified by its content and read lazily.
///
/// The file is not collected as garbage while an instance for it is in memory.
public final class ExternalFile: Sendable {
  /// The digest of the content, which is also the file's name.
  public let digest: ContentDigest
  /// The size of the file in bytes.
  public let size: Int
  package let origin: (any ExternalFileOrigin)?

  /// - Parameter origin: the reader of the file; nil for a file from elsewhere, such as one in a decoded snapshot.
  package init(_ digest: ContentDigest, size: Int, origin: (any ExternalFileOrigin)?) {
    self.digest = digest
    self.size = size
    self.origin = origin
    origin?.noteUse(of: digest)
  }

  deinit { origin?.noteRelease(of: digest) }

  /// Whether the file has exactly these bytes. The file itself is not read.
  ///
  /// - Complexity: constant if the sizes differ, otherwise linear in the number of bytes.
  public func holds(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.count == size && ContentDigest(of: bytes) == digest
  }

  // MARK: References in rows

  /// The text by which a row refers to the file: the 64 digits of the digest, a colon, and the size in bytes.
  package var reference: String { Self.reference(digest, size) }

  package static func reference(_ digest: ContentDigest, _ size: Int) -> String { "\(digest.text):\(size)" }

  /// The position of the size in a reference, counted from 1.
  package static let placeOfSize = 66

  /// The digest and the size in a reference; nil if the text is not a reference.
  package static func parts(of reference: String) -> (digest: ContentDigest, size: Int)? {
    let parts = reference.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let digest = ContentDigest(parts[0]), let size = Int(parts[1]), size >= 0,
      String(size) == parts[1]
    else { return nil }
    return (digest, size)
  }
}

/// A row's reference to a file.
package struct ExternalReference: Sendable {
  package let digest: ContentDigest
  /// The size of the file in bytes, as the row says it.
  package let size: Int
  package let entity: String
  package let key: Int64
  package let property: String

  package init(digest: ContentDigest, size: Int, entity: String, key: Int64, property: String) {
    self.digest = digest
    self.size = size
    self.entity = entity
    self.key = key
    self.property = property
  }
}

extension ExternalFile: Hashable {
  public static func == (left: ExternalFile, right: ExternalFile) -> Bool {
    left.digest == right.digest && left.size == right.size
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
