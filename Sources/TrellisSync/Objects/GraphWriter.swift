import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// Makes changes in a context that are given by keys and numbers.
struct GraphWriter {
  let context: ManagedObjectContext
  let view: MomentView
  private let writer: ObjectWriter

  init(_ context: ManagedObjectContext) {
    self.context = context
    view = MomentView(context)
    writer = ObjectWriter(context)
  }

  var model: Model { context.model }

  /// - Throws: ``RefusedValue``; ``StoreError``.
  @discardableResult func insert(
    _ key: Int64, _ entity: Int, _ given: [(property: Int, value: StoredValue)]
  ) throws -> ManagedObject {
    let entity = model.entities[entity]
    var values = entity.properties.map { property in
      property.attribute.flatMap { $0.isStored ? $0.initialValue : $0.initialValue ?? .null } ?? .null
    }
    for (property, value) in given where entity.properties[property].attribute != nil { values[property] = value }
    let object = try writer.reinsert(entity.index, key: key, values, after: 0)
    view.add(object)
    return object
  }

  /// Inserts an object with a key of this store.
  func insertNew(_ entity: Int, _ given: [(property: Int, value: StoredValue)]) throws -> ManagedObject {
    let entity = model.entities[entity]
    var values = entity.properties.map { property in property.attribute.flatMap { $0.initialValue } ?? .null }
    var assigned: UInt64 = 0
    for (property, value) in given where entity.properties[property].attribute != nil {
      values[property] = value
      assigned |= ColumnMask.bit(of: property)
    }
    let object = try writer.insert(entity.index, values, assigned: ColumnMask(bits: assigned))
    view.add(object)
    return object
  }

  /// - Throws: ``RefusedValue``; ``StoreError``.
  func set(_ values: [(property: Int, value: StoredValue)], of object: ManagedObject) throws {
    if !values.isEmpty { _ = try writer.set(values, of: object) }
  }

  /// Makes an object refer to another one.
  func link(_ object: ManagedObject, _ relationship: Relationship, to partner: ManagedObject?) throws {
    let present = try view.partners(of: object, relationship).first ?? 0
    if present != partner?._key ?? 0 { try object.setPartner(of: relationship.index, partner) }
  }

  func setPair(_ owner: ManagedObject, _ relationship: Relationship, _ member: ManagedObject, isThere: Bool) throws {
    let isPresent = try view.partners(of: owner, relationship).contains(member._key)
    if isThere && !isPresent { try owner.add(member, to: relationship.index) }
    if !isThere && isPresent { try owner.remove(member, from: relationship.index) }
  }

  /// Puts the members of a list into an order. Members that the order does not have follow those that they follow now.
  ///
  /// - Returns: whether the order has exactly the members.
  @discardableResult func arrange(
    _ owner: ManagedObject, _ relationship: Relationship, _ order: [Int64]
  ) throws -> Bool {
    let present = try view.partners(of: owner, relationship)
    let members = Set(present)
    let wanted = order.filter(members.contains)
    let further = members.subtracting(wanted)
    try owner.arrange(relationship, wanted.woven(with: further, inTheOrderOf: present), in: view)
    return further.isEmpty && wanted.count == order.count
  }

  func delete(_ object: ManagedObject) throws {
    if !object.isDeleted && object.managedObjectContext != nil { try context.delete(object) }
  }
}
