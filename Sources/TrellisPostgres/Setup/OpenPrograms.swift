import Foundation
import TrellisModel
import TrellisStorage

extension Model {
  /// Identifies what the model stores, whatever its docs and rules.
  var storageChecksum: String { ModelDescription.checksum(ofText: storageSignature.utf8) }
}

/// The programs that are connected to a store, by what their models store.
///
/// Each connection holds a shared advisory lock until it ends, so that the server lists the connected programs. A connection
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

  /// The number of other connections to the store.
  ///
  /// - Parameter storingOtherwise: whether only those of programs whose models store something else are counted.
  func others(_ connection: ServerConnection, storingOtherwise: Bool) throws(ServerError) -> Int {
    func word(_ number: Int) -> String { "(hashtext($\(number)::text)::bigint & 4294967295)::oid" }
    let text =
      "SELECT count(DISTINCT pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND "
      + "database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND classid = \(word(1)) "
      + "AND pid <> pg_backend_pid() AND (objid <> \(word(2)) OR NOT \(storingOtherwise))"
    return Int(try connection.run(ServerStatement(text, parameters)).integer(0, 0))
  }

  /// Whether no other program is connected, which might use what is there for its model. It waits for those that end in a
  /// moment, so it is asked before any table is locked.
  func areAlone(_ connection: ServerConnection) throws -> Bool {
    try othersThatStay(connection, storingOtherwise: false) == 0
  }

  /// The number of seconds that a connection which was closed may take to end at the server.
  private static let patience = 0.5

  /// The number of other connections to the store, besides those that end in a moment.
  ///
  /// - Parameters:
  ///   - storingOtherwise: whether only those of programs whose models store something else are counted.
  ///   - check: called again and again, to end the wait.
  func othersThatStay(
    _ connection: ServerConnection, storingOtherwise: Bool, _ check: () throws -> Void = {}
  ) throws -> Int {
    let end = Date(timeIntervalSinceNow: Self.patience)
    while true {
      let count = try others(connection, storingOtherwise: storingOtherwise)
      if count == 0 || Date.now > end { return count }
      Thread.sleep(forTimeInterval: 0.02)
      try check()
    }
  }
}
