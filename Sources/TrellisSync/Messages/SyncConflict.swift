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

  /// - Parameter model: The model of the numbers in the changes. Their names are kept, because a later version of the
  ///   program may have other numbers.
  func bytes(_ model: Model) -> [UInt8] {
    var writer = ByteWriter()
    writer.byte(1)
    changes.write(to: &writer)
    writer.list(changes.numbers.sorted { $0.key < $1.key }) { writer, numbers in
      let (entity, properties) = numbers
      writer.count(entity)
      writer.text(model.entities.indices.contains(entity) ? model.entities[entity].name : "")
      writer.list(properties.sorted()) { writer, property in
        writer.count(property)
        writer.text(model.property(entity, property)?.name ?? "")
      }
    }
    PushOutcome(
      sequence: sequence, id: changes.id, verdict: reason == nil ? .merged : .refused, losses: losses, reason: reason,
      failures: failures
    ).write(to: &writer)
    return writer.bytes
  }

  /// - Parameter model: The model of the program. What it does not have is left out.
  init(_ bytes: [UInt8], _ model: Model) throws(SyncError) {
    var reader = ByteReader(bytes)
    guard try reader.byte() == 1 else { throw .damagedMessage }
    let changes = try ChangeSet(&reader)
    var names: [Int: (name: String, properties: [Int: String])] = [:]
    for (entity, name, properties) in try reader.list({ reader throws(SyncError) in
      (
        try reader.index(), try reader.text(),
        try reader.list { reader throws(SyncError) in (try reader.index(), try reader.text()) }
      )
    }) {
      names[entity] = (name, Dictionary(properties) { first, _ in first })
    }
    self.init(changes.numbered(by: names, in: model), try PushOutcome(&reader))
    try reader.end()
  }

  /// The same conflict with the numbers of another version of the model.
  func numbered(from older: Model, to newer: Model) throws(SyncError) -> SyncConflict {
    older.checksum == newer.checksum ? self : try SyncConflict(bytes(older), newer)
  }
}

extension ChangeSet {
  /// The numbers of the entities in the change set, and of their properties.
  fileprivate var numbers: [Int: Set<Int>] {
    var numbers: [Int: Set<Int>] = [:]
    for object in objects { numbers[object.entity, default: []].formUnion(object.values.map(\.property)) }
    for pair in pairs { numbers[pair.entity, default: []].insert(pair.property) }
    for order in orders { numbers[order.entity, default: []].insert(order.property) }
    return numbers
  }

  /// The same changes with a model's numbers for some names, as far as it has these.
  fileprivate func numbered(by names: [Int: (name: String, properties: [Int: String])], in model: Model) -> ChangeSet {
    let none = Int.max
    func entity(_ number: Int) -> Int { names[number].flatMap { model.entity(named: $0.name)?.index } ?? none }
    func property(_ number: Int, _ property: Int) -> Int {
      guard let name = names[number]?.properties[property] else { return none }
      return model.entity(named: names[number]?.name ?? "")?.property(named: name)?.index ?? none
    }
    var set = numbered(entity: entity, property: property)
    set.objects = set.objects.compactMap { object in
      var object = object
      object.values.removeAll { $0.property == none }
      return object.entity == none ? nil : object
    }
    set.pairs.removeAll { $0.property == none }
    set.orders.removeAll { $0.property == none }
    return set
  }
}
