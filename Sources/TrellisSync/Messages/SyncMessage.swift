import TrellisModel

/// What replicas and servers send to each other.
enum SyncMessage: Hashable, Sendable {
  case register(RegisterRequest)
  case registered(RegisterAnswer)
  case push(PushRequest)
  case pushed(PushAnswer)
  case pull(PullRequest)
  case pulled(PullAnswer)
  case fetch(ContentRequest)
  case fetched(ContentAnswer)
  /// The refusal of a request.
  case refused(code: String, message: String, remedy: String)
}

/// A replica asks for a number.
struct RegisterRequest: Hashable, Sendable {
  /// The identity that the replica has chosen at random.
  var identity: String
  var model: String
  /// The text of the model, if the server has asked for it.
  var text = ""
}

struct RegisterAnswer: Hashable, Sendable {
  var identity: String
  var number: Int64
  /// The time of the server's clock, in microseconds since 1970.
  var now: Int64
}

/// A replica sends what it has saved.
struct PushRequest: Hashable, Sendable {
  /// The largest number of change sets in a request.
  static let mostSets = 200

  var replica: Int64
  var model: String
  /// The time of the replica's clock, in microseconds since 1970.
  var now: Int64
  /// What the replica knows of the server's clock.
  var clocks: ClockDifference
  /// The change sets without an answer so far, in order.
  var sets: [ChangeSet]
  /// The change sets as a content, if they are too large for a message.
  var packed: PackedSets?
  /// Pieces of contents that the server has asked for. One without bytes asks where the content is missing.
  var pieces: [ContentPiece] = []
}

/// Change sets that are a content.
struct PackedSets: Hashable, Sendable {
  var content: ExternalFile
  /// The number and the identity of the last one.
  var last: Int64
  var id: UInt64
}

/// What has become of the change sets of a request.
struct PushAnswer: Hashable, Sendable {
  /// The server's clock minus the time in the request, in microseconds.
  var delay: Int64
  var outcomes: [PushOutcome]
  /// The contents that the server needs for the next change set, or has got pieces of, as far as they are not complete.
  var wanted: [ContentPlace] = []
}

/// What has become of a change set.
struct PushOutcome: Hashable, Sendable {
  enum Verdict: UInt8, Hashable, Sendable, CaseIterable {
    case accepted, merged, refused
  }

  var sequence: Int64
  var id: UInt64
  var verdict: Verdict
  /// What the server has decided otherwise.
  var losses: [SyncConflict.Loss] = []
  /// Why the change set was refused; nil if it was not.
  var reason: SyncConflict.Reason?
  /// The broken rules as sentences.
  var failures: [String] = []
  /// New objects that are others at the server, which have the same unique keys.
  var unions: [Union] = []

  struct Union: Hashable, Sendable {
    var key: Int64
    var survivor: Int64
  }
}

/// A replica asks for what has changed.
struct PullRequest: Hashable, Sendable {
  var replica: Int64
  var model: String
  /// The moment that the replica knows; empty for none.
  var since: String
  /// Objects that are sent in any case.
  var also: [Int64]
  /// Whether all objects are sent, whether they have changed or not.
  var isWhole = false
  /// The moment whose states are sent; empty for the present.
  var moment = ""
  /// The place after which the answer goes on.
  var place = AnswerPlace.start
  /// The scope that the replica asks for; nil for the one of replicas that ask for none.
  var scope: SyncScope.Request?
  /// The digest of the scope whose objects the replica has; empty for all objects.
  var known = ""
}

/// A place in an answer that comes in parts. The objects have the order of their root entities, and those of one the order
/// of their keys.
struct AnswerPlace: Hashable, Sendable {
  /// The number of the root entity in ``Model/answerOrder``. The keys that are gone come behind all objects.
  var group: Int
  /// The last key that was sent.
  var key: Int64
  /// The order that the place is in. That of a server with another version of the model is another one.
  var order: UInt64 = 0

