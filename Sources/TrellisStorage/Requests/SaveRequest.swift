/// All changes of one save, written atomically.
///
/// Foreign keys hold at the end of the transaction, not in between. A store may write in any order that avoids
/// conflicts of unique keys, such as cascades, deletes, updates, inserts.
public struct SaveRequest {
  /// New rows of one entity.
  public struct Inserts {
    public var entity: Int
    public var records: [any StoredRecord]

    public init(entity: Int, records: [any StoredRecord]) {
      self.entity = entity
      self.records = records
    }
  }

  /// Changed rows of one entity. Each row's version must equal the record's, and is incremented.
  public struct Updates {
    public var entity: Int
    public var records: [any StoredRecord]
    /// The changed properties of each record.
    public var masks: [ColumnMask]

    public init(entity: Int, records: [any StoredRecord] = [], masks: [ColumnMask] = []) {
      self.entity = entity
      self.records = records
      self.masks = masks
    }
  }

  /// Deleted rows of one entity. Each row's version must equal the given one. Their pairs in join tables are deleted,
  /// too.
  public struct Deletes {
    public var entity: Int
    public var keys: [Int64]
    public var versions: [Int64]

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
    public struct Pair: Hashable, Sendable {
      public var first: Int64
      public var partner: Int64
      /// The partner's position among the members of the first object, and vice versa; nil if that side is unordered.
      public var place: Int64?
      public var inversePlace: Int64?

      public init(first: Int64, partner: Int64, place: Int64? = nil, inversePlace: Int64? = nil) {
        self.first = first
        self.partner = partner
        self.place = place
        self.inversePlace = inversePlace
      }
    }

    public var table: Int
    /// Pairs to delete. A missing pair is no error.
    public var removed: [Pair] = []
    /// Pairs to insert. A pair that another writer inserted already is no error and keeps its positions.
    public var added: [Pair] = []
    /// Pairs to reorder. A nil position stays unchanged.
    public var moved: [Pair] = []

    public init(table: Int) { self.table = table }
  }

  /// New positions of members in an ordered one-to-many relationship. They do not affect the row version.
  public struct Places {
    public var entity: Int
    /// The number of the column with the position.
    public var column: Int
    public var keys: [Int64]
    public var places: [Int64]

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
    public var relationship: RelationshipNumber
    public var targets: [Int64]

    public init(relationship: RelationshipNumber, targets: [Int64]) {
      self.relationship = relationship
      self.targets = targets
    }
  }

  public var inserts: [Inserts] = []
  public var updates: [Updates] = []
  public var deletes: [Deletes] = []
  public var pairs: [Pairs] = []
  public var places: [Places] = []
  public var clearedReferences: [ClearedReferences] = []
  public var cascades: [Cascades] = []
  /// Rows that no cascade deletes, because this save assigns them another partner.
  public var keptFromCascades: [Int64] = []
  /// Conditions that must hold inside the transaction. They write nothing, so a request with only conditions is empty.
  public var counts: [CountChecks] = []
  public var denials: [RestrictChecks] = []

  public init() {}

  /// Whether there is nothing to write.
  public var isEmpty: Bool {
    inserts.isEmpty && updates.isEmpty && deletes.isEmpty && pairs.isEmpty && places.isEmpty
      && clearedReferences.isEmpty && cascades.isEmpty
  }
}
