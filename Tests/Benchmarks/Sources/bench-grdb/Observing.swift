import Dispatch
import GRDB
import Synchronization
import Workload

extension GRDBBench {
  /// Saves that concern none of many observations.
  func liveLists(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    var album = Album(name: "album")
    try pool.write { try album.insert($0) }
    let starts = Starts(observedLists), queue = DispatchQueue(label: "observations")
    let observations = (0..<observedLists).map { number in
      ValueObservation
        .tracking { try Track.filter(Track.Columns.genre == number).fetchAll($0) }
        .start(in: pool, scheduling: .async(onQueue: queue)) { _ in
        } onChange: { _ in
          starts.note(number)
        }
    }
    starts.wait()
    return {
      try withExtendedLifetime(observations) {
        for turn in 0..<savesBesideLists {
          try pool.write { try $0.execute(sql: "UPDATE album SET name=? WHERE pk=1", arguments: [String(turn)]) }
        }
      }
      return savesBesideLists
    }
  }

  /// One record each time.
  func freshContexts(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    var album = Album(name: "album")
    try pool.write { try album.insert($0) }
    return {
      try (0..<settings.items(.freshContexts)).reduce(0) { sum, _ in
        sum &+ (try pool.read { try Album.limit(1).fetchOne($0) }?.name.utf8.count ?? 0)
      }
    }
  }

  func readersAndWriter(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    try pool.write { db in
      for number in 0..<sharedTracks {
        var track = Track(title: "track \(number)", seconds: secondsOfASharedTrack, genre: 1)
        try track.insert(db)
      }
    }
    return {
      try readersBesideWriter {
        try await pool.read { try Track.fetchAll($0) }.reduce(0) { $0 &+ $1.seconds }
      } write: { turn in
        try await pool.write { db in
          var tracks = try Track.fetchAll(db)
          try tracks[turn % sharedTracks].updateChanges(db) { $0.seconds -= 1 }
          try tracks[(turn + 1) % sharedTracks].updateChanges(db) { $0.seconds += 1 }
        }
      }
    }
  }
}

/// Waits until all observations have started. A pool may tell the first value twice.
private final class Starts: Sendable {
  private let missing: Mutex<Set<Int>>
  private let end = DispatchSemaphore(value: 0)

  init(_ count: Int) { missing = Mutex(Set(0..<count)) }

  func note(_ number: Int) {
    let isLast = missing.withLock { $0.remove(number) != nil && $0.isEmpty }
    if isLast { end.signal() }
  }

  func wait() { end.wait() }
}
