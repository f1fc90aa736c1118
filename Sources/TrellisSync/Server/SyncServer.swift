import Foundation
import TrellisModel
@_spi(Generated) public import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// The store that replicas exchange with. It decides what of their changes becomes part of all stores, under all rules of
/// the model.
///
/// ```swift
/// let server = try SyncServer(container)
/// let answer = server.answer(to: bytes, from: user)   // the body of a request, and of its answer
/// ```
/// Contexts of the container are used as without replicas, and what they save goes to the replicas. The model keeps
/// `"history": "values"`. A server can be used from any thread, and several processes may serve one store.
public final class SyncServer: Sendable {
  /// Whether a user may make a change. It is asked in the server's order of changes, and only reads. An error that it
  /// throws fails the request, which the replica sends again.
  public typealias Rights = @Sendable (SyncAccess) throws -> Bool

  /// The objects for a replica that asks for a scope, or for none, on behalf of a user; nil if the user does not get
  /// them.
  public typealias Scopes = @Sendable (_ request: SyncScope.Request?, _ user: String?) throws -> SyncScope?

  let container: PersistentContainer
  let policy: SyncPolicy
  let sizes: MessageSizes
  private let rights: Rights?
  private let scopes: Scopes?
  /// The clock, in microseconds since 1970.
  let clock: @Sendable () -> Int64
  /// The ways from the older models of replicas to the server's.
  private let bridges = Locked<[String: ModelBridge]>([:])
  /// The data of which a replica gets the next piece. Others are read anew.
  let lastContent = Locked<FetchedContent?>(nil)

  /// Makes a container's store the one that replicas exchange with.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - policy: What is decided if the server and a replica have both changed something.
  ///   - rights: Whether a user may make a change; nil if each may make all of them.
  ///   - scopes: The objects that a replica gets; nil if each gets all of them.
  /// - Throws: ``SyncError`` with the code `noHistory`; ``StoreError`` if the store fails.
  public convenience init(
    _ container: PersistentContainer, policy: SyncPolicy = SyncPolicy(), rights: Rights? = nil, scopes: Scopes? = nil
  ) throws {
    try self.init(container, policy: policy, rights: rights, scopes: scopes) {
      Date().microseconds
    }
  }

  init(
    _ container: PersistentContainer, policy: SyncPolicy, rights: Rights? = nil, scopes: Scopes? = nil,
    sizes: MessageSizes = MessageSizes(),
    clock: @escaping @Sendable () -> Int64
  ) throws {
    self.container = container
    self.policy = policy
    self.sizes = sizes
    self.rights = rights
    self.scopes = scopes
    self.clock = clock
    try container.checkForSync()
    // The first numbers are those of stores without one, and of the server.
    try container.raiseKeys(to: KeyReservation.replicaSpace)
  }

  static let author = "sync to "

  /// The number of the replica that an author's save is of; nil if it is of the server itself.
  static func replica(of author: String?) -> Int64? {
    guard let author, author.hasPrefix(Self.author) else { return nil }
    return Int64(author.dropFirst(Self.author.count).prefix { $0 != " " })
  }

  // MARK: Registering

  private static let counter = StoreNote.ofServer + "next"

