import Foundation
import Testing
import TrellisModel
import TrellisRuntime
import TrellisTestSupport

@testable import TrellisDynamic
@testable import TrellisStorage
@testable import TrellisSync

/// A way to a server that counts bytes, ends after some messages, and may change what it carries.
private final class MeasuredTransport: SyncTransport {
  struct Ended: Error {}

  struct Counts {
    var messages = 0
    var sent = 0
    var received = 0
    var largest = 0
    var fetches = 0
    var pushes = 0
  }

  private let server: SyncServer
  private let rest: Locked<Int>
  private let counted = Locked(Counts())
  let messageSize: Int
  private let change: @Sendable (SyncMessage) -> SyncMessage

  init(
    to server: SyncServer, messageSize: Int = 10_000, endsAfter count: Int = .max,
    change: @escaping @Sendable (SyncMessage) -> SyncMessage = { $0 }
  ) {
    self.server = server
    self.messageSize = messageSize
    rest = Locked(count)
    self.change = change
  }

  var counts: Counts { counted.withLock { $0 } }

  func answer(to message: [UInt8]) async throws -> [UInt8] {
    let isOver = rest.withLock { rest in
      rest -= 1
      return rest < 0
    }
    if isOver { throw Ended() }
    let message = change(try SyncMessage(message)).bytes
    let answer = change(try SyncMessage(server.answer(to: message))).bytes
    let request = try SyncMessage(message)
    counted.withLock { counts in
      counts.messages += 1
      counts.sent += message.count
      counts.received += answer.count
      counts.largest = max(counts.largest, message.count, answer.count)
      if case .fetch = request { counts.fetches += 1 }
      if case .push = request { counts.pushes += 1 }
    }
    return answer
  }
}

@Suite("Large data of replicas") struct ContentTests {
  private static let album = """
    {
      "model": "Album", "history": "values",
      "entities": {
        "Album": {
          "attributes": { "name": "string" },
          "relationships": {
            "pictures": { "destination": "Picture", "inverse": "album", "toMany": true, "deleteRule": "cascade" }
          }
        },
        "Picture": {
          "attributes": {
            "name": "string", "note": "string?", "thumb": "data?",
            "content": { "type": "data?", "externalStorage": true }
          },
          "unique": ["name"],
          "relationships": { "album": { "destination": "Album", "inverse": "pictures", "optional": true } }
        }
      }
    }
    """

