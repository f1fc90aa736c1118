package import TrellisModel

/// All changes of one save, written atomically.
///
/// Foreign keys hold at the end of the transaction, not in between. A store may write in any order that avoids
/// conflicts of unique keys, such as cascades, deletes, updates, inserts.
///
/// A request is filled once and then only read. It is a class, because a save passes it through many functions, and
/// copying a struct would retain each of its parts.
public final class SaveRequest {
  /// New rows of one entity.
  public struct Inserts {
    /// The number of the entity.
    public var entity: Int
    /// The new rows. Each begins with version 1, unless ``formerVersions`` has its key.
    public var records: [any StoredRecord]
    /// The last versions of rows that were deleted and come back with their keys, by key. Such a row begins with the
    /// version after it, so that a writer that has read the deleted row finds a conflict.
    public var formerVersions: [Int64: Int64] = [:]

    /// Creates the inserts of one entity.
    public init(entity: Int, records: [any StoredRecord]) {
      self.entity = entity
      self.records = records
    }

    /// The version that the row of a key begins with.
    package func version(of key: Int64) -> Int64 {
      guard let former = formerVersions[key], former > 0, former < .max else { return 1 }
      return former + 1
    }
  }

  /// Changed rows of one entity. Each row's version must equal the record's, and is incremented.
  public struct Updates {
    /// The number of the entity.
    public var entity: Int
    /// The rows, with the versions that they must still have.
    public var records: [any StoredRecord]
    /// The changed properties of each record.
    public var masks: [ColumnMask]
    /// The changed properties that have no bit of their own in a mask, by the place of the record.
    package var late: [Int: [Int]] = [:]

    /// Creates the updates of one entity.
    public init(entity: Int, records: [any StoredRecord] = [], masks: [ColumnMask] = []) {
      self.entity = entity
      self.records = records
      self.masks = masks
    }
  }

  /// Deleted rows of one entity. Each row's version must equal the given one. Their pairs in join tables are deleted,
  /// too.
  public struct Deletes {
    /// The number of the entity.
    public var entity: Int
    /// The keys of the rows.
    public var keys: [Int64]
    /// The versions that the rows must still have, in the order of the keys.
    public var versions: [Int64]

    /// Creates the deletes of one entity.
    public init(entity: Int, keys: [Int64] = [], versions: [Int64] = []) {
      self.entity = entity
      self.keys = keys
      self.versions = versions
    }
  }

  /// Changed pairs of one join table. `first` is the key of the first end's object, `partner` the key of the other.
  ///
  /// Deleting either row deletes the pair automatically. For a relationship that is its own inverse, a request contains
  /// both directions, each with the position among the members of its first object.
  public struct Pairs {
    /// A row of the join table.
    public struct Pair: Hashable, Sendable {
      /// The key of the object at the first end.
      public var first: Int64
      /// The key of the object at the second end.
      public var partner: Int64
      /// The partner's position among the members of the first object, and vice versa; nil if that side is unordered.
      public var place: Int64?
      /// The position among the members at the second end; nil if that end is not ordered.
      public var inversePlace: Int64?

      /// Creates a row of the join table.
      public init(first: Int64, partner: Int64, place: Int64? = nil, inversePlace: Int64? = nil) {
        self.first = first
        self.partner = partner
        self.place = place
        self.inversePlace = inversePlace
      }
    }

    /// The number of the join table in the model.
    public var table: Int
    /// Pairs to delete. A missing pair is no error.
    public var removed: [Pair] = []
    /// Pairs to insert. A pair that another writer inserted already is no error and keeps its positions.
    public var added: [Pair] = []
    /// Pairs to reorder. A nil position stays unchanged.
    public var moved: [Pair] = []

    /// Creates the changes of a join table, with none yet.
    public init(table: Int) { self.table = table }
  }

  /// New positions of members in an ordered one-to-many relationship. They do not affect the row version.
  public struct Places {
    /// The number of the members' entity.
    public var entity: Int
    /// The number of the column with the position.
    public var column: Int
    /// The keys of the members.
    public var keys: [Int64]
    /// The positions, in the order of the keys.
    public var places: [Int64]

    /// Creates the new positions of members.
    public init(entity: Int, column: Int, keys: [Int64] = [], places: [Int64] = []) {
      self.entity = entity
      self.column = column
      self.keys = keys
      self.places = places
    }
  }

  /// References of a one-way relationship to deleted objects. They become nil in all rows. The versions of these rows
  /// stay unchanged, because no user edited them.
  public struct ClearedReferences {
    /// The one-way relationship.
    public var relationship: RelationshipNumber
    /// The keys of the deleted objects.
    public var targets: [Int64]

