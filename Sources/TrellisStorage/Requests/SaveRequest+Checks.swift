extension SaveRequest {
  /// Numbers of members that must be right once everything is written, whoever else has written meanwhile.
  public struct Counts {
    /// A relationship whose members hold the reference, or lie in a join table. That of a to-one has one member at most.
    public var relationship: RelationshipNumber
    /// Whose members are counted. Those that are not in the store are left out.
    public var owners: [Int64]
    /// Objects that go, of a relationship in a join table: whoever had one of them for a member is counted too.
    public var leaving: [Int64]
    /// The bounds that each number must lie within.
    public var least: Int
    public var most: Int
    /// Whether no members at all are right, too.
    public var mayBeEmpty: Bool

    public init(
      relationship: RelationshipNumber, owners: [Int64] = [], leaving: [Int64] = [], least: Int = 0, most: Int = .max,
      mayBeEmpty: Bool = false
    ) {
      self.relationship = relationship
      self.owners = owners
      self.leaving = leaving
      self.least = least
      self.most = most
      self.mayBeEmpty = mayBeEmpty
    }

    /// Whether a number of members is right.
    public func allows(_ count: Int) -> Bool {
      count <= most && (count >= least || count == 0 && mayBeEmpty)
    }

    /// A number of members at which counting may stop, as more of them change nothing.
    public var enough: Int { most == .max ? least : Swift.max(least, most + 1) }
  }

  /// Objects that go only if no pair in a join table leads from them to an object that stays, whoever has made it.
  ///
  /// References in rows need none: a row that is referred to cannot go.
  public struct Denials {
    /// The relationship from the objects that go.
    public var relationship: RelationshipNumber
    public var owners: [Int64]

    public init(relationship: RelationshipNumber, owners: [Int64]) {
      self.relationship = relationship
      self.owners = owners
    }
  }
}

/// What a save found broken inside its transaction, where nobody else can write any more. Nothing was written.
public struct BrokenRules: Error, Hashable, Sendable, CustomStringConvertible {
  /// An owner with too few or too many members.
  public struct Count: Hashable, Sendable {
    public var relationship: RelationshipNumber
    public var owner: Int64
    /// How many members there would be.
    public var found: Int

    public init(relationship: RelationshipNumber, owner: Int64, found: Int) {
      self.relationship = relationship
      self.owner = owner
      self.found = found
    }
  }

  /// An object that was to go, and a partner that forbids it.
  public struct Denial: Hashable, Sendable {
    public var relationship: RelationshipNumber
    public var owner: Int64
    public var partner: Int64

    public init(relationship: RelationshipNumber, owner: Int64, partner: Int64) {
      self.relationship = relationship
      self.owner = owner
      self.partner = partner
    }
  }

  public var counts: [Count]
  public var denials: [Denial]

  public init(counts: [Count] = [], denials: [Denial] = []) {
    self.counts = counts
    self.denials = denials
  }

  public var isEmpty: Bool { counts.isEmpty && denials.isEmpty }

  /// How many rules are broken. Whoever saves says which, and in words.
  public var description: String {
    "Nothing was saved: \(counts.count) relationships would have too few or too many members, and \(denials.count) objects "
      + "have partners that forbid their delete."
  }
}
