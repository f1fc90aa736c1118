import TrellisModel
import TrellisRuntime
import TrellisStorage

// MARK: - Answers in parts

extension Replica {
  private static let partName = StoreNote.ofReplica + "part."

  /// A part of an answer that is kept as a note.
  struct StagedPart {
    let name: String
    let bytes: [UInt8]
    let answer: PullAnswer
  }

  func stagedParts(_ record: ReplicaRecord) throws -> [StagedPart] {
    guard let count = record.download?.staged, count > 0 else { return [] }
    let notes = try plain.notes(beginningWith: Self.partName) ?? [:]
    return try (0..<count).map { number in
      let name = Self.partName + String(number)
      guard let bytes = notes[name], case .pulled(let answer) = try SyncMessage(bytes) else {
        throw SyncError.damagedMessage
      }
      return StagedPart(name: name, bytes: bytes, answer: answer)
    }
  }

  /// Keeps a part until the next ones are here.
  func stage(
    _ answer: PullAnswer, _ next: AnswerPlace, _ record: ReplicaRecord, _ state: State
  ) throws -> Reception {
    var changed = record
    let number = record.download?.staged ?? 0
    changed.download = .init(
      token: answer.token, isWhole: answer.isWhole, scope: answer.scope, place: next,
      also: record.download?.also ?? [], staged: number + 1)
    try save(
      state.change(changed),
      StoreNote(Self.partName + String(number), former: nil, value: SyncMessage.pulled(answer).bytes))
    return .part
  }

  /// Gives up an answer of which parts are here. What they have brought stays, and comes again.
  func giveUpDownload() throws {
    let (state, former) = try registeredState()
    guard former.download != nil else { return }
    var record = former
    let parts = try giveUpDownload(&record)
    try save([state.change(record)] + parts)
  }

  /// - Returns: the change of the notes.
  func giveUpDownload(_ record: inout ReplicaRecord) throws -> [StoreNote] {
    guard let download = record.download else { return [] }
    record.also.formUnion(download.also)
    record.download = nil
    let notes = try plain.notes(beginningWith: Self.partName) ?? [:]
    return notes.map { StoreNote($0.key, former: $0.value, value: nil) }
  }
}
