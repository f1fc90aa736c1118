/// Everything that one save writes: all of it or nothing.
///
/// Foreign keys hold at the end, not in between. A store may write in any order that keeps unique keys apart;
/// cascades, then deletes, then updates, then inserts is one.
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

  /// Changed rows of one entity. Each row's version must still be the record's, and grows by one.
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

  /// Rows of one entity that go. Each row's version must still be the one given. Their pairs in join tables go with them.
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

  /// Changed pairs of one join table. `first` is the key of the first end's object, `partner` the other's.
  ///
  /// A pair goes with either of its rows, unasked. For a relationship that is its own inverse a request has both
  /// directions, each with the place among its first's members.
  public struct Pairs {
    public struct Pair: Hashable, Sendable {
      public var first: Int64
      public var partner: Int64
      /// The partner's place among the first's members, and the first's among the partner's; nil where there is no order.
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
    /// Pairs that go. One that is not there is no error.
    public var removed: [Pair] = []
    /// Pairs that come. One that is there already, by another writer, is no error and keeps its places.
    public var added: [Pair] = []
    /// Pairs whose places change; a nil place leaves that one as it is.
    public var moved: [Pair] = []

    public init(table: Int) { self.table = table }
  }

  /// New places of members in an ordered one-to-many. They are no part of the row's version.
  public struct Places {
    public var entity: Int
    /// The column that holds the place, by number.
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

  /// References of a one-way relationship to objects that go: they become nil, whoever holds them. The holders' versions
  /// stay, as nobody edited them.
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
  /// Rows that no cascade takes along, as this save gives them another partner.
  public var keptFromCascades: [Int64] = []
  /// What must hold inside the transaction. They write nothing, so a request of these alone is empty.
  public var counts: [Counts] = []
  public var denials: [Denials] = []

  public init() {}

  /// Whether there is nothing to write.
  public var isEmpty: Bool {
    inserts.isEmpty && updates.isEmpty && deletes.isEmpty && pairs.isEmpty && places.isEmpty
      && clearedReferences.isEmpty && cascades.isEmpty
  }
}