  static let start = AnswerPlace(group: 0, key: 0)
}

extension AnswerPlace: Comparable {
  static func < (left: AnswerPlace, right: AnswerPlace) -> Bool { (left.group, left.key) < (right.group, right.key) }
}

/// What has changed at a server, or a part of it.
struct PullAnswer: Hashable, Sendable {
  /// What was asked for.
  struct Question: Hashable, Sendable {
    var model: String
    var since: String
    var also: [Int64]
    /// The digest of the scope whose objects the replica has.
    var known = ""
    var moment = ""
    var place = AnswerPlace.start
  }

  /// Keys of which all objects that the replica gets are in the answer.
  struct KeyRange: Hashable, Sendable {
    /// The root entity of the objects.
    var entity: Int
    /// The keys are greater.
    var after: Int64
    /// The last key.
    var through: Int64
  }

  var question: Question
  /// The moment whose states these are.
  var token: String
  /// The time of the server's clock, in microseconds since 1970.
  var now: Int64
  /// Whether all objects are sent, whether they have changed or not.
  var isWhole = false
  /// The place after which the next part begins; nil in the last one.
  var next: AnswerPlace?
  /// The number of the replica, and of its last change set that the moment has.
  var number: Int64
  var sequence: Int64
  var states: [ObjectState] = []
  /// Objects that are gone, if the answer is not whole.
  var gone: [Int64] = []
  /// The keys that the answer is about, if it is whole. Other objects with such keys are gone, or not in the scope.
  var ranges: [KeyRange] = []
  /// The digest of the scope whose objects the replica has after it; empty for all objects.
  var scope = ""
  /// Objects that are there, but not in the scope any more, if the answer is not whole.
  var left: [Int64] = []
  /// The members of ordered relationships that are stored in the rows of the members.
  var orders: [ChangeSet.OrderChange] = []
}

/// An object as it is, or a part of it.
struct ObjectState: Hashable, Sendable {
  struct Value: Hashable, Sendable {
    var property: Int
    var value: StoredValue
  }

  /// The members of a relationship that no row stores, in their order.
  struct Members: Hashable, Sendable {
    var property: Int
    var members: [Int64]
  }

  var key: Int64
  var entity: Int
  /// Whether all properties are there.
  var isWhole: Bool
  var values: [Value]
  var lists: [Members]
}

// MARK: - Bytes

