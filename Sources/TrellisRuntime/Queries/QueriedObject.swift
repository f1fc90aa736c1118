import TrellisQuery
import TrellisSchema

/// An object in memory, as predicates and sort keys read it.
struct QueriedObject: QueryObject {
  let object: ManagedObject
  let context: ManagedObjectContext

  init(_ object: ManagedObject, _ context: ManagedObjectContext) {
    self.object = object
    self.context = context
  }

  var queryKey: Int64 { object._key }
  var queryEntityName: String { context.info(of: object).name }

  func queryValue(_ property: Int) throws -> StoredValue {
    object._willRead(property)
    guard let relationship = context.relationship(property, of: object) else { return object._value(property) }
    // The value of a to-many relationship is the number of its members.
    if relationship.isToMany { return .integer(Int64(try queryMemberCount(property))) }
    // A dangling reference reads as nil, and only the object shows that it is dangling.
    if relationship.isLeftAlone { return try queryPartner(property).map { .integer($0.queryKey) } ?? .null }
    let key = context.partnerKey(of: object, relationship)
    try context.throwPendingFailure()
    return key > 0 && context.map[key]?.phase != .deleted ? .integer(key) : .null
  }

  func queryPartner(_ property: Int) throws -> QueriedObject? {
    let partner = object._findPartner(property)
    try context.throwPendingFailure()
    return partner.map { QueriedObject($0, context) }
  }

  func queryMembers(_ property: Int) throws -> [QueriedObject] {
    guard let relationship = context.relationship(property, of: object) else { return [] }
    let members = context.memberObjects(of: object, relationship)
    try context.throwPendingFailure()
    return members.map { QueriedObject($0, context) }
  }

  func queryMemberCount(_ property: Int) throws -> Int {
    guard let relationship = context.relationship(property, of: object) else { return 0 }
    let count = context.loadedList(of: object, relationship).keys.count
    try context.throwPendingFailure()
    return count
  }
}
