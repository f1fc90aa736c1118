import Dispatch
import Foundation
import Testing
import TrellisModel
@testable import TrellisStorage
import TrellisTestSupport

@Suite("Connections are lent for a call") struct LeasingTests {
  private let home: TestFolder
  private let url: URL

  init() throws {
    home = try TestFolder()
    url = home.file("notes.db")
  }

  private static let description = ModelDescription(
    name: "Notes", entities: [EntityDescription("Note", attributes: [AttributeDescription("text", .string)])])

  private func open(idleSeconds: Double = 5, most: Int = 8) throws -> SQLiteStore {
    var options = OpenOptions(durability: .relaxed, busyTimeoutMilliseconds: 5_000, isReadOnly: false)
    options.idleSeconds = idleSeconds
    options.mostConnections = most
    return try SQLiteStore(url: url, model: try Model(Self.description), options: options)
  }

  private func fill(_ store: SQLiteStore, _ count: Int, textLength: Int = 10) throws {
    let note = try Model(Self.description).entities[0]
    let text = String(repeating: "x", count: textLength)
    let request = SaveRequest()
    let first = try store.reserveKeys(Int64(count)).lowerBound
    let records = (0..<count).map { TestRecord(note, key: first + Int64($0), ["text": .text("\(text)\($0)")]) }
    request.inserts = [.init(entity: 0, records: records)]
    try store.connect().save(request)
  }

  private static func scan(_ connection: any StoreConnection) throws -> Int {
    var count = 0
    try connection.fetch(StoreRequest(entity: 0)) { _ in count += 1 }
    return count
  }

  @Test(
    "a reader holds up a suspension, which says so, and which ends or is taken back afterwards",
    arguments: [true, false])
  func suspendedReader(isTakenBack: Bool) throws {
    let store = try open()
    try fill(store, 10)
    let (isReading, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let reading = started {
      var count = 0
      try store.connect().fetch(StoreRequest(entity: 0)) { _ in
        count += 1
        if count == 1 {
          isReading.signal()
          mayEnd.wait()
        }
      }
      return count
    }
    isReading.wait()
    let error = #expect(throws: StoreError.self) { try store.suspend(within: .milliseconds(20)) }
    #expect(error?.code == .timedOut)
    #expect(throws: StoreError.self) { try Self.scan(store.connect()) }
    if isTakenBack {
      store.resume()
      #expect(try Self.scan(store.connect()) == 10)
      mayEnd.signal()
      _ = try? reading.value()
    } else {
      mayEnd.signal()
      try store.suspend(within: .seconds(60))
      let error = #expect(throws: StoreError.self) { try reading.value() }
      #expect(error?.code == .suspended)
      store.resume()
    }
    #expect(try Self.scan(store.connect()) == 10)
    try fill(store, 1)
    store.close()
    #expect(store.pool.isReleased)
  }

  #if os(Linux)
    /// The descriptors of the file and of those beside it.
    private func descriptors() throws -> Int {
      let folder = "/proc/self/fd"
      return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"))?.hasPrefix(url.path) == true
      }
    }

    /// `TRELLIS_FIGURES=1` prints what it needs.
    @Test("a hundred contexts at once need a few descriptors, and when they rest two or three")
    func manyContexts() async throws {
      let store = try open(idleSeconds: 0.2)
      try fill(store, 30_000, textLength: 1_000)
      let figures: Int? = TestSettings.number("TRELLIS_FIGURES")
      func tell(_ moment: String) throws {
        if figures != nil { print("\(moment): \(try Self.residentKilobytes()) KB, \(try descriptors()) descriptors") }
      }
      try tell("before")
      let connections = (0..<100).map { _ in LeasingConnection(store) }
      nonisolated(unsafe) let shared = connections
      let counts = Locked<[Int]>([])
      let open = Locked(0)
      DispatchQueue.concurrentPerform(iterations: 100) { number in
        let count = try? Self.scan(shared[number])
        counts.withLock { $0.append(count ?? -1) }
        open.withLock { $0 = max($0, store.pool.count) }
      }
      #expect(counts.withLock { $0 } == Array(repeating: 30_000, count: 100))
      #expect(open.withLock { $0 } <= 8)
      #expect(try descriptors() <= 20)
      try tell("while a hundred contexts are held")
      for _ in 0..<500 where store.pool.count > 1 { try await Task.sleep(for: .milliseconds(20)) }
      #expect(store.pool.count == 1)
      #expect(try Self.scan(connections[0]) == 30_000)
      try tell("at rest")
    }

