import TrellisQuery
import TrellisSchema
import TrellisStorage

/// Goes through every object of a store, page by page: a page's rows are read first, then what they lead to is asked for.
struct GraphCheck {
  /// How many objects are looked at together.
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
      // In a damaged file keys may come in any order, and again.
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

  /// Goes on after what cannot be read, as there may be more to find; the rest of it is not looked at.
  private func tolerantly(_ entity: EntityInfo, _ what: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as StoreError where error.code == .damaged || error.code == .unreadableValue {
      try note(
        StoreFinding(
          .damaged, "Not all \(what) can be looked at: \(error.message)", repair: error.remedy, entity: entity.name))
    }
  }

  /// Those of some keys that belong to objects of an entity, or of one below it.
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
  /// The relationship by the numbers of the entity that declares it.
  var number: RelationshipNumber { RelationshipNumber(entity: entity, property: property) }
}
