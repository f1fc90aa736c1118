public import TrellisQuery

/// What a fetch asks of a store.
public struct StoreRequest: Sendable {
  /// The entity, by number.
  public var entity: Int
  /// Whether objects of the entities below it are wanted too.
  public var includesSubentities: Bool
  public var predicate: QueryPredicate?
  /// Ties, and a fetch without sort keys, go by the object's key, in the direction of the last sort key.
  public var sort: [SortKey]
  public var limit: Int?
  public var offset: Int

  public init(
    entity: Int, includesSubentities: Bool = true, predicate: QueryPredicate? = nil, sort: [SortKey] = [],
    limit: Int? = nil, offset: Int = 0
  ) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.predicate = predicate
    self.sort = sort
    self.limit = limit
    self.offset = offset
  }
}

/// A relationship by the numbers of its entity and property.
public struct RelationshipNumber: Hashable, Sendable {
  public var entity: Int
  public var property: Int

  public init(entity: Int, property: Int) {
    self.entity = entity
    self.property = property
  }
}
