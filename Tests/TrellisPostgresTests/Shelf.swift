import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// A store with one entity, whose objects have a unique name.
struct Shelf {
  let store: PostgresStore
  let model: Model

  private static let description = ModelDescription(
    name: "Shelf",
    entities: [
      EntityDescription(
        "Item",
        attributes: [AttributeDescription("name", .string), AttributeDescription("list", .string, optional: true)],
        uniqueKeys: [["name"]])
    ])

  init(
    _ url: String = TestServer.url, schema: String = TestServer.newSchema(), connections: Int = 2,
    timeout: Double = 10, throughTransactionPool: Bool = false
  ) throws {
    model = try Model(Self.description)
    let configuration = StoreConfiguration.postgres(
      url, schema: schema, connections: connections, timeout: timeout, throughTransactionPool: throughTransactionPool)
    store = try #require(try configuration.open(model) as? PostgresStore)
  }

  func item(_ name: String) throws -> PlainRecord {
    PlainRecord(model.entities[0], key: try store.reserveKeys(1).lowerBound, ["name": .text(name)])
  }

  /// A save of new items.
  func inserting(_ names: [String]) throws -> SaveRequest {
    let request = SaveRequest()
    request.inserts = [SaveRequest.Inserts(entity: 0, records: try names.map(item))]
    return request
  }

  func insert(_ names: String..., on connection: (any StoreConnection)? = nil) throws {
    try (connection ?? store.connect()).save(try inserting(names))
  }

  var all: StoreRequest { StoreRequest(entity: 0) }

  func names() throws -> [String] {
    var names: [String] = []
    try store.connect().fetch(all) { names.append($0.text(0)) }
    return names.sorted()
  }
}
