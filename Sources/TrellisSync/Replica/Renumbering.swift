import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisTimeTravel

/// Gives objects new keys: each is inserted anew with what it has, and the former one deleted.
struct Renumbering {
  private let writer: GraphWriter
  private var copies: [Int64: ManagedObject] = [:]
  /// The new keys of objects that are deleted again. Their change sets are sent as well.
  private var reserved: [Int64: Int64] = [:]

  init(_ context: ManagedObjectContext) { writer = GraphWriter(context) }

  private var model: Model { writer.model }
  private var view: MomentView { writer.view }

  /// The new key of each object.
  var keys: [Int64: Int64] { copies.mapValues(\._key).merging(reserved) { copy, _ in copy } }

  /// Renumbers all objects of the store.
  mutating func runAll() throws {
    var formers: [ManagedObject] = []
    for root in Set(model.roots).sorted() { formers += try writer.context.objects(of: .all(root)) }
    try run(formers)
  }

  /// Renumbers the objects of some inserts.
  mutating func run(_ inserts: [ChangeSet.ObjectChange]) throws {
    let formers = try view.objects(Set(inserts.map(\.key)))
    try run(formers.sorted { $0.key < $1.key }.map(\.value))
    for insert in inserts where formers[insert.key] == nil && reserved[insert.key] == nil {
      // Only the context gives out keys, and it does so for an object.
      let object = try writer.insertNew(insert.entity, insert.values.map { ($0.property, $0.value) })
      reserved[insert.key] = object._key
      try writer.delete(object)
    }
  }

  private mutating func run(_ formers: [ManagedObject]) throws {
    for object in formers {
      let entity = view.entity(of: object)
      var values: [(property: Int, value: StoredValue)] = []
      for case let property in entity.properties where property.attribute != nil {
        if let value = try view.rowValue(of: property, object) { values.append((property.index, value)) }
      }
      copies[object._key] = try writer.insertNew(entity.index, values)
    }
    for object in formers {
      guard let copy = copies[object._key] else { continue }
      for case let relationship? in view.entity(of: object).properties.map(\.relationship) where relationship.isStored {
        try copyLinks(relationship, object, copy)
      }
      try moveHolders(of: object, to: copy)
    }
    for object in formers { try writer.delete(object) }
  }

  /// The object in the place of one with a former key.
  private func present(_ key: Int64, of entity: Int) throws -> ManagedObject? {
    try copies[key] ?? view.object(key, of: entity)
  }

  private func copyLinks(_ relationship: Relationship, _ object: ManagedObject, _ copy: ManagedObject) throws {
    let keys = try view.partners(of: object, relationship)
    let partners = try keys.compactMap { try present($0, of: relationship.destination) }
    let inverse = model.inverse(of: relationship).flatMap { $0.isOrdered ? $0 : nil }
    var orders: [(owner: ManagedObject, members: [Int64])] = []
    if let inverse {
      for partner in partners {
        let members = try view.partners(of: partner, inverse)
        orders.append((partner, members.map { $0 == object._key ? copy._key : $0 }))
      }
    }
    if relationship.isToMany {
      try copy.replaceMembers(of: relationship.index, with: partners)
    } else {
      try copy.setPartner(of: relationship.index, partners.first)
    }
    if let inverse { for order in orders { try writer.arrange(order.owner, inverse, order.members) } }
  }

  /// Objects that refer to the former one by a relationship without an inverse refer to the copy.
  private func moveHolders(of object: ManagedObject, to copy: ManagedObject) throws {
    for reference in model.referencesWithoutInverse(to: view.entity(of: object).index) {
      guard let relationship = model.relationship(reference.entity, reference.property) else { continue }
      for key in try view.holders(of: object._key, reference).sorted() where copies[key] == nil {
        guard let holder = try view.object(key, of: reference.entity) else { continue }
        guard relationship.isToMany else {
          try writer.link(holder, relationship, to: copy)
          continue
        }
        let members = try view.partners(of: holder, relationship).map { $0 == object._key ? copy._key : $0 }
        try writer.setPair(holder, relationship, copy, isThere: true)
        try writer.setPair(holder, relationship, object, isThere: false)
        if relationship.isOrdered { try writer.arrange(holder, relationship, members) }
      }
    }
  }
}
