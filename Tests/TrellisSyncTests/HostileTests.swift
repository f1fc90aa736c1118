import Testing
import TrellisModel
import TrellisTestSupport

@_spi(Generated) @testable import Trellis
@testable import TrellisDynamic
@testable import TrellisSync

/// Messages that are almost those of a replica or a server.
@Suite("Peers that lie") struct HostileTests {
  /// `TRELLIS_SYNC_HOSTILE` sets the number of messages.
  private var count: Int { TestSettings.number("TRELLIS_SYNC_HOSTILE", or: 200) }

  @Test("A server refuses what no replica sends, and its objects obey the model", arguments: [0, 1, 2])
  func requests(_ place: Int) throws {
    let seed = TestSettings.seed() &+ UInt64(place)
    var random = SeededGenerator(seed: seed)
    let stage = try Stage(place, &random)
    var liar = Liar(stage.office.container.model, seed: random.next())
    let pool = try stage.requests(&random)
    for message in pool { liar.learn(message) }
    var verdicts: [String: Int] = [:]
    for number in 0..<count {
      // The store stays small, and its objects are those of the pool.
      let comment: Comment = "seed \(seed), message \(number)"
      var message = pool[random.below(pool.count)]
      if case .push(var request) = message {
        let last = try stage.lastSequence()
        liar.lie(about: &request)
        for place in request.sets.indices where random.below(20) > 0 {
          request.sets[place].sequence = last + Int64(place) + 1
        }
        message = .push(request)
      } else if case .pull(var request) = message {
        liar.lie(about: &request)
        message = .pull(request)
      } else if case .fetch(var request) = message {
        liar.lie(about: &request)
        message = .fetch(request)
      }
      let bytes = random.below(4) == 0 ? random.mutated(message.bytes) : message.bytes
      let before = try stage.office.container.historyToken()
      let isRefused: Bool
      switch try SyncMessage(stage.server.answer(to: bytes)) {
      case .refused(let code, _, _):
        verdicts[code, default: 0] += 1
        #expect(code != SyncError.Code.serverFailed.rawValue, comment)
        isRefused = true
      case .pushed(let answer):
        if !answer.wanted.isEmpty { verdicts["wanted", default: 0] += 1 }
        for outcome in answer.outcomes {
          verdicts[outcome.reason?.rawValue ?? "\(outcome.verdict)", default: 0] += 1
        }
        isRefused = answer.outcomes.allSatisfy { $0.verdict == .refused }
      case .fetched(let answer):
        verdicts[answer.pieces.isEmpty ? "no piece" : "fetched", default: 0] += 1
        isRefused = true
      default: isRefused = true
      }
      if isRefused, try stage.office.container.historyToken() != before {
        // A request of several change sets may be refused after some of them.
        if case .push(let request) = message, request.sets.count > 1 {} else { Issue.record(comment) }
      }
      if number % 40 == 39 {
        let findings = try stage.office.findings()
        #expect(findings == [], comment)
        if !findings.isEmpty { return }
      }
    }
    print("sync: hostile requests, model \(place): \(verdicts.sorted { $0.key < $1.key })")
  }