  func register(_ request: RegisterRequest, from user: String? = nil) throws -> RegisterAnswer {
    if !request.text.isEmpty { try keep(request.text, checksum: request.model) }
    _ = try bridge(from: request.model)
    guard request.identity.utf8.count <= 64, !request.identity.isEmpty else {
      throw SyncError.refused("the identity of a replica is too long")
    }
    let name = StoreNote.ofServer + "identity." + request.identity
    for _ in 0..<64 {
      let notes = try container.notes(beginningWith: StoreNote.ofServer) ?? [:]
      if let bytes = notes[name] {
        let number = try Self.number(bytes)
        _ = try record(number, of: user)
        return RegisterAnswer(identity: request.identity, number: number, now: clock())
      }
      let number = try notes[Self.counter].map { bytes in try Self.number(bytes) } ?? 2
      guard number < .max / KeyReservation.replicaSpace else { throw SyncError.refused("there are too many replicas") }
      let context = container.newContext()
      context.notes = [
        StoreNote(name, former: nil, value: Self.bytes(number)),
        StoreNote(Self.counter, former: notes[Self.counter], value: Self.bytes(number + 1)),
        StoreNote(ServerRecord.name(number), former: nil, value: ServerRecord(number: number, user: user).bytes),
      ]
      do {
        try context.save()
        return RegisterAnswer(identity: request.identity, number: number, now: clock())
      } catch is StoreNoteConflict {
        continue
      }
    }
    throw SyncError.contended
  }

  private static func bytes(_ number: Int64) -> [UInt8] {
    var writer = ByteWriter()
    writer.signed(number)
    return writer.bytes
  }

  private static func number(_ bytes: [UInt8]) throws(SyncError) -> Int64 {
    var reader = ByteReader(bytes)
    return try reader.signed()
  }

  /// A record with the bytes that a change of it has to find.
  typealias KnownRecord = (record: ServerRecord, bytes: [UInt8])

  func record(_ replica: Int64, of user: String?) throws -> KnownRecord {
    let name = ServerRecord.name(replica)
    guard let bytes = try container.notes(beginningWith: name)?[name] else { throw SyncError.unknownReplica }
    let record = try ServerRecord(bytes)
    guard record.user == user else { throw SyncError.otherUser }
    return (record, bytes)
  }

  // MARK: Models

  private static let modelName = StoreNote.ofServer + "model."
  private static let mostModels = 1_000

  /// The way from the model of a replica to the server's; nil if they are the same.
  ///
  /// - Throws: ``SyncError``: `unknownModel`, `otherModel`, `newerReplica`.
  func bridge(from checksum: String) throws -> ModelBridge? {
    if checksum == container.model.checksum { return nil }
    if let known = bridges.withLock({ $0[checksum] }) { return known }
    guard checksum.utf8.count == 16 else { throw SyncError.refused("a checksum is none") }
    let name = Self.modelName + checksum
    guard let bytes = try container.notes(beginningWith: name)?[name] else { throw SyncError.unknownModel }
    let made = try ModelBridge(from: Self.model(bytes, checksum), to: container.model)
    bridges.withLock { $0[checksum] = made }
    return made
  }

  private static func model(_ text: [UInt8], _ checksum: String) throws(SyncError) -> Model {
    do {
      return try StoredModelReading.model(String(decoding: text, as: UTF8.self), checksum: checksum, of: "A message")
    } catch {
      throw .refused("the text of a model cannot be read")
    }
  }

  /// Keeps the text of a replica's model, if replicas with it can take part.
  private func keep(_ text: String, checksum: String) throws {
    if checksum == container.model.checksum { return }
    let name = Self.modelName + checksum
    let bytes = Array(text.utf8)
    _ = try ModelBridge(from: Self.model(bytes, checksum), to: container.model)
    let notes = try container.notes(beginningWith: Self.modelName) ?? [:]
    if notes[name] != nil { return }
    guard notes.count < Self.mostModels else { throw SyncError.refused("there are too many models") }
    let context = container.newContext()
    context.notes = [StoreNote(name, former: nil, value: bytes)]
    // Another process of the server may have kept it meanwhile.
    do { try context.save() } catch is StoreNoteConflict {}
  }

  // MARK: Taking changes

  private static let attempts = 64

