import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage

/// Notes that keep contents in pieces.
struct ContentNotes {
  let container: PersistentContainer
  /// The beginning of the names. The content's reference follows, and the number of bytes before the piece.
  let prefix: String

  /// The number of bytes has ten digits, so that the names of pieces have their order.
  private func name(of piece: ContentPlace) -> String {
    let offset = String(piece.offset)
    return start(of: piece.content) + String(repeating: "0", count: max(0, 10 - offset.utf8.count)) + offset
  }

  private func start(of content: ExternalFile) -> String { prefix + content.reference + "." }

  /// The note of a new piece.
  func note(_ piece: ContentPiece) -> StoreNote {
    StoreNote(name(of: .init(content: piece.content, offset: piece.offset)), former: nil, value: piece.bytes)
  }

  /// The notes of a content that has none.
  ///
  /// - Parameter size: The number of bytes of each piece but the last one.
  func notes(of content: ExternalFile, _ bytes: [UInt8], size: Int) -> [StoreNote] {
    stride(from: 0, to: bytes.count, by: max(1, size)).map { offset in
      note(
        ContentPiece(
          content: content, offset: offset, bytes: Array(bytes[offset..<min(bytes.count, offset + max(1, size))])))
    }
  }

  func has(_ content: ExternalFile) throws -> Bool {
    try piece(ContentPlace(content: content, offset: 0)) != nil
  }

  /// The piece that begins at a place; nil if none does.
  func piece(_ place: ContentPlace) throws -> [UInt8]? {
    let name = name(of: place)
    return try container.notes(beginningWith: name)?[name]
  }

  /// The bytes of all pieces in their order; nil if they are not the content.
  ///
  /// - Complexity: linear in the size of the content.
  func bytes(of content: ExternalFile) throws -> [UInt8]? {
    let notes = try container.notes(beginningWith: start(of: content)) ?? [:]
    var bytes: [UInt8] = []
    bytes.reserveCapacity(min(content.size, notes.values.reduce(0) { $0 + $1.count }))
    for (_, piece) in notes.sorted(by: { $0.key < $1.key }) { bytes += piece }
    return bytes.withUnsafeBytes(content.holds) ? bytes : nil
  }

  /// The removal of the notes of all contents but some.
  func removal(except kept: Set<ExternalFile> = []) throws -> [StoreNote] {
    let kept = Set(kept.map(\.reference))
    return try (container.notes(beginningWith: prefix) ?? [:]).compactMap { name, bytes in
      let reference = String(name.dropFirst(prefix.count).prefix { $0 != "." })
      return kept.contains(reference) ? nil : StoreNote(name, former: bytes, value: nil)
    }
  }
}
