import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisSync

@Suite("Messages of exchanges") struct MessageTests {
  @Test("Each message is the same after it was written and read") func roundTrip() throws {
    var random = SeededGenerator(seed: TestSettings.seed())
    for _ in 0..<500 {
      let message = random.message()
      #expect(try SyncMessage(message.bytes) == message)
    }
  }

  /// `TRELLIS_SYNC_MUTATIONS` sets the number of messages.
  @Test("Changed bytes are refused, or are another message") func mutations() throws {
    let seed = TestSettings.seed()
    var random = SeededGenerator(seed: seed)
    var refused = 0
    let count = TestSettings.number("TRELLIS_SYNC_MUTATIONS", or: 20_000)
    for number in 0..<count {
      let bytes = random.mutated(random.message().bytes)
      do throws(SyncError) {
        let message = try SyncMessage(bytes)
        #expect(message.bytes == bytes, "seed \(seed), message \(number)")
      } catch {
        refused += 1
        #expect([.damagedMessage, .newerMessage].contains(error.code))
      }
    }
    print("sync: \(refused) of \(count) changed messages refused")
    #expect(refused > 0)
  }

  @Test("A server answers any bytes, and its objects obey the model afterwards") func server() throws {
    let seed = TestSettings.seed()
    var random = SeededGenerator(seed: seed)
    let store = try SyncStore(SyncModels.model(SyncModels.lists))
    try store.save { context in
      let list = try context.insert("List", ["name": .text("a")])
      try context.insert("Item", ["text": .text("i")]).set("list", list)
    }
    let server = try store.server()
    let model = store.container.model.checksum
    for identity in ["a", "b"] { _ = try server.register(RegisterRequest(identity: identity, model: model)) }
    for number in 0..<TestSettings.number("TRELLIS_SYNC_HOSTILE", or: 400) {
      var message = random.message()
      switch message {
      case .push(var request):
        request.model = model
        request.replica = 2
        let last = try ServerRecord(
          try #require(try store.container.notes(beginningWith: "server.replica.2.")?["server.replica.2."])
        ).last
        for place in request.sets.indices {
          request.sets[place].sequence = last + Int64(place) + 1
          request.sets[place].base = random.below(4) == 0 ? "x" : try store.container.historyToken().description
        }
        message = .push(request)
      case .pull(var request):
        request.model = model
        request.replica = 2
        if random.below(2) == 0 { request.since = "" }
        if random.below(4) > 0 {
          request.moment = random.below(2) == 0 ? "" : try store.container.historyToken().description
        }
        message = .pull(request)
      case .fetch(var request):
        request.model = model
        request.replica = 2
        request.moment = try store.container.historyToken().description
        message = .fetch(request)
      default: break
      }
      let bytes = random.below(2) == 0 ? random.mutated(message.bytes) : message.bytes
      _ = try SyncMessage(server.answer(to: bytes))
      if number % 50 == 0 { #expect(try store.findings().isEmpty, "seed \(seed), message \(number)") }
    }
    #expect(try store.findings().isEmpty)
  }
}

extension SeededGenerator {
  mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<(1 + below(3)) {
      if bytes.isEmpty { break }
      let place = below(bytes.count)
      switch below(5) {
      case 0: bytes.remove(at: place)
      case 1: bytes.insert(UInt8(below(256)), at: place)
      case 2: bytes.removeLast(below(min(8, bytes.count)))
      case 3: bytes[place] ^= 1 << UInt8(below(8))
      default: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF][below(5)]
      }
    }
    return bytes
  }

  private mutating func key() -> Int64 {
    switch below(4) {
    case 0: Int64(below(6))
    case 1: 2 << 43 + Int64(below(6))
    case 2: 1 << 43 + Int64(below(6))
    default: Int64.random(in: .min ... .max, using: &self) >> Int64(below(64))
    }
  }

  private mutating func text() -> String { ["", "a", "한글", "text \(below(100))"][below(4)] }

  private mutating func bytes() -> [UInt8] { (0..<below(9)).map { _ in UInt8.random(in: 0...255, using: &self) } }

  private mutating func content() -> ExternalFile {
    ExternalFile(ContentDigest(of: bytes()), size: below(2) == 0 ? 8 + below(90) : Int(Int32.max), origin: nil)
  }

  private mutating func contentPlace() -> ContentPlace { ContentPlace(content: content(), offset: below(9)) }

  private mutating func piece() -> ContentPiece { ContentPiece(content: content(), offset: 0, bytes: bytes()) }

  private mutating func value() -> StoredValue {
    switch below(7) {
    case 0: .null
    case 1: .integer(key())
    case 2: .real(Double(below(1_000)) / 7)
    case 3: .blob(bytes())
    case 4: .file(content())
    default: .text(text())
    }
  }

  private mutating func list<Element>(_ most: Int, _ element: (inout SeededGenerator) -> Element) -> [Element] {
    var list: [Element] = []
    for _ in 0..<below(most + 1) { list.append(element(&self)) }
    return list
  }

  private mutating func place() -> AnswerPlace { AnswerPlace(group: below(9), key: key(), order: next()) }

  private mutating func clocks() -> ClockDifference {
    var clocks = ClockDifference()
    for _ in 0..<below(3) {
      clocks.isAtLeast(key())
      clocks.isAtMost(key())
    }
    return clocks
  }

  private mutating func order() -> ChangeSet.OrderChange {
    ChangeSet.OrderChange(entity: below(5), property: below(7), owner: key(), members: list(4) { $0.key() })
  }

  private mutating func set() -> ChangeSet {
    var set = ChangeSet(
      sequence: key(), id: next(), base: text(), time: key(), author: below(2) == 0 ? nil : text())
    set.objects = list(4) { random in
      ChangeSet.ObjectChange(
        key: random.key(), entity: random.below(5),
        kind: ChangeSet.ObjectChange.Kind.allCases[random.below(3)],
        values: random.list(4) { random in
          .init(property: random.below(6), value: random.value(), former: random.value())
        })
    }
    set.pairs = list(3) { random in
      ChangeSet.PairChange(
        entity: random.below(5), property: random.below(6), owner: random.key(), member: random.key(),
        isAdded: random.below(2) == 0)
    }
    set.orders = list(2) { $0.order() }
    return set
  }

  fileprivate mutating func message() -> SyncMessage {
    switch below(9) {
    case 0: return .register(RegisterRequest(identity: text(), model: text(), text: text()))
    case 1: return .registered(RegisterAnswer(identity: text(), number: key(), now: key()))
    case 2:
      return .push(
        PushRequest(
          replica: key(), model: text(), now: key(), clocks: clocks(), sets: list(3) { $0.set() },
          packed: below(3) == 0 ? PackedSets(content: content(), last: key(), id: next()) : nil,
          pieces: list(2) { $0.piece() }))
    case 3:
      return .pushed(
        PushAnswer(
          delay: key(),
          outcomes: list(3) { random in
            PushOutcome(
              sequence: random.key(), id: random.next(), verdict: PushOutcome.Verdict.allCases[random.below(3)],
              losses: random.list(2) { random in
                .init(key: random.key(), property: random.below(2) == 0 ? nil : random.text(), reason: .overruled)
              }, reason: random.below(2) == 0 ? nil : .deleted, failures: random.list(2) { $0.text() },
              unions: random.list(2) { .init(key: $0.key(), survivor: $0.key()) })
          }, wanted: list(2) { $0.contentPlace() }))
    case 4:
      return .pull(
        PullRequest(
          replica: key(), model: text(), since: text(), also: list(4) { $0.key() }, isWhole: below(2) == 0,
          moment: text(), place: place()))
    case 5:
      var answer = PullAnswer(
        question: .init(model: text(), since: text(), also: list(3) { $0.key() }, moment: text(), place: place()),
        token: text(), now: key(),
        isWhole: below(2) == 0, next: below(2) == 0 ? nil : place(), number: key(), sequence: key())
      answer.ranges = list(2) { .init(entity: $0.below(6), after: $0.key(), through: $0.key()) }
      answer.states = list(3) { random in
        ObjectState(
          key: random.key(), entity: random.below(5), isWhole: random.below(2) == 0,
          values: random.list(4) { .init(property: $0.below(6), value: $0.value()) },
          lists: random.list(2) { random in .init(property: random.below(6), members: random.list(4) { $0.key() }) })
      }
      answer.gone = list(3) { $0.key() }
      answer.orders = list(2) { $0.order() }
      return .pulled(answer)
    case 6:
      return .fetch(
        ContentRequest(
          replica: key(), model: text(), moment: text(), size: below(1_000),
          places: list(3) {
            .init(key: $0.key(), entity: $0.below(5), property: $0.below(6), place: $0.contentPlace())
          }))
    case 7: return .fetched(ContentAnswer(pieces: list(3) { $0.piece() }))
    default: return .refused(code: text(), message: text(), remedy: text())
    }
  }
}
