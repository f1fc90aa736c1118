import TrellisModel
import TrellisRuntime
import TrellisStorage

// MARK: - Versions of the model

extension Replica {
  private static let modelName = StoreNote.ofReplica + "model."

  /// What the store keeps, after the program's model was compared with that of the last exchange.
  ///
  /// A program with another model has read nothing of what it adds: the next answer is whole. Parts of answers have the
  /// numbers of the former model, so they come again. Change sets that wait for their answers name the model they are of, and
  /// so do conflicts.
  func adaptedState() throws -> (State, ReplicaRecord) {
    let (state, former) = try registeredState()
    let model = plain.model.checksum
    if former.model == model { return (state, former) }
    var record = former
    var changes = try giveUpDownload(&record)
    changes += try restartRecovery(&record)
    record.model = model
    let texts = try plain.notes(beginningWith: Self.modelName) ?? [:]
    var kept = Set([model, state.outbox?.model, record.shownModel].compactMap(\.self))
    for bytes in (try plain.notes(beginningWith: Self.conflictName) ?? [:]).values {
      kept.insert(try SyncConflict.model(of: bytes))
    }
    for (name, text) in texts where !kept.contains(String(name.dropFirst(Self.modelName.count))) {
      changes.append(StoreNote(name, former: text, value: nil))
    }
    if texts[Self.modelName + model] == nil {
      let text = Array(plain.model.description.canonicalJSON().utf8)
      changes.append(StoreNote(Self.modelName + model, former: nil, value: text))
    }
    try save([state.change(record)] + changes)
    return try registeredState()
  }

  /// A model that the program has or had.
  func model(_ checksum: String) throws -> Model {
    if checksum == plain.model.checksum { return plain.model }
    return try StoredModelReading.model(text(ofModel: checksum), checksum: checksum, of: "A replica")
  }

  /// The way to the program's model from one that it had; nil if it is the same.
  func numbers(ofModel checksum: String) throws -> ModelNumbers? {
    if checksum == plain.model.checksum { return nil }
    return ModelNumbers(forward: ModelMatch(from: try model(checksum), to: plain.model))
  }

  private func text(ofModel checksum: String) throws -> String {
    if checksum == plain.model.checksum { return plain.model.description.canonicalJSON() }
    let name = Self.modelName + checksum
    guard let text = try plain.notes(beginningWith: name)?[name] else { throw SyncError.damagedMessage }
    return String(decoding: text, as: UTF8.self)
  }

  /// The request that brings a server the text of a model.
  func introduction(ofModel checksum: String) throws -> RegisterRequest {
    guard let record = try state().record else { throw SyncError.unknownReplica }
    return RegisterRequest(identity: record.identity, model: checksum, text: try text(ofModel: checksum))
  }
}
