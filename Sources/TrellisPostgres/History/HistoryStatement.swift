import TrellisModel
import TrellisStorage

/// The statement that writes a record.
struct HistoryStatement {
  private let setup: PostgresSetup
  private let history: ServerHistory

  init(_ setup: PostgresSetup, _ history: ServerHistory) {
    self.setup = setup
    self.history = history
  }

  func insert(_ record: [UInt8], author: String?) -> ServerStatement {
    var parameters = ServerParameters()
    parameters.add(history.base)
    parameters.add(history.origin)
    // A store whose history knows no number for the model refuses to write.
    parameters.add(history.model ?? 0)
    let text = author.flatMap { $0.utf8.contains(0) ? $0.replacing("\0", with: "\u{FFFD}") : $0 }
    if let text { parameters.add(text) } else { parameters.addNull(as: .text) }
    parameters.add(bytes: record)
    return ServerStatement(
      "INSERT INTO \(setup.layout.names.history) VALUES (pg_current_xact_id()::text::bigint + $1, "
        + "clock_timestamp(), $2, $3, $4, $5)", parameters)
  }
}
