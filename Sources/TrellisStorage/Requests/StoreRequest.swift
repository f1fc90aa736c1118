public import TrellisQuery

/// A fetch request to a store.
public struct StoreRequest: Sendable {
  /// The number of the entity.
  public var entity: Int
  /// Whether the results include objects of descendant entities.
  public var includesSubentities: Bool
  public var predicate: QueryPredicate?
  /// The sort keys. Ties are broken by the object's key, in the direction of the last sort key. Without sort keys,
  /// objects sort by their keys.
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

/// A relationship, identified by the numbers of its entity and property.
public struct RelationshipNumber: Hashable, Sendable {
  public var entity: Int
  public var property: Int

  public init(entity: Int, property: Int) {
    self.entity = entity
    self.property = property
  }
}
