public import Foundation
@_spi(Generated) public import TrellisRuntime

/// One of several inputs of an import: where its bytes are, and what its elements are.
///
/// ```swift
/// let report = try context.importJSON([
///   JSONInput(Author.self, from: library, named: "authors", at: "authors[*]"),
///   JSONInput(Book.self, from: URL(filePath: "books.ndjson")),
/// ])
/// ```
public struct JSONInput: Sendable {
  enum Elements {
    case objects(of: ManagedObject.Type)
    case numbered(Int)
  }

  private enum Source {
    case data(Data)
    case file(URL)
    /// What is read once, from its start to its end.
    case stream(@Sendable () throws -> FileHandle)
  }

  let elements: Elements
  let name: String?
  let path: String?
  let layout: JSONLayout
  private let source: Source
  /// Makes what reads the elements; nil for JSON.
  let makeReader: ReaderMaking?
  /// Makes what changes the encoding of the pieces; nil for UTF-8. Its last piece is empty.
  private let makeDecoder: DecoderMaking?

  package typealias ReaderMaking = @Sendable (JSONMap, EntityMap) -> any ElementReader
  package typealias DecoderMaking = @Sendable () -> (Data) -> Data

  /// An input that is in memory.
  ///
  /// - Parameters:
  ///   - type: The entity of the elements.
  ///   - data: The bytes, in UTF-8.
  ///   - name: The name by which failures tell the input from the others.
  ///   - path: The path from the document to the elements, such as `results[*]`. Nil for the elements of a list, or the
  ///     document itself if it is no list.
  ///   - layout: How elements are separated.
  public init<Object: ManagedObject>(
    _ type: Object.Type, from data: Data, named name: String, at path: String? = nil, layout: JSONLayout = .document
  ) {
    self.init(.objects(of: type), from: data, named: name, at: path, layout: layout)
  }

  /// An input that is in a file, which is opened when the inputs before are imported.
  ///
  /// - Parameters:
  ///   - type: The entity of the elements.
  ///   - url: The URL of the file.
  ///   - name: The name by which failures tell the input from the others; nil for the last component of the URL.
  ///   - path: The path from the document to the elements, as for data.
  ///   - layout: How elements are separated; nil for lines if the name of the file ends in `.ndjson` or `.jsonl`,
  ///     otherwise a document.
  public init<Object: ManagedObject>(
    _ type: Object.Type, from url: URL, named name: String? = nil, at path: String? = nil, layout: JSONLayout? = nil
  ) {
    elements = .objects(of: type)
    source = .file(url)
    self.name = name ?? url.lastPathComponent
    self.path = path
    self.layout = layout ?? JSONLayout(ofFile: url.path)
    makeReader = nil
    makeDecoder = nil
  }

  /// An input of objects of an entity by its number.
  package init(
    entity: Int, from data: Data, named name: String?, at path: String? = nil, layout: JSONLayout = .document
  ) {
    self.init(.numbered(entity), from: data, named: name, at: path, layout: layout)
  }

  init(_ elements: Elements, from data: Data, named name: String?, at path: String?, layout: JSONLayout) {
    self.elements = elements
    source = .data(data)
    self.name = name
    self.path = path
    self.layout = layout
    makeReader = nil
    makeDecoder = nil
  }

  /// An input of objects of an entity by its number, from a file, a pipe or another stream.
  ///
  /// - Parameters:
  ///   - name: How failures name the input.
  ///   - stream: Called when the inputs before are imported. The result is closed at its end.
  package init(
    entity: Int, named name: String, at path: String? = nil, layout: JSONLayout,
    from stream: @escaping @Sendable () throws -> FileHandle
  ) {
    elements = .numbered(entity)
    source = .stream(stream)
    self.name = name
    self.path = path
    self.layout = layout
    makeReader = nil
    makeDecoder = nil
  }

  /// An input of elements that are no JSON, from the bytes of another one.
  package init(
    _ other: JSONInput, _ makeReader: @escaping ReaderMaking, decoding makeDecoder: DecoderMaking?
  ) {
    elements = other.elements
    name = other.name
    path = nil
    layout = .document
    source = other.source
    self.makeReader = makeReader
    self.makeDecoder = makeDecoder
  }

  /// The number of bytes; nil if it is not known.
  ///
  /// - Throws: the errors of the file system for a file that cannot be read.
  func size() throws -> Int? {
    switch source {
    case .data(let data): return data.count
    case .file(let url):
      let file = try FileHandle(forReadingFrom: url)
      defer { try? file.close() }
      // A folder can be opened, and has a size as well.
      _ = try file.read(upToCount: 1)
      return Int(clamping: try file.seekToEnd())
    case .stream: return nil
    }
  }

  /// Passes on all bytes, in pieces of a size.
  package func read(pieces size: Int, _ take: (Data) throws -> Void) throws {
    guard let decode = makeDecoder?() else { return try readBytes(pieces: size, take) }
    try readBytes(pieces: size) { try take(decode($0)) }
    try take(decode(Data()))
  }

  private func readBytes(pieces size: Int, _ take: (Data) throws -> Void) throws {
    let file: FileHandle
    switch source {
    case .data(var rest):
      while !rest.isEmpty {
        try take(rest.prefix(size))
        rest = rest.dropFirst(size)
      }
      return
    case .file(let url): file = try FileHandle(forReadingFrom: url)
    case .stream(let open): file = try open()
    }
    defer { try? file.close() }
    while let piece = try file.read(upToCount: size), !piece.isEmpty { try take(piece) }
  }
}

extension JSONInput: CustomStringConvertible {
  /// The elements, the name, and the path if there is one: `Author of library at authors[*]`.
  public var description: String {
    let elements =
      switch elements {
      case .objects(let type): "\(type)"
      case .numbered(let number): "entity \(number)"
      }
    return "\(elements) of \(name ?? "data")" + (path.map { " at \($0)" } ?? "")
  }
}
