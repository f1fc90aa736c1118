import Foundation
import TrellisModel
import TrellisTestSupport

@testable import Trellis
@testable import TrellisDynamic
@_spi(Generated) import TrellisRuntime
@testable import TrellisStorage
@testable import TrellisSync

/// A server and replicas with a network between them that loses, repeats, delays and reorders messages, and programs
/// that end at any place. Two processes serve the store of the server. Everything follows from a seed, except the times.
struct World {
  /// A message on its way.
  struct Letter {
    let node: Int
    let toServer: Bool
    let bytes: [UInt8]
    var sent = Date().microseconds
    /// The message that is answered.
    var question: [UInt8] = []
  }

  struct Totals {
    var steps = 0
    var saves = 0
    var refusedSaves = 0
    var sets = 0
    var merged = 0
    var refused: [String: Int] = [:]
    var united = 0
    var applied = 0
    var parts = 0
    var forgotten = 0
    var recovered = 0
    var outdated = 0
    var pushFirst = 0
    var lost = 0
    var repeated = 0
    var restarts = 0
    var interrupted = 0
    var settled = 0
    var wanted = 0
    var fetched = 0
    var restored = 0
    var renewed = 0
    var messages: [String: Int] = [:]
  }

  private let server: SyncStore
  /// The processes that serve the store.
  private var servers: [(container: PersistentContainer, server: SyncServer)] = []
  private let interruption = Interruption()
  private let policy: SyncPolicy
  private var judge: Judge
  /// The longest time that a message of each replica was on its way.
  private var slowest: [Int: Int64] = [:]
  private(set) var nodes: [Node] = []
  private var letters: [Letter] = []
  private var random: SeededGenerator
  private var totals: Totals
  private(set) var failures: [String] = []
  private var log: [String] = []
  /// The first answer to each change set, by replica and number.
  private var outcomes: [Int: [Int64: PushOutcome]] = [:]
  private let checksEachStep: Bool
  private var isSettling = false
  private let restores: Bool
  private let sizes: MessageSizes
  /// Whether histories are deleted.
  private let expires: Bool

  init(
    _ text: String, replicas: Int, seed: UInt64, checksEachStep: Bool = false, restores: Bool = false,
    kind: StoreKind = .sqlite,
    _ totals: Totals
  ) throws {
    let model = SyncModels.model(text)
    random = SeededGenerator(seed: seed)
    server = try SyncStore(model, kind)
    // Some answers have many parts.
    sizes = Self.sizes(&random)
    expires = random.below(2) == 0
    policy = Self.policy(model, &random)
    judge = Judge(server.container, policy)
    self.totals = totals
    self.checksEachStep = checksEachStep
    self.restores = restores
    try openServer()
    // Others have numbers that begin with the same digit.
    if random.below(2) == 0 {
      for other in 0..<18 where other == 0 || random.below(40) > 0 {
        _ = try servers[0].server.register(
          RegisterRequest(identity: "other \(other)", model: server.container.model.checksum))
      }
    }
    for _ in 0..<replicas {
      let skew = random.below(3) == 0 ? 0 : Int64(random.below(21) - 10) * 86_400_000_000
      nodes.append(try Node(model, skew: skew, Self.sizes(&random)))
    }
  }

  /// Some messages are small, and some data is sent by itself.
  private static func sizes(_ random: inout SeededGenerator) -> MessageSizes {
    MessageSizes(
      part: random.below(2) == 0 ? 1 << 20 : 100 << random.below(5),
      inline: random.below(2) == 0 ? 1 << 16 : random.below(20))
  }

  private static func policy(_ model: ObjectModel, _ random: inout SeededGenerator) -> SyncPolicy {
    let all: [SyncPolicy.Decision] = [.latest, .latest, .server, .replica, .sum]
    var policy = SyncPolicy(all[random.below(all.count)])
    for name in ["Place.visits", "List.total", "Team.points", "Box.count", "Tag"] where random.below(2) == 0 {
      policy[name] = all[random.below(all.count)]
    }
    return policy
  }

  private mutating func openServer() throws {
    let interruption = interruption
    servers = try [server.container, server.another()].map { container in
      let server = try SyncServer(container, policy: policy, sizes: sizes) {
        interruption.clockIsRead()
        return Date().microseconds
      }
      return (container, server)
    }
  }

  /// Some objects that all stores have from the beginning.
  private mutating func found() throws {
    for _ in 0..<10 { try saveAtServer(in: 0) }
    isSettling = true
    for number in nodes.indices { try settle(number, 0) }
    isSettling = false
  }

  // MARK: Steps

