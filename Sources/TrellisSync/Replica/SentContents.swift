import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage

// MARK: - Contents that are sent

extension Replica {
  /// The contents that the change sets of the outbox, or of a recovery, lead to.
  var sentContents: ContentNotes { ContentNotes(container: plain, prefix: StoreNote.ofReplica + "content.") }

  /// Change sets as they are kept and sent: large data by its digest.
  ///
  /// - Returns: besides, the notes of data that is not kept yet.
  func keepingContents(of sets: [ChangeSet]) throws -> (sets: [ChangeSet], notes: [StoreNote]) {
    let kept = sentContents
    var known: Set<ExternalFile> = []
    var notes: [StoreNote] = []
    let named = try sets.map { set in
      try set.mapped { value, isFormer in
        let named = try value.named(above: sizes.inline)
        guard case .file(let content) = named, !isFormer, known.insert(content).inserted,
          let bytes = try value.data(), try !kept.has(content)
        else { return named }
        notes += kept.notes(of: content, bytes, size: sizes.part)
        return named
      }
    }
    return (named, notes)
  }

  /// The outbox as it is kept and sent: many change sets are a content.
  ///
  /// - Returns: besides, the notes of the content.
  func packed(_ outbox: Outbox) -> (Outbox, [StoreNote]) {
    // Without their data, which has notes of its own.
    let size = outbox.sets.reduce(0) { sum, set in sum + set.size - set.contents.reduce(0) { $0 + $1.size } }
    guard size > sizes.part / 2, let last = outbox.sets.last else { return (outbox, []) }
    var writer = ByteWriter()
    writer.list(outbox.sets) { $1.write(to: &$0) }
    guard writer.bytes.count > sizes.part else { return (outbox, []) }
    var packed = Outbox(like: outbox)
    let content = ExternalFile(naming: writer.bytes)
    packed.packed = PackedSets(content: content, last: last.sequence, id: last.id)
    return (packed, sentContents.notes(of: content, writer.bytes, size: sizes.part))
  }

  /// The change of notes by which an outbox has its contents, and others are gone. It may become a packed one.
  func keep(_ outbox: inout Outbox?) throws -> [StoreNote] {
    guard let given = outbox else { return try sentContents.removal() }
    let (packed, notes) = packed(given)
    outbox = packed
    var needed = given.sets.reduce(into: Set()) { $0.formUnion($1.contents) }
    if let content = packed.packed?.content { needed.insert(content) }
    return try notes + sentContents.removal(except: needed)
  }

  /// The change sets of an outbox.
  func sets(of outbox: Outbox) throws -> [ChangeSet] {
    guard let content = outbox.packed?.content else { return outbox.sets }
    guard let bytes = try sentContents.bytes(of: content) else { throw SyncError.damagedMessage }
    return try ChangeSet.list(bytes)
  }

  /// The change set with its data, for the program.
  func withContents(_ set: ChangeSet) throws -> ChangeSet {
    let kept = sentContents
    return try set.filled { content in try kept.bytes(of: content) }
  }

  /// What the server wants of contents that are kept.
  ///
  /// - Parameter size: About the greatest number of bytes of the pieces.
  func pieces(of wanted: [ContentPlace], atMost size: Int) throws -> [ContentPiece] {
    var pieces: [ContentPiece] = []
    var rest = size
    for place in wanted {
      var offset = place.offset
      while rest > 0, let bytes = try bytes(at: ContentPlace(content: place.content, offset: offset)), !bytes.isEmpty {
        pieces.append(ContentPiece(content: place.content, offset: offset, bytes: bytes))
        offset += bytes.count
        rest -= bytes.count
      }
    }
    return pieces
  }

  /// The contents that are sent with the change sets, because they are small enough. The server asks for others, of which it
  /// may have a part.
  func firstPieces(of outbox: Outbox, atMost size: Int) throws -> [ContentPiece] {
    var pieces: [ContentPiece] = []
    var rest = size
    for content in outbox.contents where content.size <= rest {
      pieces += try self.pieces(of: [ContentPlace(content: content, offset: 0)], atMost: content.size)
      rest -= content.size
    }
    return pieces
  }

  private func bytes(at place: ContentPlace) throws -> [UInt8]? {
    if place.offset >= place.content.size { return nil }
    if let piece = try sentContents.piece(place) { return piece }
    // The pieces of a former version of the program may have another size.
    return try sentContents.bytes(of: place.content).map { Array($0.dropFirst(place.offset).prefix(sizes.part)) }
  }
}

extension StoredValue {
  /// The bytes of data that is here.
  fileprivate func data() throws -> [UInt8]? {
    switch self {
    case .blob(let bytes): bytes
    case .file(let file): try file.origin?.bytes(of: file)
    default: nil
    }
  }
}
