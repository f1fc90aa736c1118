import TrellisModel
import TrellisStorage

/// What a replica keeps in its store about itself.
struct ReplicaRecord: Hashable {
  static let name = StoreNote.ofReplica + "self"

  /// The identity that it has chosen at random.
  var identity: String
  /// The number that the server has given it; 0 if it is not registered.
  var number: Int64 = 0
  /// The server's moment that the store shows, beside its own unsent changes; empty for none.
  var token = ""
  /// The digest of the scope whose objects the store shows; empty for all objects.
  var scope = ""
  /// The number of the last change set.
  var sequence: Int64 = 0
  /// The moment of the store's own history up to which the server has answered.
  var cut = ""
  /// The server's moment that the store showed then.
  var base = ""
  /// The number of change sets after the cut that the server has answered already.
  var answered: Int64 = 0
  /// Whether the server has answered change sets since the moment ``token``, which does not have what it took of them.
  var hasNewAnswers = false
  /// The objects that the server has to send in any case, because the store shows them otherwise.
  var also: Set<Int64> = []
  /// What is certain about the difference of the clocks.
  var clocks = ClockDifference()
  /// New objects that are others at the server.
  var aliases: [Int64: Int64] = [:]
  /// The answer that is received in parts; nil between answers.
  var download: Download?
  /// The comparison with what the server had; nil if the history says what is unsent.
  var recovery: Recovery?
  /// The model of the program that exchanged last.
  var model = ""
  /// The model whose values the store has got; empty before the first answer.
  var shownModel = ""

  /// Whether the next answer has to be whole, because the store has not got the values of what its model adds.
  var wantsAll: Bool { !shownModel.isEmpty && shownModel != model }

  /// How far an answer in parts was received.
  struct Download: Hashable {
    /// The moment whose states are received.
    var token: String
    /// Whether all objects are.
    var isWhole: Bool
    /// The digest of the scope whose objects are received; empty for all objects.
    var scope: String
    /// The place after which the next part begins.
    var place: AnswerPlace
    /// The objects that the store shows otherwise, so far.
    var also: Set<Int64>
    /// The number of parts that are kept as notes, because they do not obey the rules by themselves.
    var staged: Int64
  }

  /// How far the store was compared with a moment of the server, because its own history does not reach back.
  struct Recovery: Hashable {
    /// The moment of the own history as of which the store is compared.
    var cut: String
    /// The moment of the server; empty until the server has chosen one.
    var token: String
    /// Whether the server's moment is the one that the store showed. Otherwise it is not known who has changed something.
    var isBase: Bool
    var place: AnswerPlace
    /// The number of notes with differences.
    var found: Int64
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.byte(1)
    writer.text(identity)
    writer.signed(number)
    writer.text(token)
    writer.text(scope)
    writer.signed(sequence)
    writer.text(cut)
    writer.text(base)
    writer.signed(answered)
    clocks.write(to: &writer)
    writer.list(also.sorted()) { $0.signed($1) }
    writer.list(aliases.sorted { $0.key < $1.key }) { writer, alias in
      writer.signed(alias.key)
      writer.signed(alias.value)
    }
    writer.byte(download == nil ? 0 : 1)
    if let download {
      writer.text(download.token)
      writer.byte(download.isWhole ? 1 : 0)
      writer.text(download.scope)
      writer.place(download.place)
      writer.list(download.also.sorted()) { $0.signed($1) }
      writer.signed(download.staged)
    }
    writer.byte(recovery == nil ? 0 : 1)
    if let recovery {
      writer.text(recovery.cut)
      writer.text(recovery.token)
      writer.byte(recovery.isBase ? 1 : 0)
      writer.place(recovery.place)
      writer.signed(recovery.found)
    }
    writer.text(model)
    writer.text(shownModel)
    writer.byte(hasNewAnswers ? 1 : 0)
    return writer.bytes
  }

  init(identity: String) { self.identity = identity }

  init(_ bytes: [UInt8]) throws(SyncError) {
    var reader = ByteReader(bytes)
    guard try reader.byte() == 1 else { throw .damagedMessage }
    identity = try reader.text()
    number = try reader.signed()
    token = try reader.text()
    scope = try reader.text()
    sequence = try reader.signed()
    cut = try reader.text()
    base = try reader.text()
    answered = try reader.signed()
    clocks = try ClockDifference(&reader)
    also = Set(try reader.list { reader throws(SyncError) in try reader.signed() })
    for (key, value) in try reader.list({ reader throws(SyncError) in (try reader.signed(), try reader.signed()) }) {
      aliases[key] = value
    }
    if try reader.flag() {
      download = Download(
        token: try reader.text(), isWhole: try reader.flag(), scope: try reader.text(), place: try reader.answerPlace(),
        also: Set(try reader.list { reader throws(SyncError) in try reader.signed() }), staged: try reader.signed())
    }
    if try reader.flag() {
      recovery = Recovery(
        cut: try reader.text(), token: try reader.text(), isBase: try reader.flag(), place: try reader.answerPlace(),
        found: try reader.signed())
    }
    model = try reader.text()
    shownModel = try reader.text()
    hasNewAnswers = try reader.flag()
    try reader.end()
  }
}

/// The change sets that a replica has sent, or is about to send, and that have no answer yet.
struct Outbox: Hashable {
  static let name = StoreNote.ofReplica + "outbox"

  /// The change sets; none if they are a content.
  var sets: [ChangeSet]
  /// The change sets as a content, if they are too large for a message.
  var packed: PackedSets?
  /// The model that the numbers in the change sets are of.
  var model: String
  /// The moment of the store's own history after the last one, and the server's moment that the store showed then.
  var end: String
  var base: String

  /// The contents that are known without unpacking others, each once, in the order in which they are needed.
  var contents: [ExternalFile] {
    if let packed { return [packed.content] }
    var seen: Set<ExternalFile> = []
    return sets.flatMap { set in
      set.contents.filter { seen.insert($0).inserted }.sorted { $0.reference < $1.reference }
    }
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.byte(1)
    writer.list(sets) { $1.write(to: &$0) }
    writer.text(model)
    writer.text(end)
    writer.text(base)
    packed?.write(to: &writer)
    return writer.bytes
  }

  init(sets: [ChangeSet], model: String, end: String, base: String) {
    (self.sets, self.model, self.end, self.base) = (sets, model, end, base)
  }

  /// An outbox without change sets.
  init(like other: Outbox) { self.init(sets: [], model: other.model, end: other.end, base: other.base) }

  init(_ bytes: [UInt8]) throws(SyncError) {
    var reader = ByteReader(bytes)
    guard try reader.byte() == 1 else { throw .damagedMessage }
    sets = try reader.list { reader throws(SyncError) in try ChangeSet(&reader) }
    model = try reader.text()
    end = try reader.text()
    base = try reader.text()
    if !reader.isAtEnd { packed = try PackedSets(&reader) }
    try reader.end()
  }
}
