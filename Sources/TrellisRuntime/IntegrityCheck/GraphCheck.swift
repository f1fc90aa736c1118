import TrellisQuery
import TrellisSchema
import TrellisStorage

/// Checks every object of a store, page by page: the rows of a page are read first, then the rows that they refer to.
struct GraphCheck {
  /// The number of objects in a page.
  static let pageSize = 256

  let runtime: RuntimeModel
  let connection: any StoreConnection
  let note: (StoreFinding) throws -> Void

  func run() throws {
    var keys = KeyCheck(self)
    try keys.run()
    for entity in runtime.entities where !entity.entity.isAbstract {
      try tolerantly(entity, "objects") { try checkObjects(of: entity) }
    }
    for entity in runtime.entities {
      for key in entity.entity.uniqueKeys where key.entity == entity.number {
        try tolerantly(entity, "unique keys") { try UniqueKeyCheck(check: self, entity: entity, key: key).run() }
      }
    }
  }

  private func checkObjects(of entity: EntityInfo) throws {
    var last: Int64?
    repeat {
      let page = try RowPage(of: entity, after: last, self)
      // A damaged file may return keys out of order or repeatedly.
      let end = page.keys.max()
      last = page.isLast || (end ?? .min) <= (last ?? .min) ? nil : end
      try ExternalFileCheck(check: self, page: page).run()
      try tolerantly(entity, "references") { try ReferenceCheck(check: self, page: page).run() }
      for relationship in entity.allRelationships {
        try tolerantly(entity, "members of \(relationship.name)") {
          try MemberCheck(check: self, page: page, relationship: relationship)?.run()
        }
      }
    } while last != nil
  }

  /// Continues after data that cannot be read, because there may be more findings. The rest of `body` is skipped.
  private func tolerantly(_ entity: EntityInfo, _ what: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as StoreError where error.code == .damaged || error.code == .unreadableValue {
      try note(
        StoreFinding(
          .damaged, "Not all \(what) can be looked at: \(error.message)", repair: error.remedy, entity: entity.name))
    }
  }

  /// The subset of keys that belong to objects of an entity or its subentities.
  func present(_ keys: [Int64], of entity: Int) throws -> Set<Int64> {
    var found: Set<Int64> = []
    var rest = Set(keys).sorted()[...]
    while !rest.isEmpty {
      let some = rest.prefix(4096)
      rest = rest.dropFirst(4096)
      let request = StoreRequest(
        entity: entity, predicate: .isIn(.path(PropertyPath(variable: 0)), some.map { .integer($0) }, .integer))
      try connection.fetchKeys(request) { key, _ in found.insert(key) }
    }
    return found
  }
}

extension RelationshipInfo {
  /// The relationship's identification by the number of the entity that declares it.
  var number: RelationshipNumber { RelationshipNumber(entity: entity, property: property) }
}