  @Test("A replica refuses what no server sends, and its objects obey the model", arguments: [0, 1, 2])
  func answers(_ place: Int) throws {
    let seed = TestSettings.seed() &+ UInt64(place)
    var random = SeededGenerator(seed: seed)
    let stage = try Stage(place, &random)
    var liar = Liar(stage.office.container.model, seed: random.next())
    let replica = try stage.phone.replica()
    var pulls: [PullAnswer] = []
    var outcomes: [PushOutcome] = []
    for _ in 0..<12 {
      try stage.change(stage.office, &random)
      try stage.change(stage.phone, &random)
      var last: PushAnswer?
      while let request = try replica.nextPush(after: last), case let answer = try stage.server.push(request) {
        outcomes += answer.outcomes
        if answer.wanted.isEmpty && random.below(3) == 0 { break }
        try replica.receive(answer)
        last = answer
      }
      guard let request = try replica.nextPull() else { continue }
      for since in [request.since, ""] {
        var request = request
        request.since = since
        pulls.append(try stage.server.pull(request))
      }
      if random.below(2) == 0 { _ = try stage.take(pulls[pulls.count - 2]) }
    }
    for answer in pulls { liar.learn(answer) }
    var results: [String: Int] = [:]
    for number in 0..<count {
      let comment: Comment = "seed \(seed), message \(number)"
      if random.below(6) == 0 { try stage.change(stage.phone, &random) }
      let before = try stage.phone.container.historyToken()
      do {
        if random.below(4) == 0 {
          let request = try replica.nextPush()
          let sets = try request.flatMap { _ in try replica.state().outbox }.map(replica.sets) ?? []
          var answer = PushAnswer(delay: liar.number(), outcomes: [])
          if let request, random.below(4) == 0 {
            answer.wanted = try stage.server.push(request).wanted
            liar.lie(about: &answer)
            if let pieces = try replica.nextPush(after: answer) { _ = try stage.server.push(pieces) }
          }
          for set in sets {
            var outcome = outcomes.randomElement(using: &random) ?? PushOutcome(sequence: 1, id: 1, verdict: .accepted)
            (outcome.sequence, outcome.id) = (set.sequence, set.id)
            liar.lie(about: &outcome)
            answer.outcomes.append(outcome)
          }
          try replica.receive(answer)
          results["pushed", default: 0] += 1
        } else if let request = try replica.nextPull(), var answer = pulls.randomElement(using: &random) {
          let state = try replica.state()
          answer.question = .init(
            model: request.model, since: request.since, also: request.also, known: request.known,
            moment: request.moment, place: request.place)
          if let download = state.record?.download, random.below(4) > 0 { answer.token = download.token }
          (answer.number, answer.sequence) = (request.replica, state.record?.sequence ?? 0)
          liar.lie(about: &answer)
          // The bytes are those of a message in any case.
          guard case .pulled(let read) = try SyncMessage(SyncMessage.pulled(answer).bytes) else { continue }
          var reception = try replica.receive(read)
          if reception == .incomplete, let request = try replica.nextFetch(for: read) {
            var answer = try stage.server.fetch(request)
            liar.lie(about: &answer)
            try replica.receive(answer, to: request)
            results["fetched", default: 0] += 1
            reception = try replica.receive(read)
          }
          results["\(reception)", default: 0] += 1
          if reception == .outdated || random.below(8) == 0 { try replica.giveUpDownload() }
        }
      } catch let error as SyncError {
        results[error.code.rawValue, default: 0] += 1
        #expect(try stage.phone.container.historyToken() == before, comment)
        if error.code == .copiedReplica {
          try replica.renew()
          if let request = try replica.registration() { try replica.receive(try stage.server.register(request)) }
        }
      }
      if number % 40 == 39 {
        let findings = try stage.phone.findings()
        #expect(findings == [], comment)
        if !findings.isEmpty { return }
      }
    }
    print("sync: hostile answers, model \(place): \(results.sorted { $0.key < $1.key })")
  }

  /// A server and a replica with some objects.
  private struct Stage {
    let model: ObjectModel
    let office: SyncStore
    let phone: SyncStore
    let server: SyncServer
    private let replica: Replica

    init(_ place: Int, _ random: inout SeededGenerator) throws {
      model = SyncModels.model([SyncModels.lists, SyncModels.shapes, SyncModels.boxes][place])
      (office, phone) = (try SyncStore(model), try SyncStore(model))
      server = try office.server(
        SyncPolicy([.latest, .sum, .server][place]), partSize: place == 1 ? 300 : 1 << 20, inline: 2 << place)
      replica = try phone.replica(skew: 0, sizes: MessageSizes(part: place == 1 ? 500 : 1 << 20, inline: 2 << place))
      for _ in 0..<30 { try change(office, &random) }
      if let request = try replica.registration() { try replica.receive(try server.register(request)) }
      try pull()
    }