    /// Creates the clearing of references to deleted objects.
    public init(relationship: RelationshipNumber, targets: [Int64]) {
      self.relationship = relationship
      self.targets = targets
    }
  }

  // Each access ends before anything else is called, so accesses cannot overlap and need no check.

  /// The rows to insert, by entity.
  @exclusivity(unchecked) public var inserts: [Inserts] = []
  /// The rows to update, by entity.
  @exclusivity(unchecked) public var updates: [Updates] = []
  /// The rows to delete, by entity.
  @exclusivity(unchecked) public var deletes: [Deletes] = []
  /// The changes of join tables.
  @exclusivity(unchecked) public var pairs: [Pairs] = []
  /// The positions of members whose rows do not change otherwise.
  @exclusivity(unchecked) public var places: [Places] = []
  /// The one-way references to clear.
  @exclusivity(unchecked) public var clearedReferences: [ClearedReferences] = []
  /// The cascades that the store carries out.
  @exclusivity(unchecked) public var cascades: [Cascades] = []
  /// Rows that no cascade deletes, because this save assigns them another partner.
  @exclusivity(unchecked) public var keptFromCascades: [Int64] = []
  /// Conditions that must hold inside the transaction. They write nothing, so a request with only conditions is empty.
  @exclusivity(unchecked) public var counts: [CountChecks] = []
  /// The checks of pairs that deny a delete.
  @exclusivity(unchecked) public var denials: [RestrictChecks] = []

  /// The author of the context that saves; nil if it has none.
  @exclusivity(unchecked) package var author: String?
  /// The notes to change.
  @exclusivity(unchecked) package var notes: [StoreNote] = []

  /// Creates a request that changes nothing.
  public init() {}

  /// A request with the same changes, for a store that passes a changed request on to another store.
  public func copy() -> SaveRequest {
    let copy = SaveRequest()
    copy.inserts = inserts
    copy.updates = updates
    copy.deletes = deletes
    copy.pairs = pairs
    copy.places = places
    copy.clearedReferences = clearedReferences
    copy.cascades = cascades
    copy.keptFromCascades = keptFromCascades
    copy.counts = counts
    copy.denials = denials
    copy.author = author
    copy.notes = notes
    return copy
  }

  /// Whether there is nothing to write.
  public var isEmpty: Bool {
    inserts.isEmpty && updates.isEmpty && deletes.isEmpty && pairs.isEmpty && places.isEmpty
      && clearedReferences.isEmpty && cascades.isEmpty && notes.isEmpty
  }
}

// MARK: - Deleted rows

/// The rows and pairs that a save removes, to check whether a pair prevents a delete.
package struct DeletedRows {
  private struct Pair: Hashable {
    let table: Int
    let first: Int64
    let partner: Int64
  }

  private var keys: Set<Int64> = []
  private var pairs: Set<Pair> = []

  package init(_ request: SaveRequest) {
    for group in request.deletes { keys.formUnion(group.keys) }
    for group in request.pairs {
      for pair in group.removed { pairs.insert(Pair(table: group.table, first: pair.first, partner: pair.partner)) }
    }
  }

  /// Whether a pair that contains a deleted object is removed as well: the partner is deleted, too, or the pair is
  /// removed.
  package func takes(_ table: Int, _ owner: Int64, _ partner: Int64, isFirst: Bool) -> Bool {
    keys.contains(partner)
      || pairs.contains(
        isFirst
          ? Pair(table: table, first: owner, partner: partner) : Pair(table: table, first: partner, partner: owner))
  }
}

extension SaveRequest {
  /// The rows and pairs that the save removes.
  ///
  /// - Complexity: linear in the number of deleted rows and removed pairs.
  package var departures: DeletedRows { DeletedRows(self) }
}

// MARK: - Cascades

extension SaveRequest {
  /// A cascade from deleted owners: their members, the members of these, and so on are deleted, including those that
  /// other contexts inserted. The store finds the rows itself, so the caller need not load them.
  ///
  /// The cascade follows relationships with the delete rule `cascade` that are stored in the rows of their members.
  /// Pairs in join tables are deleted with their rows, and one-way references to deleted rows become nil. The caller
  /// guarantees that no other rules apply further down: a reference that would dangle makes the save fail.
  public struct Cascades {
    /// A relationship that is stored in the rows of its members.
    public var relationship: RelationshipNumber
    /// The keys of the deleted owners.
    public var owners: [Int64]

