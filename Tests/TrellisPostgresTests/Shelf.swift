import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// A store with one entity, whose objects have a unique name.
struct Shelf {
  let store: PostgresStore
  let model: Model

  /// The model, or another one of the same entity.
  static func model(_ attributes: AttributeDescription...) throws -> Model {
    let usual = [AttributeDescription("name", .string), AttributeDescription("list", .string, optional: true)]
    return try Model(
      ModelDescription(
        name: "Shelf",
        entities: [
          EntityDescription("Item", attributes: attributes.isEmpty ? usual : attributes, uniqueKeys: [["name"]])
        ]))
  }

  init(
    _ url: String = TestServer.url, schema: String = TestServer.newSchema(), connections: Int = 2,
    timeout: Double = 10, statementTimeout: Double? = nil, throughTransactionPool: Bool = false
  ) throws {
    model = try Self.model()
    let configuration = StoreConfiguration.postgres(
      url, schema: schema, connections: connections, timeout: timeout, statementTimeout: statementTimeout,
      throughTransactionPool: throughTransactionPool)
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

/// The code of the store's error that a closure throws; nil if it throws none.
func code(_ body: () throws -> Void) -> StoreError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? StoreError)?.code
  }
}

extension StoreConnection {
  /// Forgets the saves of others so far. The first question begins to listen, which takes a moment.
  func beginToHear() {
    _ = hasExternalChanges()
    Thread.sleep(forTimeInterval: 0.5)
    _ = hasExternalChanges()
  }

  /// Whether a save of others is noticed within half a minute.
  func hearsOfOthers() -> Bool {
    for _ in 0..<600 {
      if hasExternalChanges() { return true }
      Thread.sleep(forTimeInterval: 0.05)
    }
    return false
  }
}
