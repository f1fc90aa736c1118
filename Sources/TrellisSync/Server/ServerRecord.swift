import TrellisStorage

/// What a server keeps in its store about a replica.
struct ServerRecord: Hashable {
  static let prefix = "\(StoreNote.ofServer)replica."
  static func name(_ number: Int64) -> String { "\(prefix)\(number)." }

  var number: Int64
  /// The user who has registered it; nil if the server's program named none.
  private(set) var user: String?
  /// The number of the last change set.
  private(set) var last: Int64 = 0
  /// The answers that the replica may not have received.
  private(set) var outcomes: [PushOutcome] = []
  /// The bytes of ``outcomes``. Each change set writes all of them, so they are kept.
  private var outcomeBytes: [UInt8] = []

  init(number: Int64, user: String? = nil) { (self.number, self.user) = (number, user) }

  func outcome(_ sequence: Int64) -> PushOutcome? { outcomes.last { $0.sequence == sequence } }

  /// New objects of the replica that were united with others, as far as the replica may not know it.
  var aliases: [Int64: Int64] {
    var aliases: [Int64: Int64] = [:]
    for outcome in outcomes where !outcome.unions.isEmpty {
      for union in outcome.unions { aliases[union.key] = union.survivor }
    }
    return aliases
  }

  /// - Parameter first: The number of the first change set whose answer the replica has not received.
  mutating func add(_ outcome: PushOutcome, first: Int64) {
    if outcomes.first.map({ $0.sequence < first }) == true {
      outcomes.removeAll { $0.sequence < first }
      outcomeBytes = outcomes.flatMap(Self.bytes)
    }
    outcomes.append(outcome)
    outcomeBytes += Self.bytes(outcome)
    last = outcome.sequence
  }

  private static func bytes(_ outcome: PushOutcome) -> [UInt8] {
    var writer = ByteWriter()
    outcome.write(to: &writer)
    return writer.bytes
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.byte(1)
    writer.signed(number)
    writer.optional(user)
    writer.signed(last)
    writer.count(outcomes.count)
    return writer.bytes + outcomeBytes
  }

  init(_ bytes: [UInt8]) throws(SyncError) {
    var reader = ByteReader(bytes)
    guard try reader.byte() == 1 else { throw .damagedMessage }
    number = try reader.signed()
    user = try reader.optionalText()
    last = try reader.signed()
    outcomes = try reader.list { reader throws(SyncError) in try PushOutcome(&reader) }
    try reader.end()
    outcomeBytes = outcomes.flatMap(Self.bytes)
  }
}
