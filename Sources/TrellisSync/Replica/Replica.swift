import Foundation
import TrellisDynamic
import TrellisModel
@_spi(Generated) public import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// A store that is one of several with the same objects, and works without the others.
///
/// ```swift
/// let replica = try Replica(container)
/// try await replica.exchange(with: transport)
/// for conflict in try replica.conflicts() { … }
/// ```
/// Contexts of the container are used as without a replica. The model keeps `"history": "values"`, by which a replica
/// knows what was saved since the last exchange.
///
/// A replica can be used from any thread. What it knows is in the store, in the same transaction as the objects, so an
/// exchange may end at any place.
public final class Replica: Sendable {
  let container: PersistentContainer
  /// The same store without hooks: what the server has saved was complete.
  let plain: PersistentContainer
  /// What is added to the clock of the computer, in microseconds.
  let skew: @Sendable () -> Int64
  /// The objects that the replica asks for.
  private let scope: SyncScope.Request?
  let sizes: MessageSizes

  /// Makes a container's store a replica.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - scope: The objects that the store has, by a name that the server knows. With another scope than before, other
  ///     objects come and go at the next exchange.
  /// - Throws: ``SyncError`` with the code `noHistory`; ``StoreError`` if the store fails.
  public convenience init(_ container: PersistentContainer, scope: SyncScope.Request? = nil) throws {
    try self.init(container, scope: scope) { 0 }
  }

  init(
    _ container: PersistentContainer, scope: SyncScope.Request? = nil, sizes: MessageSizes = MessageSizes(),
    skew: @escaping @Sendable () -> Int64
  ) throws {
    self.container = container
    self.scope = scope
    self.sizes = sizes
    self.skew = skew
    let model = container.model
    plain = try PersistentContainer(
      sharing: container, as: ObjectModel(dynamic: model.description, checksum: model.checksum))
    try container.checkForSync()
  }
}

// MARK: - What the store keeps

extension Replica {
  static let author = "sync from "
  private static let joinAuthor = "sync join"
  private static let renumberingAuthor = "sync renumbering"
  static let conflictName = StoreNote.ofReplica + "conflict."

  /// A copy of a store counts its change sets anew, so their numbers do not tell them apart.
  static func conflictName(_ set: ChangeSet) -> String { "\(conflictName)\(set.sequence).\(set.id)" }

  /// Whether a save of an author is a part of an exchange.
  static func isExchange(_ author: String?) -> Bool {
    guard let author else { return false }
    return author.hasPrefix(Self.author) || author == renumberingAuthor || author == joinAuthor
  }

  /// What the store keeps about the replica, with the bytes that a change of it has to find.
  struct State {
    var record: ReplicaRecord?
    var outbox: Outbox?
    let notes: [String: [UInt8]]

    func change(_ record: ReplicaRecord) -> StoreNote {
      StoreNote(ReplicaRecord.name, former: notes[ReplicaRecord.name], value: record.bytes)
    }

    func change(_ outbox: Outbox?) -> StoreNote {
      StoreNote(Outbox.name, former: notes[Outbox.name], value: outbox?.bytes)
    }
  }

  func state() throws -> State {
    // The two are read one after the other; a save finds out if one of them is another now.
    var notes = try plain.notes(beginningWith: ReplicaRecord.name) ?? [:]
    notes.merge(try plain.notes(beginningWith: Outbox.name) ?? [:]) { first, _ in first }
    return State(
      record: try notes[ReplicaRecord.name].map { bytes in try ReplicaRecord(bytes) },
      outbox: try notes[Outbox.name].map { bytes in try Outbox(bytes) }, notes: notes)
  }

  func registeredState() throws -> (State, ReplicaRecord) {
    let state = try state()
    guard let record = state.record, record.number > 0 else { throw SyncError.unknownReplica }
    return (state, record)
  }

  func save(_ notes: StoreNote...) throws { try save(notes) }

  func save(_ notes: [StoreNote]) throws {
    let context = plain.newContext()
    context.notes = notes
    do { try context.save() } catch is StoreNoteConflict { throw SyncError.busy }
  }

  var now: Int64 { Date().microseconds &+ skew() }

  // MARK: Conflicts