    /// Creates the cascade of deleted owners.
    public init(relationship: RelationshipNumber, owners: [Int64]) {
      self.relationship = relationship
      self.owners = owners
    }
  }
}

/// The effects of a save beyond its request.
public struct SaveOutcome: Hashable, Sendable {
  /// The keys of the rows that cascades deleted.
  public var cascaded: [Int64]

  /// Creates the outcome of a save.
  public init(cascaded: [Int64] = []) { self.cascaded = cascaded }
}

extension Model {
  /// The relationships that continue a cascade from the rows of an entity and its descendants.
  ///
  /// - Complexity: linear in the number of their properties.
  package func furtherCascades(from entity: Int) -> [RelationshipNumber] {
    relationships(below: entity, \.cascadesInStore)
  }

  /// The one-way references that may lead to rows of an entity and its descendants.
  ///
  /// - Complexity: linear in the number of properties of the model.
  package func oneWayColumns(to entity: Int) -> [RelationshipNumber] {
    entities.filter { $0.parent == nil }.flatMap { root in
      relationships(below: root.index) { relationship in
        relationship.inverse == nil && relationship.column != nil
          && entities[relationship.destination].root == entities[entity].root
      }
    }
  }

  /// The one-way relationships in join tables that may lead to rows of an entity.
  ///
  /// - Complexity: linear in the number of properties of the model.
  func oneWayPairs(to entity: Int) -> [Relationship] {
    entities.flatMap { source in
      source.properties.compactMap(\.relationship).filter { relationship in
        relationship.entity == source.index && relationship.inverse == nil && relationship.isJoined
          && entities[relationship.destination].subtree.contains(entity)
      }
    }
  }

  /// The relationship with a number; nil if there is none.
  package func relationship(_ number: RelationshipNumber) -> Relationship? {
    guard entities.indices.contains(number.entity) else { return nil }
    let properties = entities[number.entity].properties
    return properties.indices.contains(number.property) ? properties[number.property].relationship : nil
  }

  private func relationships(below entity: Int, _ isWanted: (Relationship) -> Bool) -> [RelationshipNumber] {
    var found: [RelationshipNumber] = []
    for number in entities[entity].subtree {
      for case .relationship(let relationship) in entities[number].properties where isWanted(relationship) {
        // An inherited relationship is found at its declaring entity, or at the top of the searched subtree.
        guard relationship.entity == number || number == entity else { continue }
        found.append(relationship.number)
      }
    }
    return found
  }
}

extension Relationship {
  /// The relationship's identification by the number of the entity that declares it.
  package var number: RelationshipNumber { RelationshipNumber(entity: entity, property: index) }
}

// MARK: - Checks

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
    /// The largest number of members; `Int.max` for no bound.
    public var most: Int
    /// Whether a count of 0 is valid as well.
    public var mayBeEmpty: Bool

    /// Creates the check of the number of members.
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
    /// The keys of the deleted objects.
    public var owners: [Int64]

    /// Creates the check of pairs that deny a delete.
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
    /// The counted relationship.
    public var relationship: RelationshipNumber
    /// The key of the owner.
    public var owner: Int64
    /// The number of members there would be.
    public var found: Int

    /// Creates the entry of an owner with a wrong number of members.
    public init(relationship: RelationshipNumber, owner: Int64, found: Int) {
      self.relationship = relationship
      self.owner = owner
      self.found = found
    }
  }

  /// An object to delete, and a partner that prevents it.
  public struct Denial: Hashable, Sendable {
    /// The relationship whose delete rule denies it.
    public var relationship: RelationshipNumber
    /// The key of the deleted object.
    public var owner: Int64
    /// The key of the partner that denies the delete.
    public var partner: Int64

    /// Creates the entry of a partner that denies a delete.
    public init(relationship: RelationshipNumber, owner: Int64, partner: Int64) {
      self.relationship = relationship
      self.owner = owner
      self.partner = partner
    }
  }

  /// The owners with too few or too many members.
  public var counts: [Count]
  /// The partners that deny deletes.
  public var denials: [Denial]

  /// Creates the violations that a store has found.
  public init(counts: [Count] = [], denials: [Denial] = []) {
    self.counts = counts
    self.denials = denials
  }

  /// Whether there are no violations.
  public var isEmpty: Bool { counts.isEmpty && denials.isEmpty }

  /// The number of violations. The context that saves reports them in detail.
  public var description: String {
    "Nothing was saved: \(counts.count) relationships would have too few or too many members, and \(denials.count) objects "
      + "have partners that forbid their delete."
  }
}