  /// Applies change sets, each in a save of its own, and answers what has become of each.
  func push(_ request: PushRequest, from user: String? = nil) throws -> PushAnswer {
    let bridge = try bridge(from: request.model)
    let given = try record(request.replica, of: user)
    var known: KnownRecord? = given
    let delay = clock() &- request.now
    var answer = PushAnswer(delay: delay, outcomes: [])
    var contents: PushedContents?
    if request.packed != nil || !request.pieces.isEmpty || request.sets.contains(where: { !$0.contents.isEmpty }) {
      contents = try PushedContents(container, of: request.replica)
    }
    if let packed = request.packed, bridge == nil, given.record.outcome(packed.last)?.id == packed.id {
      // The answer is known without the change sets.
      answer.outcomes = given.record.outcomes
      return answer
    }
    var sets = request.sets
    let isKnown = sets.last.map { $0.sequence <= given.record.last } == true
    if !isKnown { answer.wanted = try contents?.keep(request.pieces) ?? [] }
    if let packed = request.packed?.content, let contents {
      answer.wanted += contents.missing(of: [packed])
      if !answer.wanted.isEmpty { return answer }
      sets = try contents.sets(in: packed)
    }
    guard sets.count <= PushRequest.mostSets else { throw SyncError.refused("it has too many change sets") }
    var others: [String: OtherChanges] = [:]
    var clocks = request.clocks
    clocks.isAtMost(delay)
    let first = sets.first?.sequence ?? 0
    for (place, var set) in sets.enumerated() {
      if set.sequence > given.record.last, let contents, !set.contents.isEmpty {
        let missing = contents.missing(of: set.contents)
        if !missing.isEmpty {
          answer.wanted = contents.missing(of: sets[place...].reduce(into: []) { $0.formUnion($1.contents) })
          return answer
        }
        set = try contents.completed(set)
      }
      do {
        set = bridge?.translated(set) ?? set
        let outcome = try apply(set, of: request.replica, user, first: first, clocks.best, &known, &others)
        answer.outcomes.append(bridge?.translated(outcome, of: set) ?? outcome)
      } catch let error as SyncError where error.code == .copiedReplica && !answer.outcomes.isEmpty {
        // What was answered is answered; the rest comes again.
        return answer
      }
    }
    // What comes behind has other contents.
    if let contents, let last = sets.last, last.sequence > given.record.last { try contents.removeAll() }
    return answer
  }

  private func apply(
    _ set: ChangeSet, of replica: Int64, _ user: String?, first: Int64, _ difference: Int64,
    _ known: inout KnownRecord?, _ others: inout [String: OtherChanges]
  ) throws -> PushOutcome {
    for _ in 0..<Self.attempts {
      let (record, bytes) = try known ?? self.record(replica, of: user)
      known = nil
      if set.sequence <= record.last {
        known = (record, bytes)
        if let outcome = record.outcome(set.sequence), outcome.id == set.id { return outcome }
        // A copy of a store may repeat what its original has got the answer to.
        guard try isApplied(set, replica) else { throw SyncError.copied }
        return PushOutcome(sequence: set.sequence, id: set.id, verdict: .merged)
      }
      guard set.sequence == record.last + 1 else { throw SyncError.refused("a change set is missing before it") }
      // What is saved later is found before the note is made.
      if others[set.base] == nil {
        others[set.base] = try OtherChanges(since: set.base, beside: replica)
        try others[set.base]?.follow(container)
      }
      let time = min(set.time &+ difference, clock())
      let translated = set.translated(by: record.aliases, in: container.model)
      let keys = translated.keys
      do {
        var noted: KnownRecord?
        let context = container.newContext()
        context.author = author(of: set, replica) + "\(time)"
        let outcome = try ChangeSetApplication.outcome(
          of: translated, by: replica, at: time, others[set.base], policy,
          rights: rights.map { RightsCheck(user, $0, container.newContext()) }, in: context
        ) { outcome in
          // The context reads, and merges, what was saved after the history was read. A server database shows it in
          // its history when the transactions before it have ended.
          _ = try container.settledHistoryToken()
          if try others[set.base]?.follow(container)?.isDisjoint(with: keys) != true { throw Overtaken() }
          var changed = record
          changed.add(outcome, first: first)
          let value = changed.bytes
          noted = (changed, value)
          return StoreNote(ServerRecord.name(replica), former: bytes, value: value)
        }
        known = noted
        return outcome
      } catch is Overtaken {
        continue
      } catch is SaveConflict {
        continue
      } catch is StoreNoteConflict {
        continue
      } catch let error as StoreError where error.code == .contended {
        continue
      }
    }
    throw SyncError.contended
  }

