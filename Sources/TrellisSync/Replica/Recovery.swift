import TrellisModel
import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

// MARK: - Histories that do not reach back

/// A replica whose own history does not say any more what is unsent compares its store with what the server had.
///
/// If the server still has the moment that the store showed, the differences are what was changed here: one change set. If it
/// has not, nobody knows which side has changed something: the differences become a conflict, and the store shows what the
/// server has.
extension Replica {
  private static let foundName = StoreNote.ofReplica + "found."

  /// Runs a closure that reads what is unsent.
  ///
  /// - Returns: nil if the history does not say it; then the next answer is compared with.
  func recovering<Result>(_ read: () throws -> Result) throws -> Result? {
    if let result = try ifKnown(read) { return result }
    try beginRecovery()
    return nil
  }

  /// Runs a closure that reads what is unsent.
  ///
  /// - Returns: nil if the history does not say it.
  func ifKnown<Result>(_ read: () throws -> Result) throws -> Result? {
    do {
      return try read()
    } catch let error as StoreError where error.code == .historyExpired {
      return nil
    } catch let error as SyncError where error.code == .unknownChanges {
      return nil
    }
  }

  private func beginRecovery() throws {
    let (state, former) = try registeredState()
    guard former.recovery == nil, state.outbox == nil else { return }
    var record = former
    let parts = try beginRecovery(&record)
    try save([state.change(record)] + parts)
  }

  /// - Returns: the change of the notes.
  func beginRecovery(_ record: inout ReplicaRecord) throws -> [StoreNote] {
    // A store with parts of an answer shows no moment of the server. What the server has taken since its moment differs from it,
    // and would be sent again.
    let isBase = record.download == nil && !record.token.isEmpty && !record.hasNewAnswers
    let parts = try giveUpDownload(&record)
    var cut = try readableMoment().description
    // What cannot be read from there could not be read again.
    if cut == record.cut { cut = try plain.historyToken().description }
    record.recovery = .init(
      cut: cut, token: isBase ? record.token : "", isBase: isBase, place: .start,
      found: 0)
    return parts
  }

  /// Compares with the server's present, because the moment that the store showed is gone there as well.
  func recoverWithoutBase() throws {
    let (state, former) = try registeredState()
    guard former.recovery != nil else { return }
    var record = former
    record.recovery?.isBase = false
    let notes = try restartRecovery(&record)
    try save([state.change(record)] + notes)
  }

  /// Compares as of a later moment of the own history, because the one that was chosen is gone: its end was deleted, or a
  /// migration has removed something.
  private func recoverFromLaterMoment() throws {
    let (state, former) = try registeredState()
    guard former.recovery != nil else { return }
    var record = former
    record.recovery?.cut = try readableMoment().description
    let notes = try restartRecovery(&record)
    try save([state.change(record)] + notes)
  }

  /// - Returns: the change of the notes.
  func restartRecovery(_ record: inout ReplicaRecord) throws -> [StoreNote] {
    guard let recovery = record.recovery else { return [] }
    record.recovery = .init(
      cut: recovery.cut, token: recovery.isBase ? recovery.token : "", isBase: recovery.isBase, place: .start, found: 0)
    let notes = try plain.notes(beginningWith: Self.foundName) ?? [:]
    return notes.map { StoreNote($0.key, former: $0.value, value: nil) }
  }

