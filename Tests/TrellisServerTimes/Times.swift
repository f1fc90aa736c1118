import Foundation
import Trellis
import TrellisPostgres
import TrellisTestSupport

/// Times a store on a server beside the same work by hand: libpq with arrays and prepared statements, on the same tables
/// with the same constraints.
///
/// `swift run -c release TrellisServerTimes [objects] [rounds]`
@main struct ServerTimes {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
    let objects = arguments.first ?? 100_000
    let rounds = arguments.dropFirst().first ?? 3
    let cluster = try PostgresCluster.start(fsync: true)
    print("PostgreSQL \(try cluster.psql("SHOW server_version")), fsync on, \(objects) objects, \(rounds) rounds")
    let database = try cluster.makeDatabase()
    let url = cluster.url(database: database)
    try Inserting(url: url, count: objects).run(rounds)
    for delay in [0, 500] {
      let proxy = try DelayProxy(to: cluster.port, microseconds: delay)
      let delayed = cluster.url(database: database, port: proxy.port)
      print("\nround trips of \(delay == 0 ? "a socket" : "\(Double(2 * delay) / 1_000) ms")")
      try Reading(url: delayed, proxy).run()
      try await Requests(url: delayed).run(rounds)
    }
  }
}

/// The time that a closure takes, in milliseconds.
func milliseconds(_ body: () throws -> Void) rethrows -> Double {
  let time = try ContinuousClock().measure(body)
  return Double(time.components.seconds) * 1_000 + Double(time.components.attoseconds) / 1e15
}

extension [Double] {
  /// The value below which a share of all values lies.
  func quantile(_ share: Double) -> Double {
    let sorted = sorted()
    return sorted.isEmpty ? 0 : sorted[Swift.min(sorted.count - 1, Int(share * Double(sorted.count)))]
  }

  var median: Double { quantile(0.5) }
}

extension Double {
  var shown: String { String(format: "%.2f", self) }
}

// MARK: - Inserting

/// New reviews of one film, in one save.
private struct Inserting {
  let url: String
  let count: Int

  func run(_ rounds: Int) throws {
    var (ours, floor): ([Double], [Double]) = ([], [])
    for round in 0..<rounds {
      let schema = "insert\(round)"
      let container = try PersistentContainer(model: .films, store: .postgres(url, schema: schema))
      let setup = container.newContext()
      let film = Film(in: setup, title: "A film", year: 2_000, rating: 8)
      try setup.save()
      let key = film.objectID.key
      // The participants take turns in who is first.
      if round % 2 == 0 {
        ours.append(try insert(container))
        floor.append(try insertByHand(schema, film: key))
      } else {
        floor.append(try insertByHand(schema, film: key))
        ours.append(try insert(container))
      }
      container.close()
    }
    print(
      "insert \(count) objects with a reference, one transaction: Trellis \(ours.median.shown) ms, by hand "
        + "\(floor.median.shown) ms, ratio \((ours.median / floor.median).shown)")
  }

  private func insert(_ container: PersistentContainer) throws -> Double {
    try milliseconds {
      let context = container.newContext()
      guard let film = try context.first(Film.all) else { return }
      for number in 0..<count {
        let review = Review(in: context, text: "Review number \(number)", stars: Int16(number % 5), written: .now)
        review.film = film
      }
      try context.save()
    }
  }

  private func insertByHand(_ schema: String, film: Int64) throws -> Double {
    let connection = try FloorConnection(url)
    return try milliseconds {
      var keys = FloorArray(20)
      var texts = FloorArray(25)
      var stars = FloorArray(21)
      var times = FloorArray(1184)
      var films = FloorArray(20)
      for number in 0..<count {
        keys.append(Int64(1_000_000_000 + number))
        texts.append("Review number \(number)")
        stars.append(Int16(number % 5))
        times.append(Int64((Date.now.timeIntervalSince1970 * 1_000_000).rounded()) - 946_684_800_000_000)
        films.append(film)
      }
      try connection.run([
        ("BEGIN", [], []),
        (
          "INSERT INTO \"\(schema)\".\"Review\" (\"_id\", \"_version\", \"text\", \"stars\", \"written\", \"film\") "
            + "SELECT v.id, 1, v.a, v.b, v.c, v.d FROM unnest($1::bigint[], $2::text[], $3::smallint[], "
            + "$4::timestamptz[], $5::bigint[]) AS v(id, a, b, c, d)",
          [keys, texts, stars, times, films].map(\.parameter), [1016, 1009, 1005, 1185, 1016]
        ),
      ])
      try connection.run([("COMMIT", [], [])])
    }
  }
}

