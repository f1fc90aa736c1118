import TrellisModel

/// Passes the conflicts that a store keeps on to those who follow them, each once.
final class ConflictFeed: Sendable {
  private struct Reader {
    let stream: AsyncStream<SyncConflict>.Continuation
    /// The random identities of the change sets that were passed on, as far as the store keeps their conflicts.
    var told: Set<UInt64> = []
  }

  private struct Content {
    var readers: [Int: Reader] = [:]
    var lastReader = 0
  }

  private let replica: Replica
  private let content = Locked(Content())

  init(_ replica: Replica) { self.replica = replica }

  /// The conflicts that the store keeps, and those that follow.
  func conflicts() throws -> AsyncStream<SyncConflict> {
    let (stream, continuation) = AsyncStream.makeStream(of: SyncConflict.self)
    let number = content.withLock { content in
      content.lastReader += 1
      content.readers[content.lastReader] = Reader(stream: continuation)
      return content.lastReader
    }
    continuation.onTermination = { [weak self] _ in
      self?.content.withLock { _ = $0.readers.removeValue(forKey: number) }
    }
    do { try tell() } catch {
      continuation.finish()
      throw error
    }
    return stream
  }

  /// Passes on what the store keeps and was not passed on.
  func tell() throws {
    guard content.withLock({ !$0.readers.isEmpty }) else { return }
    let stored = try replica.conflicts()
    let ids = Set(stored.map(\.changes.id))
    content.withLock { content in
      for number in content.readers.keys {
        for conflict in stored where content.readers[number]?.told.insert(conflict.changes.id).inserted == true {
          content.readers[number]?.stream.yield(conflict)
        }
        content.readers[number]?.told.formIntersection(ids)
      }
    }
  }

  /// Ends all streams.
  func finish() {
    let readers = content.withLock { content in
      defer { content.readers = [:] }
      return content.readers.values.map(\.stream)
    }
    for reader in readers { reader.finish() }
  }
}