  /// What the server did not take, the oldest first.
  ///
  /// - Throws: ``StoreError``.
  /// - Complexity: linear in the number of their changes.
  public func conflicts() throws -> [SyncConflict] {
    let notes = try plain.notes(beginningWith: Self.conflictName) ?? [:]
    return try notes.values.map { bytes in try SyncConflict(bytes, numbers(ofModel:)) }
      .sorted { $0.sequence < $1.sequence }
  }

  /// Removes a conflict that the program has dealt with.
  ///
  /// - Throws: ``StoreError``.
  public func remove(_ conflict: SyncConflict) throws {
    let name = Self.conflictName(conflict.changes)
    guard let bytes = try plain.notes(beginningWith: name)?[name] else { return }
    try save(StoreNote(name, former: bytes, value: nil))
  }
}

// MARK: - Registering

extension Replica {
  /// The request for a number; nil if the replica has one.
  func registration() throws -> RegisterRequest? {
    let state = try state()
    var record = state.record
    if record == nil {
      let made = ReplicaRecord(identity: UUID().uuidString)
      try save(state.change(made))
      record = made
    }
    guard let record, record.number == 0 else { return nil }
    return RegisterRequest(identity: record.identity, model: plain.model.checksum)
  }

  /// Takes the number. The objects that the store has get keys that begin with it, and are its first change set.
  func receive(_ answer: RegisterAnswer) throws {
    let state = try state()
    guard var record = state.record, record.number == 0, record.identity == answer.identity else { return }
    guard answer.number > 1, answer.number < .max / KeyReservation.replicaSpace else {
      throw SyncError.refused("the number of a replica is out of range")
    }
    try plain.raiseKeys(to: answer.number * KeyReservation.replicaSpace)
    record.clocks.isAtLeast(answer.now &- now)
    for _ in 0..<Self.attempts {
      if try take(answer.number, state, record) { return }
    }
    throw SyncError.busy
  }

  /// - Returns: false if others have written meanwhile, and nothing was saved.
  private func take(_ number: Int64, _ state: State, _ former: ReplicaRecord) throws -> Bool {
    var record = former
    record.number = number
    if !record.cut.isEmpty {
      // What the server does not know yet may have keys that the server knows for something else.
      if record.recovery == nil, let found = try ifKnown({ try unsent(record) }) {
        return try renumber(inserts: found.sets, &record, state)
      }
      // What a recovery finds gets its keys at its end.
      let parts = try record.recovery == nil ? beginRecovery(&record) : restartRecovery(&record)
      try save([state.change(record)] + parts)
      return true
    }
    record.cut = try plain.historyToken().description
    let context = plain.newContext()
    context.author = Self.joinAuthor
    var renumbering = Renumbering(context)
    try renumbering.runAll()
    // What was saved between the cut and the load would be sent twice.
    if try plain.historyToken().description != record.cut { return false }
    context.notes = [state.change(record)]
    return try saveUnlessOthersHave(context)
  }

  /// Gives keys of the replica's own to what some change sets insert.
  ///
  /// - Returns: false if others have written meanwhile, and nothing was saved.
  private func renumber(inserts sets: [ChangeSet], _ record: inout ReplicaRecord, _ state: State) throws -> Bool {
    let context = plain.newContext()
    context.author = Self.renumberingAuthor
    var renumbering = Renumbering(context)
    try renumbering.run(sets.flatMap(\.objects).filter { $0.kind == .inserted })
    record.aliases.merge(renumbering.keys) { _, new in new }
    context.notes = [state.change(record)]
    return try saveUnlessOthersHave(context)
  }

  /// Gives keys of the replica's own to unsent objects with others: a context that is older than the registration has
  /// inserted them, or an undo has brought back a deleted one. The server takes no others.
  ///
  /// - Returns: whether there are any. Then what is unsent has to be read anew.
  func renumberForeign(_ sets: [ChangeSet], _ record: ReplicaRecord, _ state: State) throws -> Bool {
    let known = Set(record.aliases.values)
    let foreign = sets.map { set in
      var set = set
      set.objects.removeAll { object in
        object.kind != .inserted || object.key / KeyReservation.replicaSpace == record.number
          || known.contains(object.key)
      }
      return set
    }
    guard foreign.contains(where: { !$0.objects.isEmpty }) else { return false }
    var changed = record
    _ = try renumber(inserts: foreign, &changed, state)
    return true
  }

