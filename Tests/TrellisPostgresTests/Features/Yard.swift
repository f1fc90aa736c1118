import Foundation
import Trellis
import TrellisTestSupport

/// A schema, and containers that open it one after the other.
final class Yard {
  let schema = TestServer.newSchema()
  let server: PostgresCluster

  init() throws { server = try PostgresCluster.running() }

  deinit { _ = try? sql("DROP SCHEMA IF EXISTS SCHEMA CASCADE") }

  func open(_ model: ObjectModel = .depot, connections: Int = 4) throws -> PersistentContainer {
    try PersistentContainer(
      model: model, store: .postgres(TestServer.url, schema: schema, connections: connections, timeout: 60))
  }

  /// Runs statements as another program; `SCHEMA` stands for the schema.
  ///
  /// - Returns: the lines that it prints.
  @discardableResult func sql(_ text: String) throws -> [String] {
    try server.psql(text.replacing("SCHEMA", with: "\"\(schema)\"")).split(separator: "\n").map(String.init)
  }

  /// The tables of derived values, with `SCHEMA` for the schema.
  func tables(_ entity: String = "") throws -> [String] {
    try sql(
      "SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = '\"\(schema)\"'::regnamespace AND c.relkind = 'r' "
        + "AND starts_with(c.relname, '_derived.\(entity)') ORDER BY 1"
    ).map { "SCHEMA.\"\($0)\"" }
  }

  /// Waits for the end of all connections: the server ends connections a moment after they are closed.
  func waitForEnd() throws {
    let key = "hashtext('trellis.programs.\(schema)')::bigint & 4294967295"
    for _ in 0..<200 where try sql("SELECT count(*) FROM pg_locks WHERE classid = (\(key))::oid") != ["0"] {
      Thread.sleep(forTimeInterval: 0.02)
    }
  }

  func fill(_ context: ManagedObjectContext) throws {
    let depot = Depot(in: context, name: "north", rate: 2)
    for number in 0..<20 {
      let parcel = Parcel(in: context, title: "p\(number)", depot: number % 2 == 0 ? depot : nil)
      for place in 0..<(number % 4) {
        parcel.pieces.append(Piece(in: context, text: "\(number).\(place)", grams: Decimal(number)))
      }
    }
    try context.save()
  }
}
