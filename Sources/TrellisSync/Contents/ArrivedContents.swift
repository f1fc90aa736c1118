import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage

/// The contents that were received, whole or in part. A note says how much of each is here.
struct ArrivedContents {
  private let notes: ContentNotes
  private let name: String
  private let former: [UInt8]?
  private var counts: [ExternalFile: Int] = [:]

  /// - Parameter prefix: The beginning of the names of all notes.
  init(_ prefix: String, in container: PersistentContainer) throws {
    notes = ContentNotes(container: container, prefix: prefix + "piece.")
    name = prefix + "counts"
    former = try container.notes(beginningWith: name)?[name]
    guard let former else { return }
    var reader = ByteReader(former)
    guard try reader.byte() == 1 else { throw SyncError.damagedMessage }
    for place in try reader.list({ reader throws(SyncError) in try reader.contentPlace() }) {
      counts[place.content] = place.offset
    }
    try reader.end()
  }

  var isEmpty: Bool { former == nil }

  /// The place from which on a content is missing.
  func place(in content: ExternalFile) -> ContentPlace {
    ContentPlace(content: content, offset: counts[content] ?? 0)
  }

  func isComplete(_ content: ExternalFile) -> Bool { counts[content] == content.size }

  /// Adds a piece that begins where the content is missing. Others are here already, or come later.
  ///
  /// - Returns: the note of the piece; nil if it was not added.
  mutating func add(_ piece: ContentPiece) -> StoreNote? {
    let count = counts[piece.content] ?? 0
    guard piece.offset == count, !piece.bytes.isEmpty, count + piece.bytes.count <= piece.content.size else {
      return nil
    }
    counts[piece.content] = count + piece.bytes.count
    return notes.note(piece)
  }

  /// The note of how much is here.
  var change: StoreNote {
    var writer = ByteWriter()
    writer.byte(1)
    writer.list(counts.sorted { $0.key.digest.text < $1.key.digest.text }) { writer, count in
      writer.place(ContentPlace(content: count.key, offset: count.value))
    }
    return StoreNote(name, former: former, value: writer.bytes)
  }

  /// - Returns: nil if the bytes do not have the digest.
  func bytes(of content: ExternalFile) throws -> [UInt8]? { try notes.bytes(of: content) }

  /// The removal of all that is here.
  func removal() throws -> [StoreNote] {
    guard let former else { return [] }
    return try [StoreNote(name, former: former, value: nil)] + notes.removal()
  }
}