  /// Makes steps until one fails, then lets all stores exchange in peace, and compares.
  mutating func run(steps: Int) throws -> Totals {
    if random.below(4) > 0 { try found() }
    for _ in 0..<steps where failures.isEmpty {
      totals.steps += 1
      do {
        try step()
      } catch {
        fail("step \(totals.steps): \(error)")
      }
    }
    if failures.isEmpty {
      do { try settle() } catch { fail("settling: \(error)") }
    }
    return totals
  }

  private mutating func fail(_ text: String) {
    failures.append(text)
    if failures.count == 1 { failures += log.suffix(30) }
  }

  private mutating func note(_ text: String) {
    log.append("\(totals.steps) \(text)")
    if log.count > 400 { log.removeFirst(200) }
  }

  private mutating func step() throws {
    let number = random.below(nodes.count)
    switch random.below(20) {
    case 0..<3: try save(number)
    case 3..<5: try saveAtServer(in: random.below(2))
    case 5..<10: try send(number)
    case 10..<18: for _ in 0..<(1 + random.below(3)) where failures.isEmpty { try deliver() }
    case 18:
      if random.below(3) > 0 { return try keepOrRestore(number) }
      totals.restarts += 1
      if random.below(4) == 0 {
        note("server restarts")
        for process in servers { process.container.close() }
        try server.restart()
        judge.follow(server.container)
        try openServer()
      } else {
        note("\(number) restarts")
        try nodes[number].restart()
        if random.below(3) == 0 { nodes[number].isAwayUntil = totals.steps + 10 + random.below(40) }
      }
    default:
      guard !letters.isEmpty else { return }
      totals.lost += 1
      nodes[letters.remove(at: random.below(letters.count)).node].isWaiting = false
    }
  }

  /// Copies a store, or puts a copy in its place.
  private mutating func keepOrRestore(_ number: Int) throws {
    if expires && random.below(3) == 0 { return try forget(number) }
    guard restores, random.below(2) == 0 else { return }
    let node = nodes[number]
    if let copy = node.copy, random.below(2) == 0 {
      note("\(number) is restored")
      totals.restored += 1
      try node.restore(copy)
    } else {
      let url = node.store.folder.file("copy.sqlite")
      try node.store.container.backUp(to: url, replacing: true)
      node.copy = url
      note("\(number) is copied")
    }
  }

  /// Deletes the older part of a history.
  private mutating func forget(_ number: Int) throws {
    let isServer = random.below(2) == 0
    let container = isServer ? server.container : nodes[number].store.container
    let saves = try container.history()
    guard !saves.isEmpty else { return }
    if isServer { try judge.read() }
    let count = try container.deleteHistory(before: saves[random.below(saves.count)].token)
    totals.forgotten += count
    note("\(isServer ? "server" : "\(number)") forgets \(count) saves")
  }

  private mutating func save(_ number: Int) throws {
    let node = nodes[number]
    guard try node.save(&random) else { return }
    note("\(number) saves")
    try check(node.store, "\(number) after its own save")
  }

  private mutating func saveAtServer(in process: Int) throws {
    switch try Scribe(servers[process].container).save(&random) {
    case true?:
      totals.saves += 1
      note("server saves")
    case false?: totals.refusedSaves += 1
    case nil: break
    }
    try check(server, "server after its own save")
  }

  /// Plans a save or another message in the middle of the next step of the server.
  private mutating func planInterruption(ofServer process: Int) {
    interruption.cancel()
    guard !isSettling, random.below(4) == 0 else { return }
    let other = servers[1 - process]
    let delay = random.below(4)
    if random.below(2) == 0 {
      var fork = SeededGenerator(seed: random.next())
      interruption.plan(after: delay) { _ = try Scribe(other.container).save(&fork) }
    } else if let letter = letters.filter(\.toServer).randomElement(using: &random) {
      // The answer gets lost.
      interruption.plan(after: delay) { _ = other.server.answer(to: letter.bytes) }
    }
  }

  /// Plans a save of the program in the middle of the next step of its replica.
  private mutating func planInterruption(of node: Node) {
    node.interruption.cancel()
    guard !isSettling, random.below(4) == 0 else { return }
    var fork = SeededGenerator(seed: random.next())
    node.interruption.plan(after: random.below(3)) { [unowned node] in try node.save(&fork) }
  }

  private mutating func end(_ interruption: Interruption) throws {
    if interruption.hasHappened { totals.interrupted += 1 }
    if let failure = interruption.failure { throw failure }
    interruption.cancel()
  }

