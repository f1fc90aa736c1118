import TrellisModel

/// What the server did not take of a replica's save.
///
/// It stays in the replica's store until the program removes it. The replica shows the server's objects meanwhile.
public struct SyncConflict: Hashable, Sendable {
  /// Why the server did not take something. More reasons may be added.
  public struct Reason: RawRepresentable, Hashable, Sendable {
    /// The reason as text.
    public let rawValue: String

    /// Creates a reason from text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// An object that the save changed was deleted at the server.
    public static let deleted = Reason(rawValue: "deleted")
    /// An object that the save deleted was changed at the server.
    public static let changed = Reason(rawValue: "changed")
    /// The server's value of the property is later, or wins by the model's policy.
    public static let overruled = Reason(rawValue: "overruled")
    /// A partner is gone.
    public static let partnerGone = Reason(rawValue: "partner-gone")
    /// The server's objects and the changes together would break rules of the model.
    public static let brokenRules = Reason(rawValue: "broken-rules")
    /// The user may not change what the save has changed.
    public static let notAllowed = Reason(rawValue: "not-allowed")
    /// Neither history reaches back to the last exchange, so it is not known which side has made the differences. Those of
    /// the replica are the new values, those of the server the former ones.
    public static let unknownHistory = Reason(rawValue: "unknown-history")
    /// The server refuses values that no program of this model writes.
    public static let unknownValues = Reason(rawValue: "unknown-values")
  }

  /// A part of a save that the server has decided otherwise.
  public struct Loss: Hashable, Sendable {
    /// The key of the object.
    public let key: Int64
    /// The name of the property; nil for the object as a whole.
    public let property: String?
    /// The reason.
    public let reason: Reason
  }

  /// What the save has changed, with the values before and after it.
  public let changes: ChangeSet
  /// Why the whole save was refused; nil if only parts of it were decided otherwise.
  public let reason: Reason?
  /// The broken rules, or what is not allowed, as sentences.
  public let failures: [String]
  /// The parts that were decided otherwise.
  public let losses: [Loss]

  /// The number of the save among those of the replica; 0 or less if it stands for several saves that were not sent.
  public var sequence: Int64 { changes.sequence }
}

extension SyncConflict: CustomStringConvertible {
  /// The reason, and the number of objects.
  public var description: String {
    let what = reason.map { "was refused [\($0.rawValue)]" } ?? "was merged, without \(losses.count) of its changes"
    let rules = failures.isEmpty ? "" : ": " + failures.joined(separator: " ")
    return "save \(sequence) of \(changes.objects.count) objects \(what)\(rules)"
  }
}

extension SyncConflict {
  init(_ changes: ChangeSet, _ outcome: PushOutcome) {
    self.changes = changes
    reason = outcome.reason
    failures = outcome.failures
    losses = outcome.losses
  }

  /// - Parameter model: The checksum of the model whose numbers are in the changes.
  func bytes(_ model: String) -> [UInt8] {
    var writer = ByteWriter()
    writer.byte(1)
    writer.text(model)
    changes.write(to: &writer)
    PushOutcome(
      sequence: sequence, id: changes.id, verdict: reason == nil ? .merged : .refused, losses: losses, reason: reason,
      failures: failures
    ).write(to: &writer)
    return writer.bytes
  }

  /// - Parameter numbers: The way to the program's model from the one with a checksum; nil if it is the same. What the
  ///   program's model does not have is left out.
  init(_ bytes: [UInt8], _ numbers: (String) throws -> ModelNumbers?) throws {
    var reader = ByteReader(bytes)
    guard try reader.byte() == 1 else { throw SyncError.damagedMessage }
    let model = try reader.text()
    let conflict = SyncConflict(try ChangeSet(&reader), try PushOutcome(&reader))
    try reader.end()
    self = try numbers(model).map(conflict.numbered) ?? conflict
  }

  /// The checksum of the model whose numbers a conflict has.
  static func model(of bytes: [UInt8]) throws(SyncError) -> String {
    var reader = ByteReader(bytes)
    guard try reader.byte() == 1 else { throw .damagedMessage }
    return try reader.text()
  }

  /// The same conflict with the numbers and names of another version of the model.
  func numbered(by numbers: ModelNumbers) -> SyncConflict {
    SyncConflict(
      changes: changes.numbered(by: numbers).withoutUnknown, reason: reason, failures: failures,
      losses: numbers.translated(losses, of: changes))
  }
}