    func change(_ store: SyncStore, _ random: inout SeededGenerator) throws {
      _ = try Scribe(store.container).save(&random)
    }

    func pull() throws {
      for _ in 0..<1_000 {
        guard let request = try replica.nextPull() else { return }
        let answer = try server.pull(request)
        if try take(answer) != .part { return }
      }
    }

    /// Takes an answer with its data.
    func take(_ answer: PullAnswer) throws -> Replica.Reception {
      while let request = try replica.nextFetch(for: answer) { try replica.receive(server.fetch(request), to: request) }
      return try replica.receive(answer)
    }

    /// Sends everything, and returns the requests.
    func push() throws -> [SyncMessage] {
      var messages: [SyncMessage] = []
      var last: PushAnswer?
      while let request = try replica.nextPush(after: last) {
        messages.append(.push(request))
        let answer = try server.push(request)
        try replica.receive(answer)
        last = answer
      }
      return messages
    }

    func lastSequence() throws -> Int64 {
      let name = ServerRecord.name(try #require(try replica.state().record).number)
      return try ServerRecord(try #require(try office.container.notes(beginningWith: name)?[name])).last
    }

    /// Requests of the replica, whose change sets have one and more saves.
    func requests(_ random: inout SeededGenerator) throws -> [SyncMessage] {
      var messages: [SyncMessage] = []
      for _ in 0..<40 {
        for _ in 0..<(1 + random.below(3)) { try change(phone, &random) }
        if random.below(3) == 0 { try change(office, &random) }
        messages += try push()
        if let request = try replica.nextPull() {
          if random.below(4) == 0 { messages.append(.pull(request)) }
          let answer = try server.pull(request)
          if let request = try replica.nextFetch(for: answer) { messages.append(.fetch(request)) }
          if random.below(2) == 0 { _ = try take(answer) }
        }
      }
      return messages
    }
  }
}

/// Changes valid messages so that they lie about keys, entities, values, times and counts.
private struct Liar {
  private let model: Model
  private var random: SeededGenerator
  private var keys: [Int64] = [0, -1, .max, .min, 1 << 43, 3 << 43, (2 << 43) - 1]
  private var values: [StoredValue] = [
    .null, .integer(.max), .integer(.min), .integer(-1), .real(.nan), .real(.infinity), .text(""), .text("\u{0}"),
    .blob([]),
    .text("99999999999999999999999999999999"), .file(ExternalFile(naming: [1, 2, 3])),
  ]
  private var contents = [ExternalFile(naming: [1, 2, 3]), ExternalFile(naming: [])]
  private var pieces = [ContentPiece(content: ExternalFile(naming: [1, 2, 3]), offset: 0, bytes: [1, 2, 3])]

  init(_ model: Model, seed: UInt64) {
    self.model = model
    random = SeededGenerator(seed: seed)
  }

  mutating func learn(_ message: SyncMessage) {
    switch message {
    case .push(let request):
      for set in request.sets {
        keys += set.keys
        values += set.objects.flatMap(\.values).map(\.value)
        contents += set.contents
      }
      pieces += request.pieces
    case .fetch(let request): contents += request.places.map(\.place.content)
    default: break
    }
  }

  private mutating func content() -> ExternalFile {
    let content = contents[random.below(contents.count)]
    if random.below(4) > 0 { return content }
    return ExternalFile(content.digest, size: [0, 1, content.size + 1, Int(Int32.max)][random.below(4)], origin: nil)
  }

  private mutating func contentPlace() -> ContentPlace {
    let content = content()
    return ContentPlace(content: content, offset: random.below(3) == 0 ? random.below(content.size + 1) : 0)
  }

  private mutating func piece() -> ContentPiece {
    var piece = pieces[random.below(pieces.count)]
    switch random.below(5) {
    case 0: piece.content = content()
    case 1: piece.offset = random.below(piece.content.size + 1)
    case 2: piece.bytes = piece.bytes.reversed()
    case 3: piece.bytes = []
    default: break
    }
    return piece
  }

