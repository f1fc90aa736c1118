import Foundation
import Testing
import TrellisModel
import TrellisStorage
import TrellisTestSupport

/// A store in a folder of its own, which goes with it.
final class TestStore {
  private let home: TestFolder
  var folder: URL { home.url }
  let url: URL
  let model: Model
  private(set) var connection: LeasingConnection
  private(set) var store: any Store

  init(_ description: ModelDescription) throws {
    home = try TestFolder()
    url = home.url.appending(path: "store.db")
    model = try Model(description)
    store = try Self.open(url, model)
    connection = try Self.connect(store)
  }

  static func open(_ url: URL, _ model: Model, readOnly: Bool = false) throws -> any Store {
    try StoreConfiguration.sqlite(at: url, durability: .relaxed, busyTimeout: 0.1, readOnly: readOnly).open(model)
  }

  static func connect(_ store: any Store) throws -> LeasingConnection {
    try #require(try store.connect() as? LeasingConnection)
  }

  func secondConnection() throws -> LeasingConnection { try Self.connect(store) }

  func entity(_ name: String) throws -> Entity { try #require(model.entity(named: name)) }

  func number(_ entity: String, _ property: String) throws -> RelationshipNumber {
    let found = try self.entity(entity)
    return RelationshipNumber(entity: found.index, property: try #require(found.property(named: property)).index)
  }

  /// A path by names, from the entity.
  func path(_ entity: String, _ names: String..., variable: Int = 0) throws -> PropertyPath {
    var path = PropertyPath(variable: variable)
    var current = try self.entity(entity)
    for name in names {
      let property = try #require(current.property(named: name), "\(current.name).\(name)")
      path = path.appending(property.index)
      if let relationship = property.relationship { current = model.entities[relationship.destination] }
    }
    return path
  }

  func record(
    _ entity: String, _ key: Int64, version: Int64 = 0, _ values: [String: StoredValue]
  ) throws -> TestRecord {
    TestRecord(try self.entity(entity), key: key, version: version, values)
  }

  @discardableResult func insert(_ entity: String, _ records: [TestRecord]) throws -> [TestRecord] {
    let request = SaveRequest()
    request.inserts = [.init(entity: try self.entity(entity).index, records: records)]
    try connection.save(request)
    for record in records { record.storedVersion = 1 }
    return records
  }

  func rows(
    _ entity: String, _ predicate: QueryPredicate? = nil, sort: [SortKey] = [], limit: Int? = nil, offset: Int = 0,
    subentities: Bool = true
  ) throws -> [TestRow] {
    let request = StoreRequest(
      entity: try self.entity(entity).index, includesSubentities: subentities, predicate: predicate, sort: sort,
      limit: limit, offset: offset)
    var rows: [TestRow] = []
    try connection.fetch(request) { rows.append(TestRow($0, model)) }
    return rows
  }

  func keys(
    _ entity: String, _ predicate: QueryPredicate? = nil, sort: [SortKey] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> [Int64] {
    let request = StoreRequest(
      entity: try self.entity(entity).index, predicate: predicate, sort: sort, limit: limit, offset: offset)
    var keys: [Int64] = []
    try connection.fetchKeys(request) { key, _ in keys.append(key) }
    #expect(try connection.count(request) == keys.count)
    return keys
  }

  /// Deletes, updates or whatever the body asks for.
  func save(_ body: (SaveRequest) throws -> Void) throws {
    let request = SaveRequest()
    try body(request)
    try connection.save(request)
  }
}
