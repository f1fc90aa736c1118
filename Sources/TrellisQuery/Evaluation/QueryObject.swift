public import TrellisSchema

/// What a predicate is evaluated on and a sort key read from: a living object, or a row of a store in memory.
///
/// Properties are numbered as in ``Entity/properties``. Where living objects are classes that have subclasses, a struct
/// around the object conforms.
public protocol QueryObject {
  /// The object's key.
  var queryKey: Int64 { get }
  /// The name of the object's own entity.
  var queryEntityName: String { get }
  /// The value of an attribute; for a to-one its object's key, or null; for a to-many the number of its members.
  func queryValue(_ property: Int) throws -> StoredValue
  /// The object at the other end of a to-one, wherever the reference lies; nil when there is none.
  func queryPartner(_ property: Int) throws -> Self?
  /// The members of a to-many, in any order.
  func queryMembers(_ property: Int) throws -> [Self]
  /// The members of an ordered to-many, in its order. Without an implementation of yours, those of ``queryMembers(_:)``.
  func queryOrderedMembers(_ property: Int) throws -> [Self]
  /// How many members a to-many has. Without an implementation of yours, the members are counted.
  func queryMemberCount(_ property: Int) throws -> Int
}

extension QueryObject {
  public func queryOrderedMembers(_ property: Int) throws -> [Self] { try queryMembers(property) }
  public func queryMemberCount(_ property: Int) throws -> Int { try queryMembers(property).count }
}

extension QueryObject {
  /// What a path from this object leads to: an attribute, a to-one's key or, without steps, the object's own key. Null where
  /// the path meets a nil to-one.
  ///
  /// - Throws: what the object's methods throw.
  public func value(at path: PropertyPath) throws -> StoredValue {
    if let only = path.onlyStep { return try queryValue(only) }
    var steps = path.steps
    guard let last = steps.popLast() else { return .integer(queryKey) }
    var object = self
    for step in steps {
      guard let next = try object.queryPartner(step) else { return .null }
      object = next
    }
    return try object.queryValue(last)
  }
}