  private mutating func send(_ number: Int) throws {
    if nodes[number].isWaiting && random.below(4) > 0 || nodes[number].isAwayUntil > totals.steps { return }
    nodes[number].isWaiting = true
    planInterruption(of: nodes[number])
    defer { nodes[number].interruption.cancel() }
    // A request has its time when it is made, which may be long before it is posted on a busy machine.
    let sent = Date().microseconds
    if let request = try nodes[number].request() { post(request, from: number, sent) }
  }

  private mutating func post(_ message: SyncMessage, from number: Int, _ sent: Int64) {
    letters.append(Letter(node: number, toServer: true, bytes: message.bytes, sent: sent))
    if letters.count > 12 { nodes[letters.remove(at: random.below(letters.count)).node].isWaiting = false }
  }

  private mutating func deliver() throws {
    let present = letters.indices.filter { nodes[letters[$0].node].isAwayUntil <= totals.steps }
    guard let place = present.randomElement(using: &random) else { return }
    let letter = letters[place]
    // Some come again.
    if random.below(3) == 0 { totals.repeated += 1 } else { letters.remove(at: place) }
    if letter.toServer {
      let received = Date().microseconds
      letters.append(
        Letter(
          node: letter.node, toServer: false, bytes: try answer(letter.bytes, letter.node, sent: letter.sent),
          sent: received, question: letter.bytes))
      try check(server, "server")
    } else {
      nodes[letter.node].isWaiting = false
      // What was saved while the answer was on its way.
      if random.below(3) == 0 { try save(letter.node) }
      try receive(letter)
      try check(nodes[letter.node].store, "\(letter.node)")
    }
  }

  private mutating func answer(_ bytes: [UInt8], _ number: Int, sent: Int64) throws -> [UInt8] {
    slowest[number] = max(slowest[number] ?? 0, Date().microseconds - sent)
    let process = random.below(servers.count)
    planInterruption(ofServer: process)
    let answer = servers[process].server.answer(to: bytes)
    slowest[number] = max(slowest[number] ?? 0, Date().microseconds - sent)
    try end(interruption)
    switch try SyncMessage(answer) {
    case .refused(let code, let message, _):
      totals.messages[code, default: 0] += 1
      if nodes[number].isRestored, code == "copied-replica" { break }
      if expires, code == "expired" { break }
      // An old push, whose answers the replica has, has none.
      if case .push(let request) = try SyncMessage(bytes), code == "copied-replica",
        let last = try nodes[number].sets(of: request).first?.sequence,
        try nodes[number].replica.state().record.map({ $0.sequence > last }) == true
      {
        break
      }
      fail("the server refuses a message: \(message) [\(code)]")
    case .pushed(let answer) where nodes[number].isRestored: totals.sets += answer.outcomes.count
    case .pushed(let answer):
      guard case .push(let request) = try SyncMessage(bytes) else { return [] }
      let replica = nodes[number].replica
      let awaited = Set(try replica.state().outbox.map(replica.sets)?.map(\.sequence) ?? [])
      let sets = try nodes[number].sets(of: request)
      for outcome in answer.outcomes {
        let isNew = outcomes[number]?[outcome.sequence] == nil
        if let set = sets.first(where: { $0.sequence == outcome.sequence }), isNew {
          try weigh(outcome, set, of: number, request.replica)
        }
        if let first = outcomes[number]?[outcome.sequence] {
          // What the server has only in its history, because the replica has the answer, is answered shortly.
          let isShort =
            !awaited.contains(outcome.sequence) && outcome.verdict == .merged && outcome.losses.isEmpty
            && first.verdict != .refused
          if first != outcome && !isShort {
            fail("\(number).\(outcome.sequence) is answered as \(outcome) after \(first)")
          }
        } else {
          outcomes[number, default: [:]][outcome.sequence] = outcome
          note(
            "server: \(number).\(outcome.sequence) \(outcome.verdict) \(outcome.reason?.rawValue ?? "") \(outcome.failures.first ?? "") \(outcome.losses.count) \(outcome.unions)"
          )
          totals.sets += 1
          if outcome.verdict == .merged { totals.merged += 1 }
          if let reason = outcome.reason { totals.refused[reason.rawValue, default: 0] += 1 }
          totals.united += outcome.unions.count
        }
      }
    default: break
    }
    return answer
  }