  /// Compares the store with a part of an answer, and keeps the differences as a note.
  func recover(
    _ answer: PullAnswer, _ recovery: ReplicaRecord.Recovery, _ former: ReplicaRecord, _ state: State
  ) throws -> Reception {
    guard answer.isWhole, recovery.token.isEmpty || recovery.token == answer.token else { return .outdated }
    guard let cut = HistoryToken(recovery.cut) else { throw SyncError.damagedMessage }
    guard let here = try ifKnown({ try plain.newContext(asOf: cut) }) else {
      try recoverFromLaterMoment()
      return .outdated
    }
    let empty = ChangeSet(sequence: 0, id: 0, base: former.token, time: former.cutTime &+ skew(), author: nil)
    let changes = try StoreComparison.changes(here, since: answer, besides: addedModel(former), empty)
    let (kept, contents) = try keepingContents(of: [changes])
    let found = kept[0]
    var record = former
    if let next = answer.next {
      record.recovery?.token = answer.token
      record.recovery?.place = next
      record.recovery?.found += 1
      var writer = ByteWriter()
      found.write(to: &writer)
      let note = StoreNote(Self.foundName + String(recovery.found), former: nil, value: writer.bytes)
      try save([state.change(record), note] + contents)
      return .part
    }
    if !contents.isEmpty { try save(contents) }
    let notes = try plain.notes(beginningWith: Self.foundName) ?? [:]
    var all = empty
    for number in 0..<recovery.found {
      guard let bytes = notes[Self.foundName + String(number)] else { throw SyncError.damagedMessage }
      var reader = ByteReader(bytes)
      all.add(try ChangeSet(&reader))
    }
    all.add(found)
    all = all.translated(by: former.aliases, in: plain.model)
    // The last part comes again then, and the keys are known.
    if recovery.isBase, try renumberForeign([all], former, state) { return .outdated }
    try end(all, recovery, record, state, notes)
    return .pushFirst
  }

  private func end(
    _ found: ChangeSet, _ recovery: ReplicaRecord.Recovery, _ former: ReplicaRecord, _ state: State,
    _ notes: [String: [UInt8]]
  ) throws {
    var record = former
    var found = found
    record.recovery = nil
    record.answered = 0
    (record.cut, record.base) = (recovery.cut, record.token)
    var changes = notes.map { StoreNote($0.key, former: $0.value, value: nil) }
    var outbox: Outbox?
    if found.isEmpty {
      // Nothing was changed here.
    } else if recovery.isBase {
      record.sequence += 1
      found.sequence = record.sequence
      found.id = .random(in: .min ... .max)
      outbox = Outbox(sets: [found], model: plain.model.checksum, end: recovery.cut, base: record.token)
    } else {
      // It has no number among those that are sent.
      found.sequence = min(0, try conflicts().first?.sequence ?? 0) - 1
      found.id = .random(in: .min ... .max)
      let conflict = SyncConflict(
        try withContents(found),
        PushOutcome(sequence: found.sequence, id: found.id, verdict: .refused, reason: .unknownHistory))
      changes.append(StoreNote(Self.conflictName(found), former: nil, value: conflict.bytes(plain.model.checksum)))
    }
    if !recovery.isBase {
      // The next answer is whole: what is not at the server goes.
      record.token = ""
      record.also = []
    }
    changes += try keep(&outbox) + [state.change(outbox), state.change(record)]
    try save(changes)
  }

  /// What the program's model adds to the one whose values the store has got; nil if it is the same.
  private func addedModel(_ record: ReplicaRecord) throws -> ModelMatch? {
    record.wantsAll ? ModelMatch(from: try model(record.shownModel), to: plain.model) : nil
  }

  /// The first moment of the own history since which it says everything, and the store shows the same moment of the server.
  private func readableMoment() throws -> HistoryToken {
    var moments: [HistoryToken] = []
    var previous: HistoryTransaction?
    try plain.forEachTransaction(since: nil, until: nil) { save in
      let isMerge = save.author?.hasPrefix(Self.author) == true
      if isMerge || !save.isComplete && !save.isOfMigration(after: previous) { moments = [] }
      moments.append(save.token)
      previous = save
    }
    // Former values end at one moment for all.
    var (low, high) = (0, moments.count)
    while low < high {
      let middle = (low + high) / 2
      do {
        _ = try plain.newContext(asOf: moments[middle])
        high = middle
      } catch let error as StoreError where error.code == .historyExpired {
        low = middle + 1
      }
    }
    return low < moments.count ? moments[low] : try plain.historyToken()
  }
}

extension ReplicaRecord {
  /// The time since which changes are unsent. That of each is not known, and no change is taken for later than it is.
  fileprivate var cutTime: Int64 {
    let parts = cut.split(separator: ":")
    return parts.count == 4 ? Int64(parts[2]) ?? 0 : 0
  }
}
