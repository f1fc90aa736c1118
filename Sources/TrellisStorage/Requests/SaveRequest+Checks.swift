extension SaveRequest {
  /// Member counts to check inside the transaction, after everything is written, including writes of other contexts.
  public struct CountChecks {
    /// A relationship stored in the rows of its members or in a join table. The count for a to-one is at most 1.
    public var relationship: RelationshipNumber
    /// The owners with members to count. Owners that are not in the store are skipped.
    public var owners: [Int64]
    /// Deleted members of a relationship in a join table. The owners that had one of them as a member are checked, too.
    public var leaving: [Int64]
    /// The bounds of the count.
    public var least: Int
    public var most: Int
    /// Whether a count of 0 is valid as well.
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

    /// Whether a member count is valid.
    public func allows(_ count: Int) -> Bool {
      count <= most && (count >= least || count == 0 && mayBeEmpty)
    }

    /// The count at which counting can stop, because more members do not change the result.
    public var enough: Int { most == .max ? least : Swift.max(least, most + 1) }
  }

  /// Objects that are deleted only if no pair in a join table leads from them to a remaining object, including pairs
  /// that other contexts inserted.
  ///
  /// References in rows need no such check, because a foreign key prevents the delete of a referenced row.
  public struct RestrictChecks {
    /// The relationship of the deleted objects.
    public var relationship: RelationshipNumber
    public var owners: [Int64]

    public init(relationship: RelationshipNumber, owners: [Int64]) {
      self.relationship = relationship
      self.owners = owners
    }
  }
}

/// Violations that a save found inside its transaction, when no other writer could interfere. Nothing was written.
public struct ConstraintViolations: Error, Hashable, Sendable, CustomStringConvertible {
  /// An owner with too few or too many members.
  public struct Count: Hashable, Sendable {
    public var relationship: RelationshipNumber
    public var owner: Int64
    /// The number of members there would be.
    public var found: Int

    public init(relationship: RelationshipNumber, owner: Int64, found: Int) {
      self.relationship = relationship
      self.owner = owner
      self.found = found
    }
  }

  /// An object to delete, and a partner that prevents it.
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

  /// The number of violations. The context that saves reports them in detail.
  public var description: String {
    "Nothing was saved: \(counts.count) relationships would have too few or too many members, and \(denials.count) objects "
      + "have partners that forbid their delete."
  }
}
