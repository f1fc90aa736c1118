import Synchronization
import TrellisStorage

/// The keys that a store's programs reserve for new objects, from one counter on the server.
final class ServerKeys: Sendable {
  private let setup: PostgresSetup
  /// The end of the keys that this object has reserved. Zero if it has none.
  private let end = Atomic<Int64>(0)

  init(_ setup: PostgresSetup) { self.setup = setup }

  private var table: String { setup.layout.names.keys }

  func reserve(_ count: Int64, _ connection: ServerConnection) throws -> Range<Int64> {
    var parameters = ServerParameters()
    parameters.add(count)
    let result = try connection.run(
      ServerStatement("UPDATE \(table) SET \"next\" = \"next\" + $1 RETURNING \"next\"", parameters))
    guard result.count == 1, result.integer(0, 0) > count else { throw damaged }
    let next = result.integer(0, 0)
    end.max(next, ordering: .relaxed)
    return (next - count)..<next
  }

  private var damaged: StoreError {
    StoreError(
      .damaged, "\(setup.name) does not say which keys are free.", remedy: "Restore the database from a backup.")
  }

  /// Keys for objects that are never saved. Nothing is reserved.
  func free(_ count: Int64, _ connection: ServerConnection) throws -> Range<Int64> {
    let stored = try connection.run(ServerStatement("SELECT \"next\" FROM \(table)")).integer(0, 0)
    end.max(stored, ordering: .relaxed)
    let upper = end.wrappingAdd(count, ordering: .relaxed).newValue
    guard upper > count else { throw damaged }
    return (upper - count)..<upper
  }

  /// Returns keys that were reserved last.
  func giveBack(_ unused: Range<Int64>, _ connection: ServerConnection) throws {
    var parameters = ServerParameters()
    parameters.add(unused.lowerBound)
    parameters.add(unused.upperBound)
    try connection.run(
      ServerStatement("UPDATE \(table) SET \"next\" = $1 WHERE \"next\" = $2", parameters))
  }

  /// Reserves once more what is reserved, on a new connection: a replica that took the place of its primary may not have
  /// the reservation, and would give the keys to others.
  func renew(on connection: ServerConnection) {
    let end = end.load(ordering: .relaxed)
    guard end > 0, !setup.options.isReadOnly else { return }
    var parameters = ServerParameters()
    parameters.add(end)
    // A server that is only read gives no keys to others.
    _ = try? connection.run(ServerStatement("UPDATE \(table) SET \"next\" = $1 WHERE \"next\" < $1", parameters))
  }
}