  /// Compares the server's decision with that of the judge.
  private mutating func weigh(_ outcome: PushOutcome, _ set: ChangeSet, of number: Int, _ replica: Int64) throws {
    let node = nodes[number]
    if set.id != outcome.id { fail("\(number).\(set.sequence) is answered by another identity") }
    for union in outcome.unions where !node.isRestored { node.unions[union.key] = union.survivor }
    for objection in try judge.objections(to: outcome, set, of: replica, node.unions) {
      fail("\(number).\(set.sequence) \(objection)")
    }
    guard let saved = node.moments[set.time], !node.recovered.contains(set.sequence) else { return }
    if !saved.contains(set.base) { fail("\(number).\(set.sequence) is based on \(set.base), not \(saved)") }
    if let time = try judge.time(of: set, by: replica) {
      let error = time - (set.time - node.skew)
      let most = node.skew == 0 ? 0 : slowest[number] ?? 0
      if abs(error) > most { fail("\(number).\(set.sequence) has a time that is wrong by \(error) µs of \(most)") }
    }
  }

  private mutating func receive(_ letter: Letter) throws {
    let node = nodes[letter.node]
    slowest[letter.node] = max(slowest[letter.node] ?? 0, Date().microseconds - letter.sent)
    planInterruption(of: node)
    defer { if node.interruption.hasHappened { totals.interrupted += 1 } }
    defer { if let failure = node.interruption.failure { fail("an interruption: \(failure)") } }
    defer { node.interruption.cancel() }
    // The clock is read some time after the message is there.
    defer { slowest[letter.node] = max(slowest[letter.node] ?? 0, node.interruption.lastRead - letter.sent) }
    switch try SyncMessage(letter.bytes) {
    case .registered(let answer): try node.replica.receive(answer)
    case .refused(let code, _, _) where node.isRestored && code == "copied-replica":
      // An answer to an old message may come late: only the present one is that of a copy.
      let state = try node.replica.state()
      if case .push(let request) = try SyncMessage(letter.question), request.sets == state.outbox?.sets,
        request.packed == state.outbox?.packed, request.replica == state.record?.number
      {
        totals.renewed += 1
        note("\(letter.node) is renewed")
        try node.replica.renew()
      }
    case .refused("expired", _, _): try begin(letter)
    case .pushed(let answer):
      node.pushed = answer
      if !answer.wanted.isEmpty { totals.wanted += 1 }
      for conflict in try node.replica.receive(answer) where !node.isRestored {
        if node.conflicts[conflict.sequence] != nil { fail("\(letter.node).\(conflict.sequence) is reported twice") }
        node.conflicts[conflict.sequence] = conflict
        if conflict.changes.objects.contains(where: { $0.values.contains { $0.value.isNamed } }) {
          fail("\(letter.node).\(conflict.sequence) is reported without its data")
        }
      }
    case .fetched(let answer):
      guard case .fetch(let request) = try SyncMessage(letter.question) else { return }
      totals.fetched += 1
      try node.replica.receive(answer, to: request)
      if let part = node.part, try node.replica.nextFetch(for: part.answer) == nil {
        try receive(part.answer, letter.node, sent: part.sent)
      }
    case .pulled(let answer): try receive(answer, letter.node, sent: letter.sent)
    default: break
    }
  }

  /// Takes an answer, or waits for its data.
  private mutating func receive(_ answer: PullAnswer, _ number: Int, sent: Int64) throws {
    let node = nodes[number]
    node.part = nil
    // An answer that waits for its data is late.
    defer { slowest[number] = max(slowest[number] ?? 0, node.interruption.lastRead - sent) }
    let reception: Replica.Reception
    let own = try OwnChanges(node)
    do {
      reception = try node.receive(answer)
    } catch let error as SyncError where error.code == .copiedReplica && node.isRestored {
      totals.renewed += 1
      note("\(number) is renewed after a pull")
      return try node.replica.renew()
    }
    if [.applied, .part].contains(reception) { try compare(node, number, answer, own) }
    note("\(number) pulls \(answer.states.count) \(answer.gone.count) \(reception)")
    switch reception {
    case .applied: totals.applied += 1
    case .part: totals.parts += 1
    case .outdated: totals.outdated += 1
    case .pushFirst: totals.pushFirst += 1
    case .incomplete: node.part = (answer, sent)
    }
  }

  /// Begins anew what needs a moment that the server has deleted.
  private mutating func begin(_ letter: Letter) throws {
    let replica = nodes[letter.node].replica
    switch try SyncMessage(letter.question) {
    case .pull(let request): guard try replica.nextPull() == request else { return }
    case .fetch(let request):
      guard nodes[letter.node].part?.answer.token == request.moment else { return }
      nodes[letter.node].part = nil
    default: return
    }
    totals.recovered += 1
    note("\(letter.node) begins anew")
    try replica.recoverWithoutBase()
    try replica.giveUpDownload()
  }

