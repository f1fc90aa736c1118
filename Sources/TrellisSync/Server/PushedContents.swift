import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage

/// The contents that a replica has sent, until the change sets that lead to them are applied.
struct PushedContents {
  private let container: PersistentContainer
  private var arrived: ArrivedContents
  private let prefix: String

  init(_ container: PersistentContainer, of replica: Int64) throws {
    self.container = container
    prefix = "\(StoreNote.ofServer)contents.\(replica)."
    arrived = try ArrivedContents(prefix, in: container)
  }

  /// Keeps pieces.
  ///
  /// - Returns: the places from which on their contents are missing.
  mutating func keep(_ pieces: [ContentPiece]) throws -> [ContentPlace] {
    if pieces.isEmpty { return [] }
    let notes = pieces.compactMap { arrived.add($0) }
    if !notes.isEmpty {
      try save(notes + [arrived.change])
      arrived = try ArrivedContents(prefix, in: container)
    }
    return missing(of: Set(pieces.map(\.content)))
  }

  /// The places from which on contents are missing, as many as an answer takes.
  func missing(of contents: Set<ExternalFile>) -> [ContentPlace] {
    let rest = contents.filter { !arrived.isComplete($0) }.sorted { $0.reference < $1.reference }
    return rest.prefix(ContentRequest.mostPlaces).map(arrived.place)
  }

  /// A change set with its data.
  func completed(_ set: ChangeSet) throws -> ChangeSet {
    try set.filled { content in try bytes(of: content) }
  }

  /// The change sets that are a content.
  func sets(in content: ExternalFile) throws -> [ChangeSet] { try ChangeSet.list(bytes(of: content)) }

  private func bytes(of content: ExternalFile) throws -> [UInt8] {
    if let bytes = try arrived.bytes(of: content) { return bytes }
    // The same message, which may come twice, has been answered meanwhile.
    guard try ArrivedContents(prefix, in: container).isComplete(content) else { throw SyncError.busy }
    // The replica sends them again.
    try removeAll()
    throw SyncError.refused("data has another digest")
  }

  func removeAll() throws {
    let notes = try ArrivedContents(prefix, in: container).removal()
    if !notes.isEmpty { try save(notes) }
  }

  /// Writes notes, unless the same message, which may come twice, is writing them.
  private func save(_ notes: [StoreNote]) throws {
    let context = container.newContext()
    context.notes = notes
    do {
      try context.save()
    } catch is StoreNoteConflict {
    } catch let error as StoreError where error.code == .contended {
    }
  }
}