  mutating func lie(about answer: inout PushAnswer) {
    for _ in 0..<random.below(3) { answer.wanted.append(contentPlace()) }
    if !answer.wanted.isEmpty, random.below(3) == 0 { answer.wanted.remove(at: random.below(answer.wanted.count)) }
  }

  mutating func lie(about answer: inout ContentAnswer) {
    pieces += answer.pieces
    for _ in 0..<random.below(3) { answer.pieces.append(piece()) }
    if !answer.pieces.isEmpty, random.below(3) == 0 { answer.pieces.shuffle(using: &random) }
  }

  mutating func lie(about request: inout ContentRequest) {
    switch random.below(6) {
    case 0: request.moment = ["", "x", "a:1:2:3"][random.below(3)]
    case 1 where random.below(4) == 0: request.replica = number()
    case 2: request.places.append(.init(key: key(), entity: entity(), property: property(), place: contentPlace()))
    default:
      guard !request.places.isEmpty else { return }
      let place = random.below(request.places.count)
      switch random.below(4) {
      case 0: request.places[place].key = key()
      case 1: request.places[place].entity = entity()
      case 2: request.places[place].property = property()
      default: request.places[place].place = contentPlace()
      }
    }
  }

  mutating func learn(_ answer: PullAnswer) {
    keys += answer.states.map(\.key)
    values += answer.states.flatMap(\.values).map(\.value)
  }

  mutating func number() -> Int64 {
    switch random.below(4) {
    case 0: [0, 1, -1, .max, .min][random.below(5)]
    case 1: Int64(random.below(10))
    default: Int64.random(in: .min ... .max, using: &random) >> Int64(random.below(64))
    }
  }

  private mutating func key() -> Int64 { random.below(20) == 0 ? number() : keys[random.below(keys.count)] }
  private mutating func value() -> StoredValue { values[random.below(values.count)] }
  private mutating func entity() -> Int { random.below(random.below(20) == 0 ? 1000 : model.entities.count) }
  private mutating func place() -> AnswerPlace { AnswerPlace(group: entity(), key: number()) }
  private mutating func property() -> Int { random.below(random.below(20) == 0 ? 1000 : 14) }

  mutating func lie(about request: inout PushRequest) {
    for _ in 0..<(1 + random.below(3)) {
      switch random.below(12) {
      case 0: request.now = number()
      case 1:
        request.clocks = ClockDifference()
        request.clocks.isAtLeast(number())
        request.clocks.isAtMost(number())
      case 2: if !request.sets.isEmpty { request.sets.append(request.sets[random.below(request.sets.count)]) }
      case 3 where random.below(8) == 0: request.replica = number()
      case 4: request.pieces.append(piece())
      case 5 where random.below(4) == 0:
        request.packed = PackedSets(content: content(), last: number(), id: UInt64(random.below(3)))
      default:
        guard !request.sets.isEmpty else { continue }
        lie(about: &request.sets[random.below(request.sets.count)])
      }
    }
  }

  mutating func lie(about request: inout PullRequest) {
    switch random.below(6) {
    case 4: request.place = place()
    case 5: request.moment = ["", "x", "a:1:2:3", request.since][random.below(4)]
    case 0: request.also += (0..<random.below(50)).map { _ in key() }
    case 1: request.since = ["", "x", "a:1:2:3", request.since + "0", ":::", request.since][random.below(6)]
    case 2 where random.below(4) == 0: request.replica = number()
    default: request.also.removeAll()
    }
  }