// MARK: - Reading one object

/// A film by its title with its directors, its cast and its reviews, as a page of a film needs them.
private struct Reading {
  let url: String
  let proxy: DelayProxy

  init(url: String, _ proxy: DelayProxy) {
    self.url = url
    self.proxy = proxy
  }

  func run() throws {
    let container = try PersistentContainer(model: .films, store: .postgres(url, schema: "read", connections: 4))
    defer { container.close() }
    let titles = try fill(container)
    var (ours, floor): ([Double], [Double]) = ([], [])
    for title in titles.prefix(20) { _ = try read(container, title) }
    let before = proxy.roundTrips
    for title in titles { ours.append(try read(container, title)) }
    let trips = Double(proxy.roundTrips - before) / Double(titles.count)
    let connection = try FloorConnection(url)
    for title in titles.prefix(20) { _ = try readByHand(connection, title) }
    for title in titles { floor.append(try readByHand(connection, title)) }
    print(
      "one film with three relationships: Trellis \(ours.median.shown) ms (\(trips.shown) round trips), by hand "
        + "\(floor.median.shown) ms in one round trip")
  }

  private func fill(_ container: PersistentContainer) throws -> [String] {
    let context = container.newContext()
    let present = try context.fetch(Film.all)
    if !present.isEmpty { return present.map(\.title) }
    let people = (0..<200).map { Person(in: context, name: "Person \($0)") }
    var films: [Film] = []
    for number in 0..<200 {
      let film = Film(
        in: context, title: "Film \(number)", year: Int32(1_950 + number % 70), rating: Double(number % 10))
      film.directors.append(people[number])
      for place in 0..<8 { film.cast.append(people[(number * 7 + place * 13) % 200]) }
      for place in 0..<5 {
        Review(in: context, text: "Review \(place)", stars: Int16(place), written: .now).film = film
      }
      films.append(film)
    }
    try context.save()
    return films.map(\.title)
  }

  private func read(_ container: PersistentContainer, _ title: String) throws -> Double {
    try milliseconds {
      let context = container.newContext()
      let request = Film.where { $0.title == title }.prefetching { $0.directors }.prefetching { $0.cast }.prefetching {
        $0.reviews
      }
      guard let film = try context.fetch(request).first else { return }
      let names = film.directors.map(\.name) + film.cast.map(\.name) + film.reviews.map(\.text)
      precondition(names.count == 14)
    }
  }

  private func readByHand(_ connection: FloorConnection, _ title: String) throws -> Double {
    try milliseconds {
      try connection.run(Self.statements.map { ($0, [Array(title.utf8)], [25]) })
      precondition(connection.value(0, 0).count == 8)
    }
  }

  private static let film = "(SELECT \"_id\" FROM read.\"Film\" WHERE \"title\" = $1)"
  private static let statements = [
    "SELECT f.* FROM read.\"Film\" AS f WHERE f.\"title\" = $1",
    "SELECT p.* FROM read.\"_Film_directors\" AS j JOIN read.\"Person\" AS p ON p.\"_id\" = j.\"directed\" "
      + "WHERE j.\"directors\" = \(film)",
    "SELECT p.* FROM read.\"_Film_cast\" AS j JOIN read.\"Person\" AS p ON p.\"_id\" = j.\"played\" "
      + "WHERE j.\"cast\" = \(film)",
    "SELECT r.* FROM read.\"Review\" AS r WHERE r.\"film\" = \(film)",
  ]
}

// MARK: - Requests

/// A hundred tasks that ask for the fifty newest films at once, over sixteen connections.
private struct Requests {
  let url: String

