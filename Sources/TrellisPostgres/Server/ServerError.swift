internal import CPQ
import Foundation

/// An error of the server, or of the connection to it.
struct ServerError: Error {
  /// The SQLSTATE; empty if the connection failed.
  let state: String
  let message: String
  let constraint: String
  let table: String
  let column: String
  /// The function of the database that has raised the error, with its types. Empty if there is none.
  var function = ""
  /// The objects that depend on what would be dropped, as the server names them. Empty for other errors, whose details may
  /// have values.
  var detail = ""
  /// The server's own function that has found the error.
  var routine = ""
  /// Whether the connection cannot be used any more.
  let isLost: Bool

  init(state: String = "", message: String, isLost: Bool = false) {
    self.state = state
    self.message = message
    self.isLost = isLost
    constraint = ""
    table = ""
    column = ""
  }

  /// The same error, of a connection that it has ended or not.
  init(_ error: ServerError, isLost: Bool) {
    (state, message, constraint) = (error.state, error.message, error.constraint)
    (table, column) = (error.table, error.column)
    (function, routine, detail) = (error.function, error.routine, error.detail)
    self.isLost = isLost
  }

  /// The error that a result reports.
  init(_ result: OpaquePointer, isLost: Bool) {
    func field(_ code: Int) -> String {
      trellis_PQresultErrorField(result, Int32(code)).map { String(cString: $0) } ?? ""
    }
    state = field(TRELLIS_PQ_DIAG_SQLSTATE)
    let primary = field(TRELLIS_PQ_DIAG_MESSAGE)
    message = primary.isEmpty ? String(cString: trellis_PQresultErrorMessage(result)) : primary
    constraint = field(TRELLIS_PQ_DIAG_CONSTRAINT)
    table = field(TRELLIS_PQ_DIAG_TABLE)
    column = field(TRELLIS_PQ_DIAG_COLUMN)
    self.isLost = isLost
    if state == "2BP01" || state == "0A000" { detail = field(TRELLIS_PQ_DIAG_MESSAGE_DETAIL) }
    routine = field(TRELLIS_PQ_DIAG_SOURCE_FUNCTION)
    function = Self.function(in: field(TRELLIS_PQ_DIAG_CONTEXT))
  }

  /// The first function that a context names, such as `PL/pgSQL function shop.check_stock() line 4 at RAISE`. Languages
  /// of the world name theirs in the same way.
  private static func function(in context: String) -> String {
    context.firstMatch(of: #/function ((?:"[^"]*"|[^\s"(])+)\(/#).map { "\($0.1)()" } ?? ""
  }

  // MARK: Errors of this side

  /// The state of a statement that was ended from outside, or by the server's time-out.
  static let endedState = "57014"

  /// The server was silent for too long.
  static func silence(_ seconds: TimeInterval, isLost: Bool) -> ServerError {
    ServerError(
      state: "trellis-silence", message: "the server did not answer for \(seconds.formatted()) seconds", isLost: isLost)
  }

  /// The task that waits for the answer was cancelled.
  static let cancelled = ServerError(state: "trellis-cancelled", message: "the task was cancelled")

  /// Whether the server was silent for too long.
  var isSilence: Bool { state == "trellis-silence" }

  /// A lock was not to be had in time.
  static let lockState = "55P03"

  /// Whether the same transaction may succeed if it is run again: a deadlock, or a serialization failure.
  var isTransient: Bool { state == "40P01" || state == "40001" }

  /// Whether the cause may be what the statements write, and not the server, the connection or other programs.
  var isOfWhatIsWritten: Bool {
    !isLost && !["08", "25", "40", "53", "55", "57", "58", "tr"].contains(state.prefix(2))
  }

  /// Whether the role may not write, or the server refuses all writes.
  var isRefusalOfWrites: Bool { state == "42501" || state == "25006" }

  /// Whether the server lacks a language, a function or a kind of statement, or does not take a definition. Servers that
  /// only speak PostgreSQL's protocol do.
  var isOfMissingFeature: Bool { state.hasPrefix("0A") || state.hasPrefix("42") }

  /// Whether the role may not do it.
  var isRefusalOfRights: Bool { state == "42501" }

  /// Whether the server refuses all writes.
  var isOfReadOnlyServer: Bool { state == "25006" }

  /// Whether the server, the database or the role has as many connections as it may have. An error at the beginning of a
  /// connection has no SQLSTATE.
  var isOfFullServer: Bool {
    ["remaining connection slots", "too many clients", "too many connections"].contains(where: message.contains)
  }

  /// Whether a pool before the server had no connection for too long. PgBouncer ends the client's one then.
  var isOfBusyPool: Bool { isLost && message.contains("query_wait_timeout") }

  /// Whether the server ends the connection: it shuts down, or an administrator ends the session.
  var isShutdown: Bool { (state.hasPrefix("57P") || isLost) && !isOfBusyPool && !isSilence && state != "25P04" }
}
