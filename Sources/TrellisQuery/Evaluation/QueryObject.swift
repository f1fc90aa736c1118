public import TrellisSchema

/// An object that predicates and sort keys can be evaluated on: a managed object, or a row of a store in memory.
///
/// Properties are numbered as in ``Entity/properties``. If managed objects are classes with subclasses, a struct that
/// wraps the object conforms.
public protocol QueryObject {
  /// The object's key.
  var queryKey: Int64 { get }
  /// The name of the object's own entity.
  var queryEntityName: String { get }
  /// The value of an attribute. For a to-one, the partner's key or null; for a to-many, the number of members.
  func queryValue(_ property: Int) throws -> StoredValue
  /// The object that a to-one relationship references, wherever the reference is stored; nil if there is none.
  func queryPartner(_ property: Int) throws -> Self?
  /// The members of a to-many relationship, in any order.
  func queryMembers(_ property: Int) throws -> [Self]
  /// The members of an ordered to-many relationship, in order. The default implementation returns ``queryMembers(_:)``.
  func queryOrderedMembers(_ property: Int) throws -> [Self]
  /// The number of members of a to-many relationship. The default implementation counts ``queryMembers(_:)``.
  func queryMemberCount(_ property: Int) throws -> Int
}

extension QueryObject {
  public func queryOrderedMembers(_ property: Int) throws -> [Self] { try queryMembers(property) }
  public func queryMemberCount(_ property: Int) throws -> Int { try queryMembers(property).count }
}

extension QueryObject {
  /// The value at the end of a path from this object: an attribute, the key of a to-one or, without steps, the object's
  /// own key. Null if a to-one relationship on the way is nil.
  ///
  /// - Throws: errors of the object's methods.
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