  private static let tasks = 100
  /// Enough for a second. A tenth of it measures how threads begin.
  private static let perTask = 200
  private static let connections = 16

  func run(_ rounds: Int) async throws {
    let container = try PersistentContainer(
      model: .films, store: .postgres(url, schema: "read", connections: Self.connections, timeout: 60))
    defer { container.close() }
    let floor = try FloorPool(url, Self.connections)
    _ = try await ours(container)
    _ = try await byHand(floor)
    var (mine, theirs): ([Run], [Run]) = ([], [])
    for _ in 0..<rounds {
      mine.append(try await ours(container))
      theirs.append(try await byHand(floor))
    }
    let (a, b) = (Run.median(mine), Run.median(theirs))
    print(
      "\(Self.tasks) tasks on \(Self.connections) connections: Trellis p50 \(a.median.shown) ms, p99 \(a.late.shown) ms, "
        + "\(Int(a.perSecond)) requests/s; by hand p50 \(b.median.shown) ms, p99 \(b.late.shown) ms, "
        + "\(Int(b.perSecond)) requests/s; ratio p99 \((a.late / b.late).shown), throughput "
        + "\((b.perSecond / a.perSecond).shown)")
  }

  struct Run {
    let median: Double
    let late: Double
    let perSecond: Double

    static func median(_ runs: [Run]) -> Run {
      Run(
        median: runs.map(\.median).median, late: runs.map(\.late).median, perSecond: runs.map(\.perSecond).median)
    }
  }

  private func ours(_ container: PersistentContainer) async throws -> Run {
    try await measure {
      let count = try await container.perform { context in
        try context.snapshots(of: Film.all.sorted { $0.year.descending }.limit(50)).count
      }
      precondition(count == 50)
    }
  }

  private func byHand(_ pool: FloorPool) async throws -> Run {
    try await measure {
      let count = try await pool.run { connection -> Int in
        let rows = try connection.run([
          ("SELECT * FROM read.\"Film\" ORDER BY \"year\" DESC, \"_id\" DESC LIMIT 50", [], [])
        ])
        // Every value is read.
        var bytes = 0
        for row in 0..<rows { for column in 0..<5 { bytes += connection.value(row, column).count } }
        return bytes > 0 ? rows : 0
      }
      precondition(count == 50)
    }
  }

  private func measure(_ request: @escaping @Sendable () async throws -> Void) async throws -> Run {
    let clock = ContinuousClock()
    let start = clock.now
    let times = try await withThrowingTaskGroup(of: [Double].self) { group in
      for _ in 0..<Self.tasks {
        group.addTask {
          var times: [Double] = []
          for _ in 0..<Self.perTask {
            let time = try await clock.measure { try await request() }
            times.append(Double(time.components.seconds) * 1_000 + Double(time.components.attoseconds) / 1e15)
          }
          return times
        }
      }
      var all: [Double] = []
      for try await times in group { all += times }
      return all
    }
    let whole = clock.now - start
    let seconds = Double(whole.components.seconds) + Double(whole.components.attoseconds) / 1e18
    return Run(median: times.median, late: times.quantile(0.99), perSecond: Double(times.count) / seconds)
  }
}

/// Connections that a task waits for in a queue of threads, as by hand.
private final class FloorPool: Sendable {
  private let connections: [FloorConnection]
  private let queues: [DispatchQueue]
  private let next = NSLockedCounter()

  init(_ url: String, _ count: Int) throws {
    connections = try (0..<count).map { _ in try FloorConnection(url) }
    queues = (0..<count).map { DispatchQueue(label: "floor.\($0)") }
  }

  func run<Result: Sendable>(_ body: @escaping @Sendable (FloorConnection) throws -> Result) async throws -> Result {
    let number = next.increment() % connections.count
    let connection = connections[number]
    return try await withCheckedThrowingContinuation { continuation in
      queues[number].async { continuation.resume(with: Swift.Result { try body(connection) }) }
    }
  }
}

private final class NSLockedCounter: @unchecked Sendable {  // a lock guards the only field
  private let lock = NSLock()
  private var value = 0

  func increment() -> Int {
    lock.withLock {
      value += 1
      return value
    }
  }
}