  /// Others have changed the objects of a change set while it was decided about.
  private struct Overtaken: Error {}

  private func author(of set: ChangeSet, _ replica: Int64) -> String {
    "\(Self.author)\(replica) \(set.sequence) \(set.id) "
  }

  /// Whether the history has the save of a change set.
  private func isApplied(_ set: ChangeSet, _ replica: Int64) throws -> Bool {
    let author = author(of: set, replica)
    var isFound = false
    func search(since start: HistoryToken?) throws {
      try container.forEachTransaction(since: start, until: nil) { save in
        if save.author?.hasPrefix(author) == true { isFound = true }
      }
    }
    do {
      try search(since: HistoryToken(set.base))
    } catch let error as StoreError where error.code == .historyExpired || error.code == .otherHistory {
      try search(since: nil)
    }
    return isFound
  }

  // MARK: Telling what has changed

  func pull(_ request: PullRequest, from user: String? = nil) throws -> PullAnswer {
    let bridge = try bridge(from: request.model)
    // First, so that the moment has all that the record has.
    let (record, _) = try record(request.replica, of: user)
    let time = clock()
    let now = try request.moment.isEmpty ? container.settledHistoryToken() : HistoryToken(request.moment)
    guard let now else { throw SyncError.refused("a moment is invalid") }
    let scope = try scope(request.scope, of: user)
    do {
      var reading = try StateReading(request, record.last, now, at: time, container, scope, sizes: sizes)
      let answer = try reading.run()
      return bridge?.translated(answer) ?? answer
    } catch let error as StoreError where error.code == .historyExpired || error.code == .otherHistory {
      throw SyncError.expired
    }
  }

  /// The objects that a replica gets; nil for all.
  private func scope(_ request: SyncScope.Request?, of user: String?) throws -> ResolvedScope? {
    guard let scopes else {
      guard request == nil else { throw SyncError.notAllowed }
      return nil
    }
    guard let scope = try scopes(request, user) else { throw SyncError.notAllowed }
    return try ResolvedScope(scope, in: container.newContext())
  }

  // MARK: Bytes

  /// Answers a message of a replica.
  ///
  /// - Parameters:
  ///   - bytes: The message, such as the body of a request by HTTP.
  ///   - user: The user from whom the message comes, whom the program has authenticated; nil if there are no users. A
  ///     replica belongs to the user of its first message.
  /// - Returns: the answer, which may say why the message was refused.
  /// - Complexity: linear in the number of changes, and in the members of relationships that they concern.
  public func answer(to bytes: [UInt8], from user: String? = nil) -> [UInt8] {
    forgetOldContent()
    do {
      switch try SyncMessage(bytes) {
      case .register(let request): return SyncMessage.registered(try register(request, from: user)).bytes
      case .push(let request): return SyncMessage.pushed(try push(request, from: user)).bytes
      case .pull(let request): return SyncMessage.pulled(try pull(request, from: user)).bytes
      case .fetch(let request): return SyncMessage.fetched(try fetch(request, from: user)).bytes
      case .registered, .pushed, .pulled, .fetched, .refused: throw SyncError.refused("it is no request")
      }
    } catch let error as SyncError {
      return SyncMessage.refused(code: error.code.rawValue, message: error.message, remedy: error.remedy).bytes
    } catch {
      return SyncMessage.refused(
        code: SyncError.Code.serverFailed.rawValue, message: "The server's store has failed.",
        remedy: "Exchange again later."
      ).bytes
    }
  }
}
