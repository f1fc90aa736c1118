public import TrellisSchema

/// What a predicate is evaluated on and a sort key read from: a living object, or a row of a store in memory.
///
/// Properties are numbered as in ``Entity/properties``. Where living objects are classes that have subclasses, a struct
/// around the object conforms.
public protocol QueryObject {
  /// The object's key.
  var queryKey: Int64 { get }
  /// The value of an attribute; for a to-one its object's key, or null.
  func queryValue(_ property: Int) throws -> StoredValue
  /// The object at the other end of a to-one, wherever the reference lies; nil when there is none.
  func queryPartner(_ property: Int) throws -> Self?
  /// The members of a to-many, in any order.
  func queryMembers(_ property: Int) throws -> [Self]
  /// How many members a to-many has. Without an implementation of yours, the members are counted.
  func queryMemberCount(_ property: Int) throws -> Int
}

extension QueryObject {
  public func queryMemberCount(_ property: Int) throws -> Int { try queryMembers(property).count }
}