  /// After an answer, a store shows the server's moment, with what is unsent on top; after a part, still what is unsent.
  private mutating func compare(_ node: Node, _ number: Int, _ answer: PullAnswer, _ own: OwnChanges?) throws {
    guard failures.isEmpty else { return }
    if !node.interruption.hasHappened, let own {
      let lost = try own.differences(in: node.store.picture())
      if !lost.isEmpty { fail("\(number) loses what is unsent: \(lost.prefix(6).joined(separator: "\n"))") }
    }
    guard try node.replica.isSettled, let token = HistoryToken(answer.token) else { return }
    totals.settled += 1
    // What the server has taken is part of the moment.
    if !node.isRestored, let own = judge.lastSave(of: node.number), own > token.transaction,
      try node.replica.state().record?.sequence ?? 0 >= outcomes[number]?.keys.max() ?? 0
    {
      fail("\(number) shows a moment before its own save \(own)")
    }
    let there: StorePicture
    do {
      there = try StorePicture(server.container.newContext(asOf: token))
    } catch let error as StoreError where error.code == .historyExpired {
      return
    }
    let differences = try node.store.picture().differences(from: there)
    if !differences.isEmpty { fail("\(number) shows no moment: \(differences.prefix(12).joined(separator: "\n"))") }
  }

  private mutating func check(_ store: SyncStore, _ name: String) throws {
    // A check takes longer than the step. What is broken mostly stays so.
    guard failures.isEmpty, checksEachStep || random.below(4) == 0 else { return }
    let findings = try store.findings()
    if !findings.isEmpty { fail("\(name) breaks rules: \(findings)") }
  }

  // MARK: Quiescence

  private mutating func settle() throws {
    letters = []
    isSettling = true
    for node in nodes { node.isAwayUntil = 0 }
    for round in 0..<3 {
      for number in nodes.indices { try settle(number, round) }
    }
    let picture = try server.picture()
    if !(try server.findings().isEmpty) { fail("server breaks rules") }
    for (number, node) in nodes.enumerated() where failures.isEmpty {
      let differences = try node.store.picture().differences(from: picture)
      if !differences.isEmpty { fail("\(number) differs: \(differences.prefix(12).joined(separator: "\n"))") }
      if !(try node.store.findings().isEmpty) { fail("\(number) breaks rules") }
      if !node.isRestored { try checkReports(number) }
    }
  }

  private mutating func settle(_ number: Int, _ round: Int) throws {
    // Large data may have thousands of pieces.
    for _ in 0..<20_000 where failures.isEmpty {
      let node = nodes[number]
      let sent = Date().microseconds
      defer { slowest[number] = max(slowest[number] ?? 0, Date().microseconds - sent) }
      guard let message = try node.request() else { continue }
      let before = totals.applied
      try receive(
        Letter(
          node: number, toServer: false, bytes: try answer(message.bytes, number, sent: sent), sent: sent,
          question: message.bytes))
      try check(node.store, "\(number) at last")
      if try totals.applied > before && node.replica.isSettled { return }
    }
    if failures.isEmpty { fail("\(number) does not come to rest in round \(round)") }
  }

  /// Each refusal is a conflict, and nothing else is; each accepted save is in the server's history once.
  private mutating func checkReports(_ number: Int) throws {
    let outcomes = outcomes[number] ?? [:]
    let expected = Set(outcomes.values.filter { $0.verdict == .refused || !$0.losses.isEmpty }.map(\.sequence))
    let node = nodes[number]
    if Set(node.conflicts.keys) != expected { fail("\(number) reports \(node.conflicts.keys), not \(expected)") }
    if Set(try node.replica.conflicts().map(\.sequence).filter { $0 > 0 }) != expected {
      fail("\(number) keeps other conflicts")
    }
    let last = try node.replica.state().record?.sequence ?? 0
    if outcomes.count != Int(last) { fail("\(number) has \(last) change sets, and \(outcomes.count) answers") }
    var seen: Set<Int64> = []
    let prefix = "\(SyncServer.author)\(try node.replica.state().record?.number ?? 0) "
    for save in try server.container.history() {
      guard let author = save.author, author.hasPrefix(prefix),
        let sequence = author.split(separator: " ").dropLast(2).last.flatMap({ Int64($0) })
      else { continue }
      if !seen.insert(sequence).inserted { fail("\(number).\(sequence) was applied twice") }
      if outcomes[sequence]?.verdict == .refused { fail("\(number).\(sequence) was refused and applied") }
    }
  }
}

extension StoredValue {
  /// Whether it is the name of data that is elsewhere.
  fileprivate var isNamed: Bool { if case .file(let file) = self { file.origin == nil } else { false } }
}