  /// - Returns: false if others have written the same objects meanwhile, and nothing was saved.
  private func saveUnlessOthersHave(_ context: ManagedObjectContext) throws -> Bool {
    do {
      try context.save(mergePolicy: .error)
      return true
    } catch is SaveConflict {
      return false
    } catch is StoreNoteConflict {
      throw SyncError.busy
    } catch let error as StoreError where error.code == .contended {
      return false
    }
  }

  /// Makes the replica another one than before, because its store is a copy, or was restored from one: the server knows
  /// what the store does not. It asks for a number anew, and what it has not sent stays.
  func renew() throws {
    let (state, former) = try registeredState()
    var record = former
    record.identity = UUID().uuidString
    record.number = 0
    record.sequence = 0
    let parts = try giveUpDownload(&record)
    try save([state.change(record), state.change(nil)] + parts + sentContents.removal())
  }
}

// MARK: - Sending

extension Replica {
  /// The next request with change sets; nil if there is nothing to send.
  ///
  /// What is sent is kept first, so that it is the same each time.
  ///
  /// - Parameters:
  ///   - answer: The answer to the former one. What the server wants is sent first.
  ///   - size: About the greatest number of bytes of data in the message; nil for the usual one.
  func nextPush(after answer: PushAnswer? = nil, atMost size: Int? = nil) throws -> PushRequest? {
    let size = size ?? sizes.part
    // Otherwise the server has said what it has, and got the rest.
    let isFirst = answer?.outcomes.isEmpty != true
    for _ in 0..<Self.attempts {
      let (state, record) = try adaptedState()
      if let outbox = state.outbox {
        let pieces = try pieces(of: answer?.wanted ?? [], atMost: size)
        if !pieces.isEmpty { return request(Outbox(like: outbox), record, pieces) }
        return request(outbox, record, isFirst ? try firstPieces(of: outbox, atMost: size) : [])
      }
      // The moment that is received would not have what is sent now.
      if record.download != nil || record.recovery != nil { return nil }
      guard let found = try recovering({ try unsent(record, atMost: PushRequest.mostSets, sizes.part) }) else {
        return nil
      }
      if found.sets.isEmpty { return nil }
      if try !renumberForeign(found.sets, record, state) { try fillOutbox(found, record, state) }
    }
    throw SyncError.busy
  }

  private func fillOutbox(
    _ found: (sets: [ChangeSet], end: String, base: String), _ record: ReplicaRecord, _ state: State
  ) throws {
    var (sets, notes) = try keepingContents(of: found.sets)
    var changed = record
    for place in sets.indices {
      changed.sequence += 1
      sets[place].sequence = changed.sequence
      sets[place].id = .random(in: .min ... .max)
    }
    let (outbox, pieces) = packed(
      Outbox(sets: sets, model: plain.model.checksum, end: found.end, base: found.base))
    notes += pieces
    try save([state.change(changed), state.change(outbox)] + notes)
  }

  private func request(_ outbox: Outbox, _ record: ReplicaRecord, _ pieces: [ContentPiece]) -> PushRequest {
    PushRequest(
      replica: record.number, model: outbox.model, now: now, clocks: record.clocks, sets: outbox.sets,
      packed: outbox.packed, pieces: pieces)
  }

  /// What the store has saved since the server's last answer, save by save.
  ///
  /// - Parameter size: The number of bytes after which no further save is read.
  /// - Returns: the change sets, the moment of the store's history after them, and the server's moment that the store
  ///   showed then.
  func unsent(
    _ record: ReplicaRecord, atMost count: Int = .max, _ size: Int = .max
  ) throws -> (sets: [ChangeSet], end: String, base: String) {
    var sets: [ChangeSet] = []
    var rest = size
    var end = record.cut
    var base = record.base
    var answered = record.answered
    let skew = skew()
    guard var seen = HistoryToken(record.cut) else { throw SyncError.damagedMessage }
    var previous = try plain.keptTransaction(seen)
    while sets.count < count, rest > 0, case let saves = try plain.history(since: seen, limit: 100),
      let last = saves.last,
      last.token != seen
    {
      for save in saves where sets.count < count && rest > 0 {
        end = save.token.description
        if save.author == Self.renumberingAuthor { continue }
        if !save.isComplete, save.isOfMigration(after: previous) {
          previous = save
          continue
        }
        previous = save
        if let author = save.author, author.hasPrefix(Self.author) {
          base = String(author.dropFirst(Self.author.count))
          continue
        }
        var set = try ChangeSetReader.changes(of: save, in: plain, base: base)
        if save.author == Self.joinAuthor { set.objects.removeAll { $0.kind == .deleted } }
        set = set.translated(by: record.aliases, in: plain.model)
        set.time &+= skew
        if set.isEmpty { continue }
        if answered > 0 {
          answered -= 1
        } else {
          rest -= set.size
          sets.append(set)
        }
      }
      seen = last.token
    }
    return (sets, end, base)
  }