extension SyncMessage {
  static let format: UInt8 = 1

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.byte(Self.format)
    switch self {
    case .register(let message):
      writer.byte(1)
      writer.text(message.identity)
      writer.text(message.model)
      writer.text(message.text)
    case .registered(let message):
      writer.byte(2)
      writer.text(message.identity)
      writer.signed(message.number)
      writer.signed(message.now)
    case .push(let message):
      writer.byte(3)
      writer.signed(message.replica)
      writer.text(message.model)
      writer.signed(message.now)
      message.clocks.write(to: &writer)
      writer.list(message.sets) { $1.write(to: &$0) }
      writer.byte(message.packed == nil ? 0 : 1)
      if let packed = message.packed { packed.write(to: &writer) }
      writer.list(message.pieces) { $0.piece($1) }
    case .pushed(let message):
      writer.byte(4)
      writer.signed(message.delay)
      writer.list(message.outcomes) { $1.write(to: &$0) }
      writer.list(message.wanted) { $0.place($1) }
    case .pull(let message):
      writer.byte(5)
      writer.signed(message.replica)
      writer.text(message.model)
      writer.text(message.since)
      writer.list(message.also) { $0.signed($1) }
      writer.byte(message.isWhole ? 1 : 0)
      writer.text(message.moment)
      writer.place(message.place)
      writer.optional(message.scope?.name)
      writer.list(message.scope?.parameters.sorted { $0.key < $1.key } ?? []) { writer, parameter in
        writer.text(parameter.key)
        writer.text(parameter.value)
      }
      writer.text(message.known)
    case .pulled(let message):
      writer.byte(6)
      message.write(to: &writer)
    case .fetch(let message):
      writer.byte(8)
      message.write(to: &writer)
    case .fetched(let message):
      writer.byte(9)
      writer.list(message.pieces) { $0.piece($1) }
    case .refused(let code, let message, let remedy):
      writer.byte(7)
      writer.text(code)
      writer.text(message)
      writer.text(remedy)
    }
    return writer.bytes
  }

  /// - Throws: ``SyncError``: `damagedMessage`, `newerMessage`.
  init(_ bytes: [UInt8]) throws(SyncError) {
    var reader = ByteReader(bytes)
    let format = try reader.byte()
    guard format <= Self.format else {
      throw SyncError(
        .newerMessage, "The message is of a newer version of Trellis.", remedy: "Update Trellis in this program.")
    }
    guard format == Self.format else { throw .damagedMessage }
    switch try reader.byte() {
    case 1:
      self = .register(
        RegisterRequest(identity: try reader.text(), model: try reader.text(), text: try reader.text()))
    case 2:
      self = .registered(
        RegisterAnswer(identity: try reader.text(), number: try reader.signed(), now: try reader.signed()))
    case 3:
      self = .push(
        PushRequest(
          replica: try reader.signed(), model: try reader.text(), now: try reader.signed(),
          clocks: try ClockDifference(&reader),
          sets: try reader.list { reader throws(SyncError) in try ChangeSet(&reader) },
          packed: try reader.flag() ? try PackedSets(&reader) : nil,
          pieces: try reader.list { reader throws(SyncError) in try reader.piece() }))
    case 4:
      self = .pushed(
        PushAnswer(
          delay: try reader.signed(),
          outcomes: try reader.list { reader throws(SyncError) in try PushOutcome(&reader) },
          wanted: try reader.list { reader throws(SyncError) in try reader.contentPlace() }))
    case 5:
      self = .pull(
        PullRequest(
          replica: try reader.signed(), model: try reader.text(), since: try reader.text(),
          also: try reader.list { reader throws(SyncError) in try reader.signed() }, isWhole: try reader.flag(),
          moment: try reader.text(), place: try reader.answerPlace(), scope: try SyncScope.Request(&reader),
          known: try reader.text()))
    case 6: self = .pulled(try PullAnswer(&reader))
    case 7: self = .refused(code: try reader.text(), message: try reader.text(), remedy: try reader.text())
    case 8: self = .fetch(try ContentRequest(&reader))
    case 9:
      self = .fetched(ContentAnswer(pieces: try reader.list { reader throws(SyncError) in try reader.piece() }))
    default: throw .damagedMessage
    }
    try reader.end()
  }
}

extension ByteWriter {
  mutating func place(_ place: AnswerPlace) {
    count(place.group)
    signed(place.key)
    number(place.order)
  }
}

extension ByteReader {
  mutating func answerPlace() throws(SyncError) -> AnswerPlace {
    AnswerPlace(group: try index(), key: try signed(), order: try number())
  }
}

extension PushOutcome {
  func write(to writer: inout ByteWriter) {
    writer.signed(sequence)
    writer.number(id)
    writer.byte(verdict.rawValue)
    writer.list(losses) { writer, loss in
      writer.signed(loss.key)
      writer.optional(loss.property)
      writer.text(loss.reason.rawValue)
    }
    writer.optional(reason?.rawValue)
    writer.list(failures) { $0.text($1) }
    writer.list(unions) { writer, union in
      writer.signed(union.key)
      writer.signed(union.survivor)
    }
  }

