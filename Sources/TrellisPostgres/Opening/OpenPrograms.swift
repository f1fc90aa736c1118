import TrellisModel
import TrellisStorage

/// The programs that are connected to a store, by what their models store.
///
/// Each connection holds a shared advisory lock until it ends, so that the server itself knows who is there. A connection
/// through a pool for transactions holds none, because it changes with each transaction.
struct OpenPrograms {
  private let setup: PostgresSetup

  init(_ setup: PostgresSetup) { self.setup = setup }

  /// The store and what the model stores, as two parameters.
  private var parameters: ServerParameters {
    var parameters = ServerParameters()
    parameters.add("trellis.programs.\(setup.options.schema)")
    parameters.add(setup.storageChecksum)
    return parameters
  }

  /// Makes a connection one of a program that has the store open.
  var registration: ServerStatement {
    ServerStatement("SELECT pg_advisory_lock_shared(hashtext($1::text), hashtext($2::text))", parameters)
  }

  /// The number of connections of programs whose models store something else.
  func others(_ connection: ServerConnection) throws(ServerError) -> Int {
    func word(_ number: Int) -> String { "(hashtext($\(number)::text)::bigint & 4294967295)::oid" }
    let text =
      "SELECT count(DISTINCT pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND "
      + "database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND classid = \(word(1)) "
      + "AND objid <> \(word(2))"
    return Int(try connection.run(ServerStatement(text, parameters)).integer(0, 0))
  }
}