  private mutating func lie(about set: inout ChangeSet) {
    switch random.below(16) {
    case 0: set.time = number()
    case 1 where random.below(4) == 0: set.base = ["", "x", "a:1:2:3", set.base + "0"][random.below(4)]
    case 2: if !set.objects.isEmpty { set.objects.remove(at: random.below(set.objects.count)) }
    case 3: if let object = set.objects.randomElement(using: &random) { set.objects.append(object) }
    case 4:
      set.objects.append(
        .init(
          key: key(), entity: entity(), kind: .allCases[random.below(3)],
          values: [
            .init(property: property(), value: value(), former: value())
          ]))
    case 5:
      set.pairs.append(
        .init(entity: entity(), property: property(), owner: key(), member: key(), isAdded: random.below(3) > 0))
    case 6:
      set.orders.append(
        .init(entity: entity(), property: property(), owner: key(), members: (0..<random.below(6)).map { _ in key() }))
    case 7 where !set.pairs.isEmpty:
      let place = random.below(set.pairs.count)
      switch random.below(4) {
      case 0: set.pairs[place].owner = key()
      case 1: set.pairs[place].member = key()
      case 2: set.pairs[place].property = property()
      default: set.pairs[place].isAdded.toggle()
      }
    case 8 where !set.orders.isEmpty:
      let place = random.below(set.orders.count)
      switch random.below(3) {
      case 0: set.orders[place].members.append(key())
      case 1: set.orders[place].members += set.orders[place].members
      default: set.orders[place].owner = key()
      }
    default:
      guard !set.objects.isEmpty else { return }
      let place = random.below(set.objects.count)
      switch random.below(6) {
      case 0: set.objects[place].key = key()
      case 1: set.objects[place].entity = entity()
      case 2: set.objects[place].kind = .allCases[random.below(3)]
      case 3: set.objects[place].values.append(.init(property: property(), value: value(), former: value()))
      default:
        guard !set.objects[place].values.isEmpty else { return }
        let number = random.below(set.objects[place].values.count)
        switch random.below(4) {
        case 0: set.objects[place].values[number].property = property()
        case 1: set.objects[place].values[number].value = .integer(key())
        case 2: set.objects[place].values[number].former = value()
        default: set.objects[place].values[number].value = value()
        }
      }
    }
  }

  mutating func lie(about outcome: inout PushOutcome) {
    switch random.below(5) {
    case 0: outcome.verdict = .allCases[random.below(3)]
    case 1: outcome.unions.append(.init(key: key(), survivor: key()))
    case 2: outcome.losses.append(.init(key: key(), property: "x", reason: .overruled))
    case 3: outcome.sequence = number()
    default: break
    }
  }

  mutating func lie(about answer: inout PullAnswer) {
    for _ in 0..<(1 + random.below(3)) {
      switch random.below(12) {
      case 0: answer.gone.append(key())
      case 1: answer.now = number()
      case 2: if random.below(4) == 0 { answer.token = ["", "x", "a:1:2:3"][random.below(3)] }
      case 3: if random.below(8) == 0 { answer.sequence = number() }
      case 6:
        switch random.below(5) {
        case 0: answer.ranges.append(.init(entity: entity(), after: key(), through: key()))
        case 1: answer.left.append(key())
        case 2: answer.next = place()
        case 3: answer.isWhole.toggle()
        default: answer.scope = random.below(2) == 0 ? "" : "x"
        }
      case 4:
        answer.orders.append(
          .init(entity: entity(), property: property(), owner: key(), members: (0..<random.below(6)).map { _ in key() })
        )
      case 5:
        answer.states.append(
          .init(key: key(), entity: entity(), isWhole: random.below(2) == 0, values: [], lists: []))
      default:
        guard !answer.states.isEmpty else { continue }
        let place = random.below(answer.states.count)
        switch random.below(7) {
        case 0: answer.states[place].key = key()
        case 1: answer.states[place].entity = entity()
        case 2: answer.states[place].isWhole.toggle()
        case 3: answer.states.remove(at: place)
        case 4: answer.states[place].lists.append(.init(property: property(), members: [key(), key()]))
        default:
          guard !answer.states[place].values.isEmpty else { continue }
          let number = random.below(answer.states[place].values.count)
          switch random.below(3) {
          case 0: answer.states[place].values[number].property = property()
          case 1: answer.states[place].values[number].value = .integer(key())
          default: answer.states[place].values[number].value = value()
          }
        }
      }
    }
  }
}
