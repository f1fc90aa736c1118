import Synchronization
import Workload

extension Floor {
  /// Saves that concern no list. Hand-written code knows the lists that a statement concerns, and does nothing for others.
  func liveLists(_ workload: Workload, _ store: FloorStore) -> Work {
    let connection = store.connection
    connection.execute("INSERT INTO album(version,name) VALUES(1,'album')")
    return {
      connection.with("UPDATE album SET name=?,version=version+1 WHERE pk=1") { statement in
        for turn in 0..<savesBesideLists {
          statement.bind(1, String(turn))
          statement.runOnOneRow()
        }
      }
      return savesBesideLists
    }
  }

  /// One row each time.
  func freshContexts(_ store: FloorStore) -> Work {
    let connection = store.connection
    connection.execute("INSERT INTO album(version,name) VALUES(1,'album')")
    return {
      connection.with("SELECT pk,name FROM album ORDER BY pk LIMIT 1") { rows in
        (0..<settings.items(.freshContexts)).reduce(0) { sum, _ in
          defer { rows.reset() }
          return rows.next() ? sum &+ rows.text(1).utf8.count : sum
        }
      }
    }
  }

  /// Readers take a connection each time; there are as many as read at the same time. The writer has one of its own.
  func readersAndWriter(_ store: FloorStore) -> Work {
    let file = store.file
    let writer = WritingTracks(store.connection, insertTrack)
    let pool = ConnectionPool { file.open() }
    return {
      defer {
        pool.close()
        writer.close()
      }
      return try readersBesideWriter {
        pool.withStatement { rows in
          var tracks: [Track] = []
          while rows.next() {
            tracks.append(Track(key: rows.key(0), title: rows.text(1), seconds: rows.integer(2), genre: 0, place: 0))
          }
          return tracks.reduce(0) { $0 &+ $1.seconds }
        }
      } write: {
        writer.move($0)
      }
    }
  }
}

/// The statement of the only writer.
///
/// It is used by one task, one save after the other.
private final class WritingTracks: @unchecked Sendable {
  private let connection: Connection
  private let statement: Statement

  init(_ connection: Connection, _ insertTrack: String) {
    self.connection = connection
    connection.with(insertTrack) { statement in
      for number in 0..<sharedTracks {
        statement.bind(1, "track \(number)")
        statement.bind(2, secondsOfASharedTrack)
        statement.bind(3, 1)
        statement.run()
      }
    }
    statement = connection.prepare("UPDATE track SET seconds=seconds+?,version=version+1 WHERE pk=?")
  }

  /// Moves a second from one track to the next.
  func move(_ turn: Int) {
    connection.transaction {
      for (key, change) in [(turn % sharedTracks, -1), ((turn + 1) % sharedTracks, 1)] {
        statement.bind(1, change)
        statement.bind(2, key + 1)
        statement.runOnOneRow()
      }
    }
  }

  func close() { statement.finalize() }
}

/// Connections for readers, each with its statement, made when none is free.
private final class ConnectionPool: Sendable {
  /// A connection is used by the one thread that has taken it out of the list.
  private struct Reader: @unchecked Sendable {
    let connection: Connection
    let statement: Statement
  }

  private let free = Mutex<[Reader]>([])
  private let open: @Sendable () -> Connection

  init(_ open: @escaping @Sendable () -> Connection) { self.open = open }

  func withStatement(_ body: (Statement) -> Int) -> Int {
    let reader = free.withLock { $0.popLast() } ?? makeReader()
    defer {
      reader.statement.reset()
      free.withLock { $0.append(reader) }
    }
    return body(reader.statement)
  }

  private func makeReader() -> Reader {
    let connection = open()
    let statement = connection.prepare("SELECT pk,title,seconds FROM track ORDER BY pk")
    return Reader(connection: connection, statement: statement)
  }

  func close() {
    free.withLock { readers in
      for reader in readers {
        reader.statement.finalize()
        reader.connection.close()
      }
      readers = []
    }
  }
}
