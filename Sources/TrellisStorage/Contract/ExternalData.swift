public import Foundation
public import TrellisModel

/// The value of a `data` attribute with `externalStorage` in a snapshot: the bytes themselves if they are small or not
/// saved yet, otherwise a handle to the file that contains them.
///
/// ```swift
/// let handle = image.snapshot.data           // no file is read
/// print(handle?.count ?? 0)
/// let bytes = try handle?.load()             // now it is read
/// ```
/// Two values are equal if their bytes are. A handle remains valid while its container is open, even if the object
/// changes or is deleted, because files with handles in memory are not collected. After a save, large bytes are no
/// longer held in memory.
public struct ExternalData: Sendable {
  /// The location of the bytes.
  package enum Place: Sendable {
    case memory(Data)
    case file(ExternalFile)
  }

  /// Shared by all copies, so that all of them see when the bytes move to a file.
  private final class Content: Sendable {
    let place: Locked<Place>

    init(_ place: Place) { self.place = Locked(place) }
  }

  private let content: Content
  /// The number of bytes, available without reading them.
  public let count: Int

  /// Creates a value from bytes in memory.
  public init(_ bytes: Data) {
    content = Content(.memory(bytes))
    count = bytes.count
  }

  package init(_ file: ExternalFile) {
    content = Content(.file(file))
    count = file.size
  }

  package var place: Place { content.place.withLock { $0 } }

  /// Notes that the bytes are saved in a file, and releases them from memory.
  package func settle(in file: ExternalFile) { content.place.withLock { $0 = .file(file) } }

  /// Whether the bytes are in a file, not in memory.
  public var isInFile: Bool { if case .file = place { true } else { false } }

  /// The bytes, from memory or from the file.
  ///
  /// - Throws: ``StoreError`` with the code `missingFile` if the file is missing, `damaged` if it has other content, or
  ///   another code if it cannot be read.
  /// - Complexity: linear in ``count``. The file is read and checked on each call and not kept in memory.
  public func load() throws -> Data {
    switch place {
    case .memory(let bytes): return bytes
    case .file(let file):
      guard let origin = file.origin else {
        throw StoreError(
          .missingFile, "The data came without its store.", remedy: "Read it from the object, or from a snapshot of it."
        )
      }
      return try origin.data(of: file)
    }
  }

  /// The first bytes, of which a file's are not checked; fewer if there are no more.
  package func start(_ count: Int) throws -> [UInt8] {
    switch place {
    case .memory(let bytes): [UInt8](bytes.prefix(count))
    case .file(let file): try file.origin?.start(of: file, count) ?? []
    }
  }

  /// The SHA-256 digest of the bytes, which is also the name of their file.
  ///
  /// - Complexity: constant for bytes in a file; linear in ``count`` for bytes in memory.
  public var digest: ContentDigest {
    switch place {
    case .memory(let bytes): bytes.withUnsafeBytes { ContentDigest(of: $0) }
    case .file(let file): file.digest
    }
  }
}

extension ExternalData: Hashable {
  public static func == (left: ExternalData, right: ExternalData) -> Bool {
    if left.content === right.content { return true }
    guard left.count == right.count else { return false }
    if case (.memory(let left), .memory(let right)) = (left.place, right.place) { return left == right }
    return left.digest == right.digest
  }

  /// Hashes the count, because the digest would have to be computed first.
  public func hash(into hasher: inout Hasher) { hasher.combine(count) }
}

extension ExternalData: AttributeValue {
  @_spi(Generated) public static var valueKind: ValueKind { .blob }
  @_spi(Generated) public static let placeholder = ExternalData(Data())
  @_spi(Generated) public static func read(_ row: RowReader, _ column: Int) -> ExternalData { row.external(column) }
  @_spi(Generated) public func write(to row: RowWriter) { row.external(self) }

  @_spi(Generated) public var storedValue: StoredValue {
    switch place {
    case .memory(let bytes): .blob([UInt8](bytes))
    case .file(let file): .file(file)
    }
  }
}

/// Bytes in memory are encoded as data; a file is encoded as its digest and size, so that a snapshot stays small.
extension ExternalData: Codable {
  private enum Key: String, CodingKey {
    case digest, count
  }

  public func encode(to encoder: any Encoder) throws {
    switch place {
    case .memory(let bytes):
      var container = encoder.singleValueContainer()
      try container.encode(bytes)
    case .file(let file):
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(file.digest.text, forKey: .digest)
      try container.encode(file.size, forKey: .count)
    }
  }

  /// A decoded handle identifies the bytes, but cannot load them.
  public init(from decoder: any Decoder) throws {
    guard let container = try? decoder.container(keyedBy: Key.self) else {
      self.init(try decoder.singleValueContainer().decode(Data.self))
      return
    }
    let text = try container.decode(String.self, forKey: .digest)
    let count = try container.decode(Int.self, forKey: .count)
    guard let digest = ContentDigest(text), count >= 0 else {
      throw DecodingError.dataCorruptedError(forKey: .digest, in: container, debugDescription: "This is no digest.")
    }
    self.init(ExternalFile(digest, size: count, origin: nil))
  }
}

// MARK: - External writer

/// The files that one save writes. Used by one thread at a time.
package final class ExternalWriter {
  // Each access ends before anything else is called, so accesses cannot overlap and need no check.

  private let folder: ExternalFolder
  @exclusivity(unchecked) private var written: [ContentDigest: ExternalFile] = [:]
  @exclusivity(unchecked) private var values: [(value: ExternalData, file: ExternalFile)] = []
  /// The error that prevented writing a file. The save must then fail.
  @exclusivity(unchecked) package private(set) var problem: StoreError?

  package init(_ folder: ExternalFolder) { self.folder = folder }

  /// The file that contains a value; nil if the value is stored in the row.
  package func file(for value: ExternalData) -> ExternalFile? {
    switch value.place {
    case .file(let file): return kept(file)
    case .memory(let bytes):
      guard bytes.count > folder.largestInRow else { return nil }
      guard let file = file(holding: bytes) else { return nil }
      values.append((value, file))
      return file
    }
  }

  private func file(holding bytes: Data) -> ExternalFile? {
    let digest = bytes.withUnsafeBytes { ContentDigest(of: $0) }
    if let file = written[digest] { return file }
    do throws(StoreError) {
      let file = try folder.write(bytes, digest)
      written[digest] = file
      return file
    } catch {
      if problem == nil { problem = error }
      return nil
    }
  }

  /// An existing file that a row may refer to again.
  package func kept(_ file: ExternalFile) -> ExternalFile? {
    if file.origin === folder, (try? folder.files.stamp(folder.path(of: file.digest)))??.size == Int64(file.size) {
      return file
    }
    do {
      guard let bytes = try file.origin?.data(of: file) else { return nil }
      return self.file(holding: bytes)
    } catch {
      if problem == nil { problem = error as? StoreError }
      return nil
    }
  }

  /// Syncs the names of the files. The save commits afterwards.
  package func finish() throws(StoreError) {
    if let problem { throw problem }
    if !written.isEmpty { try folder.syncNames() }
  }

  /// Called after the commit: releases bytes from memory that are now in files.
  package func didCommit() {
    let settled = values
    for (value, file) in settled { value.settle(in: file) }
    forget()
  }

  /// Called at the start of a save and after a failed one. Files that a failed save wrote are collected later.
  package func forget() {
    if !written.isEmpty { written = [:] }
    if !values.isEmpty { values = [] }
    if problem != nil { problem = nil }
  }
}

extension ExternalData: CustomStringConvertible {
  /// The number of bytes; the file is not read.
  public var description: String { "\(count) bytes" }
}
