import TrellisModel
import TrellisStorage

/// All objects of a store by key, as its connection reads them.
struct StoreImage {
  struct Object {
    let entity: Int
    /// The values of attributes, by property number; null for relationships and for what is not stored.
    var values: [StoredValue]
    /// The keys of partners, by property number; those of a relationship without an order in ascending order.
    var partners: [[Int64]]
  }

  let model: Model
  private(set) var objects: [Int64: Object] = [:]

  /// Reads a store of a model.
  ///
  /// - Throws: ``StoreError``.
  /// - Complexity: linear in the number of objects and links, all of which are in memory.
  init(_ store: any Store, _ model: Model) throws {
    self.model = model
    let connection = try store.connect()
    for root in model.entities where root.parent == nil {
      try connection.fetch(StoreRequest(entity: root.index)) { row in
        objects[row.key] = Self.object(row, model.entities[row.entity])
      }
    }
    for entity in model.entities {
      for case .relationship(let relationship) in entity.properties where relationship.entity == entity.index {
        try readMembers(of: relationship, connection)
      }
    }
  }

  /// The name of an object, as `Entry/12`.
  func name(of key: Int64) -> String {
    "\(objects[key].map { model.name(ofEntity: $0.entity) } ?? "object")/\(key)"
  }

  private static func object(_ row: RowReader, _ entity: Entity) -> Object {
    var object = Object(
      entity: row.entity, values: entity.properties.map { _ in .null }, partners: entity.properties.map { _ in [] })
    for property in entity.properties {
      guard let column = property.column else { continue }
      if property.relationship != nil {
        let key = row.reference(column)
        if key != 0 { object.partners[property.index] = [key] }
      } else {
        object.values[property.index] = row.value(column, entity.columns[column].storageClass).withBytes
      }
    }
    return object
  }

  private mutating func readMembers(of relationship: Relationship, _ connection: any StoreConnection) throws {
    switch relationship.home {
    case .column, .transient: return
    case .inverseColumn, .joinTable: break
    }
    let owners = objects.filter { model.isEntity($0.value.entity, within: relationship.entity) }.keys.sorted()
    let number = RelationshipNumber(entity: relationship.entity, property: relationship.index)
    var members: [Int64: [Int64]] = [:]
    try connection.memberKeys(of: number, owners: owners) { owner, member, _ in
      members[owner, default: []].append(member)
    }
    for (owner, keys) in members {
      objects[owner]?.partners[relationship.index] = relationship.isOrdered ? keys : keys.sorted()
    }
  }
}

extension StoredValue {
  /// The value with data of a file as bytes.
  fileprivate var withBytes: StoredValue {
    guard case .file(let file) = self, let bytes = try? file.origin?.bytes(of: file) else { return self }
    return .blob(bytes)
  }
}
