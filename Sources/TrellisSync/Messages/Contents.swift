import TrellisModel

/// A piece of a content.
///
/// A content is what is too large for a message: data of a value, or the change sets of a push. The message has its
/// digest and its size, an ``ExternalFile`` without a folder, and its bytes are sent in pieces.
struct ContentPiece: Hashable, Sendable {
  var content: ExternalFile
  /// The number of bytes before the piece.
  var offset: Int
  var bytes: [UInt8]
}

/// The place in a content from which on its bytes are missing.
struct ContentPlace: Hashable, Sendable {
  var content: ExternalFile
  var offset: Int
}

/// A replica asks for pieces of data that an answer names.
struct ContentRequest: Hashable, Sendable {
  /// The largest number of places in a request.
  static let mostPlaces = 1_000

  /// A place, and an object that has the data at the moment.
  struct Place: Hashable, Sendable {
    var key: Int64
    var entity: Int
    var property: Int
    var place: ContentPlace
  }

  var replica: Int64
  var model: String
  /// The moment whose states the answer has.
  var moment: String
  /// About the greatest number of bytes in the answer.
  var size: Int
  var places: [Place]
}

/// The pieces that a replica has asked for, as many of them as a message takes.
struct ContentAnswer: Hashable, Sendable {
  var pieces: [ContentPiece]
}

/// How large messages are.
struct MessageSizes: Hashable, Sendable {
  /// About the greatest number of bytes in a message. A single object may have more, but for its data.
  var part = 1 << 20
  /// The largest data that is sent as a part of its object, in bytes.
  var inline = 1 << 16
}

extension StoredValue {
  /// The value as messages have it: large data by its digest.
  ///
  /// - Throws: ``StoreError`` if small data is in a file that cannot be read.
  func named(above limit: Int) throws -> StoredValue {
    switch self {
    case .blob(let bytes) where bytes.count > limit: .file(ExternalFile(naming: bytes))
    case .file(let file) where file.size > limit: .file(ExternalFile(file.digest, size: file.size, origin: nil))
    case .file(let file): if let origin = file.origin { .blob(try origin.bytes(of: file)) } else { self }
    default: self
    }
  }

  /// About the number of bytes in messages, those of contents included: a replica takes them with the part.
  var size: Int {
    switch self {
    case .text(let text): text.utf8.count + 2
    case .blob(let data): data.count + 4
    case .file(let file): file.size
    default: 8
    }
  }
}

extension ExternalFile {
  /// The name of a content.
  convenience init(naming bytes: [UInt8]) { self.init(ContentDigest(of: bytes), size: bytes.count, origin: nil) }
}

extension ChangeSet {
  /// The contents that have to be known to apply the changes. Former values are compared by their digests.
  var contents: Set<ExternalFile> {
    var contents: Set<ExternalFile> = []
    for object in objects { for case .file(let file) in object.values.lazy.map(\.value) { contents.insert(file) } }
    return contents
  }

  /// The same changes with other values, of which some are those before the save.
  func mapped(_ transform: (_ value: StoredValue, _ isFormer: Bool) throws -> StoredValue) rethrows -> ChangeSet {
    var copy = self
    for object in copy.objects.indices {
      for place in copy.objects[object].values.indices {
        let value = copy.objects[object].values[place]
        copy.objects[object].values[place].value = try transform(value.value, false)
        copy.objects[object].values[place].former = try transform(value.former, true)
      }
    }
    return copy
  }

  /// The same changes with the data of contents.
  ///
  /// - Parameter data: The bytes of a content, once for each; nil to leave its name.
  func filled(_ data: (ExternalFile) throws -> [UInt8]?) rethrows -> ChangeSet {
    var values: [ExternalFile: StoredValue] = [:]
    for content in contents { if let bytes = try data(content) { values[content] = .blob(bytes) } }
    if values.isEmpty { return self }
    return mapped { value, isFormer in
      if !isFormer, case .file(let content) = value, let data = values[content] { data } else { value }
    }
  }
}

// MARK: - Bytes

extension ByteWriter {
  mutating func content(_ content: ExternalFile) {
    text(content.digest.text)
    count(content.size)
  }

  mutating func place(_ place: ContentPlace) {
    content(place.content)
    count(place.offset)
  }

  mutating func piece(_ piece: ContentPiece) {
    place(ContentPlace(content: piece.content, offset: piece.offset))
    data(piece.bytes)
  }
}

extension ByteReader {
  mutating func content() throws(SyncError) -> ExternalFile {
    guard let digest = ContentDigest(try text()), let size = Int32(exactly: try number()) else { throw .damagedMessage }
    return ExternalFile(digest, size: Int(size), origin: nil)
  }

  mutating func contentPlace() throws(SyncError) -> ContentPlace {
    let content = try content()
    guard let offset = Int(exactly: try number()), offset <= content.size else { throw .damagedMessage }
    return ContentPlace(content: content, offset: offset)
  }

  mutating func piece() throws(SyncError) -> ContentPiece {
    let place = try contentPlace()
    let bytes = try data()
    guard place.offset + bytes.count <= place.content.size else { throw .damagedMessage }
    return ContentPiece(content: place.content, offset: place.offset, bytes: bytes)
  }
}

extension ContentRequest {
  func write(to writer: inout ByteWriter) {
    writer.signed(replica)
    writer.text(model)
    writer.text(moment)
    writer.count(size)
    writer.list(places) { writer, place in
      writer.signed(place.key)
      writer.count(place.entity)
      writer.count(place.property)
      writer.place(place.place)
    }
  }

  init(_ reader: inout ByteReader) throws(SyncError) {
    replica = try reader.signed()
    model = try reader.text()
    moment = try reader.text()
    size = Int(clamping: try reader.number())
    places = try reader.list { reader throws(SyncError) in
      Place(
        key: try reader.signed(), entity: try reader.index(), property: try reader.index(),
        place: try reader.contentPlace())
    }
  }
}

extension PackedSets {
  func write(to writer: inout ByteWriter) {
    writer.content(content)
    writer.signed(last)
    writer.number(id)
  }

  init(_ reader: inout ByteReader) throws(SyncError) {
    content = try reader.content()
    last = try reader.signed()
    id = try reader.number()
  }
}