  /// Takes the answers of a server. What was refused or decided otherwise becomes a conflict.
  ///
  /// - Returns: the new conflicts.
  @discardableResult func receive(_ answer: PushAnswer) throws -> [SyncConflict] {
    if answer.outcomes.isEmpty { return [] }
    let state = try state()
    guard let former = state.record, former.number > 0, let outbox = state.outbox else { return [] }
    var record = former
    var notes: [StoreNote] = []
    var conflicts: [SyncConflict] = []
    var handled: Int64 = 0
    record.clocks.isAtMost(answer.delay)
    // The change sets have the numbers of the model that they were made with.
    let numbers = try numbers(ofModel: outbox.model)
    var rest = try sets(of: outbox)
    for outcome in answer.outcomes {
      // Answers that come again or late are of other change sets.
      guard let set = rest.first, set.sequence == outcome.sequence, set.id == outcome.id else { continue }
      rest.removeFirst()
      handled += 1
      record.hasNewAnswers = true
      if outcome.verdict != .accepted {
        record.also.formUnion(set.keys)
        if outcome.verdict == .refused || !outcome.losses.isEmpty {
          let conflict = SyncConflict(try withContents(set), outcome)
          conflicts.append(numbers.map(conflict.numbered) ?? conflict)
          notes.append(StoreNote(Self.conflictName(set), former: nil, value: conflict.bytes(outbox.model)))
        }
      }
      for union in outcome.unions where union.key != union.survivor {
        record.aliases[union.key] = union.survivor
        record.also.formUnion([union.key, union.survivor])
      }
    }
    var left: Outbox?
    if rest.isEmpty {
      (record.cut, record.base, record.answered) = (outbox.end, outbox.base, 0)
    } else {
      record.answered += handled
      left = Outbox(sets: rest, model: outbox.model, end: outbox.end, base: outbox.base)
    }
    if handled > 0 && !outbox.contents.isEmpty { notes += try keep(&left) }
    let context = plain.newContext()
    context.notes = notes + [state.change(record), state.change(handled > 0 ? left : outbox)]
    do { try context.save() } catch is StoreNoteConflict { throw SyncError.busy }
    return conflicts
  }
}

// MARK: - Receiving

extension Replica {
  /// What has become of a server's answer.
  enum Reception: Hashable {
    /// The store shows the server's moment.
    case applied
    /// The store has a part of the answer, and further ones follow.
    case part
    /// The answer is of an earlier request.
    case outdated
    /// The server has to know first what was saved here meanwhile.
    case pushFirst
    /// Data that the answer names is not here. The same answer can be taken when it is.
    case incomplete
  }

  /// The request for what has changed; nil while change sets have no answer.
  func nextPull() throws -> PullRequest? {
    let (state, record) = try adaptedState()
    if state.outbox != nil { return nil }
    let question = record.question
    return PullRequest(
      replica: record.number, model: question.model, since: question.since, also: question.also,
      isWhole: record.wantsAll || record.recovery != nil || record.download?.isWhole == true, moment: question.moment,
      place: question.place, scope: scope, known: question.known)
  }

  /// Whether the store shows exactly the server's moment that it knows.
  var isSettled: Bool {
    get throws {
      let (state, record) = try registeredState()
      return try state.outbox == nil && record.download == nil && record.recovery == nil && record.also.isEmpty
        && unsent(record, atMost: 1).sets.isEmpty
    }
  }

  /// The largest number of times that something is saved while others write.
  private static let attempts = 32