  private static func bytes(_ count: Int, _ seed: UInt64) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
      let word = random.next()
      for place in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * UInt64(place)))) }
    }
    return Array(bytes.prefix(count))
  }

  /// A server and two replicas that exchange in small messages.
  private final class Scene {
    let office: SyncStore
    let phone: SyncStore
    let tablet: SyncStore
    let server: SyncServer
    let sizes: MessageSizes

    init(_ kind: StoreKind = .sqlite, part: Int = 10_000, inline: Int = 1_000) throws {
      let model = SyncModels.model(ContentTests.album)
      (office, phone, tablet) = (try SyncStore(model, kind), try SyncStore(model), try SyncStore(model))
      sizes = MessageSizes(part: part, inline: inline)
      server = try office.server(partSize: part, inline: inline)
    }

    func replica(_ store: SyncStore) throws -> Replica { try store.replica(skew: 0, sizes: sizes) }

    @discardableResult func exchange(
      _ store: SyncStore, messageSize: Int = 10_000, endsAfter count: Int = .max,
      change: @escaping @Sendable (SyncMessage) -> SyncMessage = { $0 }
    ) async throws -> (report: ExchangeReport?, counts: MeasuredTransport.Counts) {
      let transport = MeasuredTransport(to: server, messageSize: messageSize, endsAfter: count, change: change)
      do {
        return (try await replica(store).exchange(with: transport), transport.counts)
      } catch is MeasuredTransport.Ended {
        return (nil, transport.counts)
      }
    }

    /// Sends the changes of a store until a server has answered one, and loses the answer.
    func pushLosingAnswer(_ store: SyncStore) throws {
      let replica = try replica(store)
      var last: PushAnswer?
      while let request = try replica.nextPush(after: last) {
        let answer = try server.push(request)
        if !answer.outcomes.isEmpty { return }
        last = answer
      }
    }

    /// The tablet, which has registered, and its first request for data.
    func firstFetch(from server: SyncServer) throws -> (replica: Replica, request: ContentRequest) {
      let replica = try replica(tablet)
      try replica.receive(try server.register(try #require(try replica.registration())))
      let answer = try server.pull(try #require(try replica.nextPull()))
      return (replica, try #require(try replica.nextFetch(for: answer)))
    }

    func expectEqual(_ comment: Comment? = nil) throws {
      let picture = try office.picture()
      for store in [phone, tablet] { #expect(try store.picture().differences(from: picture) == [], comment) }
      for store in [office, phone, tablet] {
        #expect(try store.findings() == [], comment)
        for prefix in ["replica.content.", "replica.arrived.", "server.contents."] {
          #expect(try store.container.notes(beginningWith: prefix)?.keys.sorted() == [], comment)
        }
      }
    }

    func insert(_ store: SyncStore, _ names: String..., bytes: [UInt8]) throws {
      try store.save { context in
        for name in names {
          _ = try context.insert("Picture", ["name": .text(name), "content": .blob(bytes), "thumb": .blob(bytes)])
        }
      }
    }
  }

  @Test("Data crosses in messages of bounded size, once, on every kind of store", arguments: StoreKind.withHistory)
  func crosses(_ kind: StoreKind) async throws {
    let scene = try Scene(kind)
    let bytes = Self.bytes(75_000, 1)
    try scene.insert(scene.phone, "summit", "summit again", bytes: bytes)
    let up = try await scene.exchange(scene.phone).counts
    #expect(up.largest < 13_000)
    // Four values have the same data.
    #expect(up.sent > 75_000 && up.sent < 85_000)
    // What comes back is here already.
    #expect(up.fetches == 0 && up.received < 5_000)
    let down = try await scene.exchange(scene.tablet).counts
    #expect(down.largest < 13_000)
    // Each object comes in a part of its own, with its data.
    #expect(down.received > 150_000 && down.received < 160_000)
    try scene.expectEqual()
  }

  @Test("An exchange that ends at any message goes on where it ended, and sends nothing twice")
  func resumes() async throws {
    let scene = try Scene()
    let bytes = Self.bytes(45_000, 2)
    try scene.insert(scene.phone, "summit", bytes: bytes)
    var (sent, received) = (0, 0)
    for _ in 0..<100 {
      try scene.phone.restart()
      let (report, counts) = try await scene.exchange(scene.phone, endsAfter: 3)
      sent += counts.sent
      if report != nil { break }
    }
    for _ in 0..<100 {
      try scene.tablet.restart()
      let (report, counts) = try await scene.exchange(scene.tablet, endsAfter: 2)
      received += counts.received
      if report != nil { break }
    }
    #expect(sent > 45_000 && sent < 60_000)
    #expect(received > 45_000 && received < 60_000)
    try scene.expectEqual()
  }

  @Test("A push whose answer is lost sends large data once") func lostAnswer() async throws {
    let scene = try Scene()
    for store in [scene.phone, scene.tablet] { try await scene.exchange(store) }
    try scene.insert(scene.phone, "summit", bytes: Self.bytes(45_000, 17))
    try scene.pushLosingAnswer(scene.phone)
    #expect(try scene.office.texts("Picture") == ["summit"])
    #expect(try await scene.exchange(scene.phone).counts.sent < 2_000)
    try await scene.exchange(scene.tablet)
    try scene.expectEqual()
  }

  @Test("A push of many objects whose answer is lost sends them once") func lostAnswerToMany() async throws {
    let scene = try Scene()
    for store in [scene.phone, scene.tablet] { try await scene.exchange(store) }
    try scene.phone.save { context in
      for number in 0..<500 { _ = try context.insert("Picture", ["name": .text("picture \(number)")]) }
    }
    try scene.insert(scene.phone, "summit", bytes: Self.bytes(45_000, 18))
    try scene.pushLosingAnswer(scene.phone)
    #expect(try scene.office.texts("Picture").count == 500)
    let counts = try await scene.exchange(scene.phone).counts
    #expect(counts.sent > 45_000 && counts.sent < 50_000)
    try await scene.exchange(scene.tablet)
    try scene.expectEqual()
  }

  @Test("Data that fits into a message takes no message of its own") func fits() async throws {
    let scene = try Scene()
    for store in [scene.phone, scene.tablet] { try await scene.exchange(store) }
    for number in 0..<5 {
      try scene.insert(scene.phone, "summit \(number)", bytes: Self.bytes(6_000, UInt64(20 + number)))
    }
    // A save with its data is a push, as two of them are too large for one.
    #expect(try await scene.exchange(scene.phone).counts.pushes == 5)
    #expect(try await scene.exchange(scene.tablet).counts.fetches == 5)
    try scene.insert(scene.tablet, "valley", bytes: Self.bytes(90_000, 30))
    // A transport with large messages needs no second one.
    #expect(try await scene.exchange(scene.tablet, messageSize: 100_000).counts.pushes == 1)
    #expect(try await scene.exchange(scene.phone, messageSize: 100_000).counts.fetches == 1)
    try scene.expectEqual()
  }

  @Test("Changes of other properties, whole answers and equal data send no data") func unchanged() async throws {
    let scene = try Scene()
    try scene.insert(scene.phone, "summit", bytes: Self.bytes(30_000, 3))
    for store in [scene.phone, scene.tablet] { try await scene.exchange(store) }
    try scene.tablet.edit("Picture") { try $0.set("note", .text("from the top")) }
    var counts = try await scene.exchange(scene.tablet).counts
    #expect(counts.sent < 2_000 && counts.received < 2_000)
    // The next answer is whole.
    try scene.office.edit("Picture") { try $0.set("note", .text("of the office")) }
    try scene.office.container.deleteHistory(before: scene.office.container.historyToken())
    for store in [scene.phone, scene.tablet] {
      counts = try await scene.exchange(store).counts
      #expect(counts.fetches == 0 && counts.received < 2_000)
    }
    try scene.expectEqual()
  }

  @Test("Data changes on both sides, and goes") func changes() async throws {
    let scene = try Scene()
    try scene.insert(scene.phone, "summit", "valley", bytes: Self.bytes(30_000, 4))
    for store in [scene.phone, scene.tablet] { try await scene.exchange(store) }
    try scene.phone.edit("Picture", "summit") { try $0.set("content", .blob(Self.bytes(20_000, 5))) }
    try scene.tablet.edit("Picture", "summit") { try $0.set("content", .blob(Self.bytes(25_000, 6))) }
    try scene.tablet.edit("Picture", "valley") { try $0.set("content", .null) }
    for store in [scene.phone, scene.tablet, scene.phone] { try await scene.exchange(store) }
    try scene.expectEqual()
    let content = try scene.office.container.newContext().objects("Picture").map { try $0.value("content") }
    #expect(content.contains { $0.isSame(as: .blob(Self.bytes(25_000, 6))) } && content.contains(.null))
    try scene.office.save { context in for object in try context.objects("Picture") { try context.delete(object) } }
    for store in [scene.phone, scene.tablet] { try await scene.exchange(store) }
    try scene.expectEqual()
  }

  @Test("What is refused comes back with its data") func refused() async throws {
    let scene = try Scene()
    let bytes = Self.bytes(30_000, 7)
    try scene.insert(scene.phone, "summit", bytes: Self.bytes(2_000, 8))
    for store in [scene.phone, scene.tablet] { try await scene.exchange(store) }
    try scene.office.save { context in for object in try context.objects("Picture") { try context.delete(object) } }
    try scene.phone.edit("Picture") { try $0.set("content", .blob(bytes)) }
    let report = try #require(try await scene.exchange(scene.phone).report)
    #expect(report.conflicts.map(\.reason) == [.deleted])
    let kept = try scene.replica(scene.phone).conflicts()
    for conflict in report.conflicts + kept {
      #expect(conflict.changes.objects.flatMap(\.values).map(\.value) == [.blob(bytes)])
    }
    try await scene.exchange(scene.tablet)
    try scene.expectEqual()
  }

  @Test("A store with many objects joins in messages of bounded size, and goes on where it ended")
  func joins() async throws {
    let scene = try Scene()
    try scene.phone.save { context in
      for number in 0..<3_000 { _ = try context.insert("Picture", ["name": .text("picture \(number)")]) }
    }
    var (sent, largest) = (0, 0)
    for _ in 0..<1_000 {
      let (report, counts) = try await scene.exchange(scene.phone, endsAfter: 4)
      sent += counts.sent
      largest = max(largest, counts.largest)
      if report != nil { break }
    }
    #expect(largest < 15_000)
    #expect(sent < 250_000)
    try await scene.exchange(scene.tablet)
    try scene.expectEqual()
    #expect(try scene.office.texts("Picture").count == 3_000)
  }

  @Test("Data with another digest is refused by both sides, and sent anew") func damaged() async throws {
    let scene = try Scene()
    try scene.insert(scene.phone, "summit", bytes: Self.bytes(30_000, 9))
    await #expect(throws: SyncError.self) {
      try await scene.exchange(scene.phone) { message in
        guard case .push(var request) = message, !request.pieces.isEmpty else { return message }
        request.pieces[0].bytes[5] ^= 1
        return .push(request)
      }
    }
    #expect(try scene.office.texts("Picture") == [])
    try await scene.exchange(scene.phone)
    await #expect(throws: SyncError.self) {
      try await scene.exchange(scene.tablet) { message in
        guard case .fetched(var answer) = message, !answer.pieces.isEmpty else { return message }
        answer.pieces[0].bytes[5] ^= 1
        return .fetched(answer)
      }
    }
    #expect(try scene.tablet.texts("Picture") == [])
    try await scene.exchange(scene.tablet)
    try scene.expectEqual()
  }

  @Test("A message that comes twice does not find the data gone that its twin has used") func twins() async throws {
    let scene = try Scene()
    for store in [scene.phone, scene.tablet] { try await scene.exchange(store) }
    try scene.insert(scene.phone, "summit", bytes: Self.bytes(8_000, 19))
    let replica = try scene.replica(scene.phone)
    let request = try #require(try replica.nextPush())
    var contents = try PushedContents(scene.office.container, of: request.replica)
    #expect(try contents.keep(request.pieces) == [])
    let answer = try scene.server.push(request)
    #expect(answer.outcomes.map(\.verdict) == [.accepted])
    #expect(throws: SyncError.busy) { try contents.completed(request.sets[0]) }
    try replica.receive(answer)
    for store in [scene.phone, scene.tablet] { try await scene.exchange(store) }
    try scene.expectEqual()
  }

  @Test("A server gives data to those only who know its digest") func capability() async throws {
    let scene = try Scene()
    let bytes = Self.bytes(70_000, 10)
    try scene.insert(scene.phone, "summit", bytes: bytes)
    try await scene.exchange(scene.phone)
    var (_, request) = try scene.firstFetch(from: scene.server)
    // It is in a file at the server, and the rest of it is remembered.
    #expect(try scene.server.fetch(request).pieces.map(\.bytes) == [Array(bytes.prefix(10_000))])
    let other = ExternalFile(naming: Self.bytes(70_000, 11))
    request.places[0].place.content = other
    #expect(try scene.server.fetch(request).pieces.isEmpty)
    // What is remembered is known by its digest alone; what is read, by its place, too.
    request.places[0].place = ContentPlace(content: ExternalFile(naming: bytes), offset: 65_000)
    #expect(try scene.server.fetch(request).pieces.map(\.bytes.count) == [5_000])
    request.places[0].entity = 99
    request.places[0].place.content = ExternalFile(naming: bytes)
    #expect(try scene.server.fetch(request).pieces.isEmpty)
    request.replica = 77
    #expect(throws: SyncError.unknownReplica) { try scene.server.fetch(request) }
  }

  @Test("Data that a replica has begun to fetch is not kept in memory for ever") func forgets() async throws {
    let scene = try Scene()
    try scene.insert(scene.phone, "summit", bytes: Self.bytes(30_000, 40))
    try await scene.exchange(scene.phone)
    let time = Locked<Int64>(Date().microseconds)
    let server = try SyncServer(scene.office.container, policy: SyncPolicy(), sizes: scene.sizes) {
      time.withLock { $0 }
    }
    let (replica, request) = try scene.firstFetch(from: server)
    _ = try server.fetch(request)
    server.forgetOldContent()
    #expect(server.lastContent.withLock { $0?.bytes.count } == 30_000)
    time.withLock { $0 += FetchedContent.life + 1 }
    _ = server.answer(to: [])
    #expect(server.lastContent.withLock { $0 == nil })
    // Pieces that were not asked for are not kept.
    let other = Self.bytes(100, 41)
    try replica.receive(
      ContentAnswer(pieces: [.init(content: ExternalFile(naming: other), offset: 0, bytes: other)]), to: request)
    #expect(try scene.tablet.container.notes(beginningWith: "replica.arrived.") == [:])
  }

  @Test("What a recovery finds has its data") func recovered() async throws {
    let scene = try Scene()
    try scene.insert(scene.phone, "summit", "valley", bytes: Self.bytes(30_000, 12))
    for store in [scene.phone, scene.tablet] { try await scene.exchange(store) }
    try scene.phone.edit("Picture", "summit") { try $0.set("content", .blob(Self.bytes(20_000, 13))) }
    try scene.insert(scene.phone, "lake", bytes: Self.bytes(15_000, 14))
    try scene.phone.container.deleteHistory(before: scene.phone.container.historyToken())
    let counts = try await scene.exchange(scene.phone).counts
    // The data that both sides have is compared by its digest.
    #expect(counts.fetches == 0 && counts.sent < 45_000)
    try await scene.exchange(scene.tablet)
    try scene.expectEqual()
    #expect(try scene.office.texts("Picture") == ["lake", "summit", "valley"])
  }

  @Test("Data that nobody knows the side of comes back as a conflict, with its bytes") func unknownSide() async throws {
    let scene = try Scene()
    try scene.insert(scene.phone, "summit", bytes: Self.bytes(30_000, 15))
    for store in [scene.phone, scene.tablet] { try await scene.exchange(store) }
    let bytes = Self.bytes(20_000, 16)
    try scene.phone.edit("Picture") { try $0.set("content", .blob(bytes)) }
    try scene.office.edit("Picture") { try $0.set("note", .text("x")) }
    for store in [scene.phone, scene.office] {
      try store.container.deleteHistory(before: store.container.historyToken())
    }
    let report = try #require(try await scene.exchange(scene.phone).report)
    #expect(report.conflicts.isEmpty)
    let conflicts = try scene.replica(scene.phone).conflicts()
    #expect(conflicts.map(\.reason) == [.unknownHistory])
    #expect(conflicts[0].changes.objects.flatMap(\.values).contains { $0.value == .blob(bytes) })
    try await scene.exchange(scene.tablet)
    try scene.expectEqual()
  }
}