  init(_ reader: inout ByteReader) throws(SyncError) {
    sequence = try reader.signed()
    id = try reader.number()
    guard let verdict = Verdict(rawValue: try reader.byte()) else { throw .damagedMessage }
    self.verdict = verdict
    losses = try reader.list { reader throws(SyncError) in
      SyncConflict.Loss(
        key: try reader.signed(), property: try reader.optionalText(),
        reason: SyncConflict.Reason(rawValue: try reader.text()))
    }
    reason = try reader.optionalText().map { SyncConflict.Reason(rawValue: $0) }
    failures = try reader.list { reader throws(SyncError) in try reader.text() }
    unions = try reader.list { reader throws(SyncError) in
      Union(key: try reader.signed(), survivor: try reader.signed())
    }
  }
}

extension SyncScope.Request {
  fileprivate init?(_ reader: inout ByteReader) throws(SyncError) {
    let name = try reader.optionalText()
    let parameters = try reader.list { reader throws(SyncError) in (try reader.text(), try reader.text()) }
    guard let name else {
      if parameters.isEmpty { return nil }
      throw .damagedMessage
    }
    self.init(name, Dictionary(parameters) { _, last in last })
  }
}

extension PullAnswer {
  func write(to writer: inout ByteWriter) {
    writer.text(question.model)
    writer.text(question.since)
    writer.list(question.also) { $0.signed($1) }
    writer.text(question.known)
    writer.text(question.moment)
    writer.place(question.place)
    writer.text(token)
    writer.signed(now)
    writer.byte(isWhole ? 1 : 0)
    writer.byte(next == nil ? 0 : 1)
    if let next { writer.place(next) }
    writer.signed(number)
    writer.signed(sequence)
    writer.list(states) { writer, state in
      writer.signed(state.key)
      writer.count(state.entity)
      writer.byte(state.isWhole ? 1 : 0)
      writer.list(state.values) { writer, value in
        writer.count(value.property)
        writer.value(value.value)
      }
      writer.list(state.lists) { writer, list in
        writer.count(list.property)
        writer.list(list.members) { $0.signed($1) }
      }
    }
    writer.list(gone) { $0.signed($1) }
    writer.list(ranges) { writer, range in
      writer.count(range.entity)
      writer.signed(range.after)
      writer.signed(range.through)
    }
    writer.text(scope)
    writer.list(left) { $0.signed($1) }
    writer.list(orders) { writer, order in
      writer.count(order.entity)
      writer.count(order.property)
      writer.signed(order.owner)
      writer.list(order.members) { $0.signed($1) }
    }
  }

  init(_ reader: inout ByteReader) throws(SyncError) {
    question = Question(
      model: try reader.text(), since: try reader.text(),
      also: try reader.list { reader throws(SyncError) in try reader.signed() }, known: try reader.text(),
      moment: try reader.text(), place: try reader.answerPlace())
    token = try reader.text()
    now = try reader.signed()
    isWhole = try reader.flag()
    next = try reader.flag() ? try reader.answerPlace() : nil
    number = try reader.signed()
    sequence = try reader.signed()
    states = try reader.list { reader throws(SyncError) in
      ObjectState(
        key: try reader.signed(), entity: try reader.index(), isWhole: try reader.flag(),
        values: try reader.list { reader throws(SyncError) in
          ObjectState.Value(property: try reader.index(), value: try reader.value())
        },
        lists: try reader.list { reader throws(SyncError) in
          ObjectState.Members(
            property: try reader.index(),
            members: try reader.list { reader throws(SyncError) in try reader.signed() })
        })
    }
    gone = try reader.list { reader throws(SyncError) in try reader.signed() }
    ranges = try reader.list { reader throws(SyncError) in
      KeyRange(entity: try reader.index(), after: try reader.signed(), through: try reader.signed())
    }
    scope = try reader.text()
    left = try reader.list { reader throws(SyncError) in try reader.signed() }
    orders = try reader.list { reader throws(SyncError) in
      ChangeSet.OrderChange(
        entity: try reader.index(), property: try reader.index(), owner: try reader.signed(),
        members: try reader.list { reader throws(SyncError) in try reader.signed() })
    }
  }
}