  /// Takes what has changed at the server, or a part of it, in one save. What was saved here and not sent stays on top of
  /// it.
  ///
  /// A part that breaks a rule without the next ones is kept as a note, and applied with them.
  func receive(_ answer: PullAnswer) throws -> Reception {
    let bound = answer.now &- now
    guard HistoryToken(answer.token) != nil else { throw SyncError.refused("a moment is invalid") }
    for _ in 0..<Self.attempts {
      let state = try state()
      guard let record = state.record, record.number > 0 else { return .outdated }
      // Only a copy of the store can have sent change sets that this store does not know.
      if state.outbox == nil, answer.number == record.number, answer.sequence > record.sequence {
        throw SyncError.copied
      }
      // Another scope, or a history that ends later now: the parts are not those of one answer.
      if let download = record.download, download.token == answer.token, answer.question == record.question,
        (download.scope, download.isWhole) != (answer.scope, answer.isWhole)
      {
        try giveUpDownload()
        return .outdated
      }
      guard state.outbox == nil, answer.number == record.number, answer.sequence == record.sequence,
        answer.question == record.question, record.download.map({ $0.fits(answer) }) ?? true,
        answer.isWhole || !record.wantsAll
      else { return .outdated }
      if let recovery = record.recovery { return try recover(answer, recovery, record, state) }
      guard let (unsent, end, _) = try recovering({ try unsent(record) }) else { return .outdated }
      if try renumberForeign(unsent, record, state) { continue }
      if try !missing(in: [answer]).isEmpty { return .incomplete }
      do {
        if let next = answer.next, record.download?.isWorthTrying == false {
          return try stage(answer, next, record, state)
        }
        return try apply(answer, bound, record, state, unsent, end)
      } catch is SaveConflict {
        continue
      } catch is StoreNoteConflict {
        throw SyncError.busy
      } catch let error as StoreError where error.code == .contended {
        continue
      } catch is RefusedValue {
        throw SyncError.refused("its property does not have a value")
      } catch let broken as ValidationError {
        if let next = answer.next { return try stage(answer, next, record, state) }
        if try self.unsent(record, atMost: 1).sets.isEmpty {
          throw SyncError(
            .brokenRules, "The server's objects do not obey the replica's rules: \(broken)",
            remedy: "Check the server's store.")
        }
        try giveUpDownload()
        return .pushFirst
      }
    }
    try giveUpDownload()
    return .pushFirst
  }

  private func apply(
    _ answer: PullAnswer, _ bound: Int64, _ record: ReplicaRecord, _ state: State, _ unsent: [ChangeSet], _ end: String
  ) throws -> Reception {
    let staged = try stagedParts(record)
    let arrived = try arrivedContents()
    guard let parts = try completed(staged.map(\.answer) + [answer], arrived) else { return .incomplete }
    let context = plain.newContext()
    var merge = ReplicaMerge(context, parts, unsent, record.aliases)
    try merge.run()
    var changed = record
    let also = merge.deviations.union(record.download?.also ?? [])
    if let next = answer.next {
      changed.download = .init(
        token: answer.token, isWhole: answer.isWhole, scope: answer.scope, place: next, also: also, staged: 0)
      context.author = Self.author + record.token
    } else {
      changed.download = nil
      changed.shownModel = record.model
      changed.token = answer.token
      changed.scope = answer.scope
      changed.also = also
      changed.hasNewAnswers = false
      context.author = Self.author + answer.token
      if unsent.isEmpty {
        // What is saved meanwhile, and does not meet this save, would be the same after it.
        (changed.cut, changed.base) = (end, answer.token)
        changed.aliases = [:]
      }
    }
    if changed == record && !context.hasChanges && !record.clocks.isImproved(by: bound) && arrived.isEmpty {
      return .applied
    }
    changed.clocks.isAtLeast(bound)
    context.notes =
      [state.change(changed)] + staged.map { StoreNote($0.name, former: $0.bytes, value: nil) }
      + (try arrived.removal())
    try context.save(mergePolicy: .error)
    return answer.next == nil ? .applied : .part
  }
}

extension ReplicaRecord {
  /// What the replica asks the server.
  fileprivate var question: PullAnswer.Question {
    if let recovery {
      return PullAnswer.Question(
        model: model, since: "", also: [], known: scope, moment: recovery.token, place: recovery.place)
    }
    return PullAnswer.Question(
      model: model, since: token, also: also.sorted(), known: scope, moment: download?.token ?? "",
      place: download?.place ?? .start)
  }
}

extension ReplicaRecord.Download {
  /// Whether a part is one of this answer.
  fileprivate func fits(_ answer: PullAnswer) -> Bool { answer.token == token && answer.isWhole == isWhole }

  /// Whether the parts that are kept may obey the rules with one more. Not each is tried, since all are read for it.
  fileprivate var isWorthTrying: Bool { staged & (staged + 1) == 0 }
}