    private static func residentKilobytes() throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
      return line.flatMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } } ?? 0
    }
  #endif

  @Test("contexts that are not asked hold no connection")
  func resting() throws {
    let store = try open()
    try fill(store, 10)
    let connections = try (0..<50).map { _ in try store.connect() }
    for connection in connections { #expect(try Self.scan(connection) == 10) }
    #expect(store.pool.count == 1)
  }

  @Test("a call inside a call of the same context uses its connection, and is refused as ever while that one reads")
  func nested() throws {
    let store = try open(most: 1)
    try fill(store, 3)
    let connection = try store.connect()
    try connection.pin()
    #expect(try Self.scan(connection) == 3)
    let error = try #require(throws: StoreError.self) {
      try connection.fetch(StoreRequest(entity: 0)) { _ in _ = try Self.scan(connection) }
    }
    #expect(error.code == .internalError)
    connection.unpin()
    #expect(try Self.scan(connection) == 3)
    #expect(store.pool.count == 1)
  }

  @Test("a thread that holds a connection gets another beyond the bound, which goes when it is returned")
  func beyondTheBound() throws {
    let store = try open(most: 2)
    try fill(store, 3)
    let connections = try (0..<6).map { _ in try store.connect() }
    let time = try ContinuousClock().measure {
      for connection in connections { try connection.pin() }
      for connection in connections { #expect(try Self.scan(connection) == 3) }
    }
    #expect(store.pool.count == 6)
    #expect(time < .seconds(4))
    for connection in connections { connection.unpin() }
    #expect(store.pool.count <= 2)
  }

  @Test("those who wait come in the order in which they came")
  func order() throws {
    let store = try open(most: 1)
    try fill(store, 1)
    let holder = try store.connect()
    try holder.pin()
    let turns = Locked<[Int]>([])
    let group = DispatchGroup()
    for number in 0..<5 {
      group.enter()
      let waiting = store.pool.waitingCount
      Thread.detachNewThread {
        if let connection = try? store.connect(), (try? connection.pin()) != nil {
          turns.withLock { $0.append(number) }
          connection.unpin()
        }
        group.leave()
      }
      while store.pool.waitingCount == waiting { Thread.sleep(forTimeInterval: 0.001) }
    }
    holder.unpin()
    group.wait()
    #expect(turns.withLock { $0 } == [0, 1, 2, 3, 4])
  }

  @Test("those who wait while the store is closed are told so")
  func closedMeanwhile() throws {
    let store = try open(most: 1)
    try fill(store, 1)
    let holder = try store.connect()
    try holder.pin()
    let codes = Locked<[String]>([])
    let group = DispatchGroup()
    for _ in 0..<3 {
      group.enter()
      Thread.detachNewThread {
        do {
          try store.connect().pin()
        } catch {
          codes.withLock { $0.append((error as? StoreError)?.code.rawValue ?? "\(error)") }
        }
        group.leave()
      }
    }
    while store.pool.waitingCount < 3 { Thread.sleep(forTimeInterval: 0.001) }
    store.close()
    group.wait()
    #expect(codes.withLock { $0 } == ["closed", "closed", "closed"])
    #expect(try Self.scan(holder) == 1)
    holder.unpin()
    #expect(throws: StoreError.self) { try Self.scan(holder) }
    #expect(!holder.hasExternalChanges())
    #expect(store.pool.count == 0)
  }

  @Test("externalChanges' writes are noticed by contexts that hold no connection, one's own are not")
  func externalChanges() throws {
    let store = try open()
    let other = try open()
    let (first, second) = (try store.connect(), try store.connect())
    let keys = try store.reserveKeys(100).lowerBound
    let note = try Model(Self.description).entities[0]
    func save(_ number: Int64, to store: SQLiteStore) throws {
      let request = SaveRequest()
      request.inserts = [.init(entity: 0, records: [TestRecord(note, key: keys + number, ["text": .text("a")])])]
      try store.connect().save(request)
    }
    try save(0, to: store)
    _ = first.hasExternalChanges()
    for round in 1...20 as ClosedRange<Int64> {
      try save(2 * round, to: store)
      #expect(!first.hasExternalChanges() && !second.hasExternalChanges())
      try save(2 * round + 1, to: other)
      #expect(second.hasExternalChanges())
      #expect(!first.hasExternalChanges())
    }
  }

  @Test("many threads with many contexts read and write, and nobody is left waiting")
  func crowd() throws {
    let store = try open(idleSeconds: 0.01, most: 3)
    try fill(store, 10)
    let failures = Locked<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 24) { number in
      do {
        let connection = try store.connect()
        for round in 0..<20 {
          if (number + round) % 3 == 0 { try fill(store, 1) }
          try connection.pin()
          let inside = try Self.scan(connection)
          let other = try store.connect()
          let later = try Self.scan(other)
          if later < inside { failures.withLock { $0.append("\(later) < \(inside)") } }
          connection.unpin()
        }
      } catch { failures.withLock { $0.append("\(error)") } }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(store.pool.count <= 3)
  }
}
