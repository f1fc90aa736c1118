internal import CPQ
import TrellisModel
import TrellisStorage

/// A statement with its parameters.
struct ServerStatement {
  /// Selects 1 at a replica, and 0 at a server that is none.
  static let isInRecovery = ServerStatement("SELECT pg_is_in_recovery()::int::bigint")

  let text: String
  var parameters: ServerParameters

  init(_ text: String, _ parameters: ServerParameters = ServerParameters()) {
    self.text = text
    self.parameters = parameters
  }
}

/// A connection to a server. It has one user at a time.
///
/// It stays in pipeline mode: statements are sent together and answered together, in one round trip.
final class ServerConnection {
  private let handle: OpaquePointer
  /// Distinguishes the connection from all others, of other programs too.
  let identity = Int64.random(in: 1 ... .max)
  /// The names of prepared statements. Empty forever if the connection prepares none.
  private var prepared: [PreparedKey: String] = [:]
  private var nameCount = 0
  private let preparesStatements: Bool
  /// Whether the connection is in a transaction that this program has begun.
  var isInTransaction = false
  /// Belongs to the pool: how often it had renewed its connections when this one was opened.
  var epoch = 0
  /// The number of round trips, for tests.
  private(set) var roundTrips = 0
  private(set) var isLost = false
  /// The first error in the answers to what was sent last.
  private var firstError: ServerError?
  /// Called before each statement is sent, for tests.
  var willSend: ((_ connection: ServerConnection, _ statement: String) -> Void)?
  /// Whether something is being read, so that nothing can be sent.
  private var isReading = false

  private struct PreparedKey: Hashable {
    let text: String
    let types: [UInt32]
  }

  /// From this number of prepared statements on, new ones replace all of them.
  private static let mostPrepared = 500

  /// Connects to a server.
  ///
  /// - Parameter options: libpq's keywords with their values.
  init(_ options: [(keyword: String, value: String)], preparesStatements: Bool) throws(ServerError) {
    let keywords = CStrings(options.map(\.keyword))
    let values = CStrings(options.map(\.value))
    guard let handle = trellis_PQconnectdbParams(keywords.pointers, values.pointers, 0) else {
      throw ServerError(message: "there is not enough memory", isLost: true)
    }
    self.handle = handle
    self.preparesStatements = preparesStatements
    trellis_pq_silence(handle)
    guard trellis_PQstatus(handle) == Int32(TRELLIS_PQ_CONNECTION_OK) else {
      throw ServerError(message: Self.message(of: handle), isLost: true)
    }
    guard trellis_PQenterPipelineMode(handle) == 1 else {
      throw ServerError(message: Self.message(of: handle), isLost: true)
    }
  }

  deinit { trellis_PQfinish(handle) }

  /// What libpq says, without the hints that it adds in lines that begin with a tab.
  private static func message(of handle: OpaquePointer) -> String {
    let lines = String(cString: trellis_PQerrorMessage(handle)).split(separator: "\n").filter { !$0.hasPrefix("\t") }
    return lines.joined(separator: "; ")
  }

  /// The version of the server, such as 150018.
  var serverVersion: Int { Int(trellis_PQserverVersion(handle)) }
  /// The process of the server that serves this connection.
  var processID: Int32 { trellis_PQbackendPID(handle) }

  /// A setting that the server reports, such as `server_encoding`.
  func setting(_ name: String) -> String? { trellis_PQparameterStatus(handle, name).map { String(cString: $0) } }

  // MARK: Sending

  /// The connection is lost, for the reason that the server has given, if it has.
  private func lost() -> ServerError {
    isLost = true
    if let firstError { return ServerError(firstError, isLost: true) }
    return ServerError(message: Self.message(of: handle), isLost: true)
  }

  /// Sends a statement. If it is new, it is prepared in the same round trip.
  ///
  /// - Returns: the number of answers.
  private func send(_ statement: ServerStatement) throws(ServerError) -> Int {
    willSend?(self, statement.text)
    let parameters = statement.parameters
    guard preparesStatements else {
      let isSent = withPointers(parameters) { count, values, lengths, formats in
        parameters.types.withUnsafeBufferPointer { types in
          trellis_PQsendQueryParams(
            handle, statement.text, count, types.baseAddress, values, lengths, formats, 1)
        }
      }
      guard isSent == 1 else { throw lost() }
      return 1
    }
    let key = PreparedKey(text: statement.text, types: parameters.types)
    var answers = 1
    let name: String
    if let known = prepared[key] {
      name = known
    } else {
      nameCount += 1
      // Unique among all connections: a pool may run the statement on a connection where another one has prepared its own.
      name = "trellis.\(identity).\(nameCount)"
      let isSent = parameters.types.withUnsafeBufferPointer { types in
        trellis_PQsendPrepare(handle, name, statement.text, Int32(types.count), types.baseAddress)
      }
      guard isSent == 1 else { throw lost() }
      prepared[key] = name
      answers = 2
    }
    let isSent = withPointers(parameters) { count, values, lengths, formats in
      trellis_PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
    }
    guard isSent == 1 else { throw lost() }
    return answers
  }

  private func withPointers(
    _ parameters: ServerParameters,
    _ body: (
      Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
    ) -> Int32
  ) -> Int32 {
    let count = parameters.count
    if count == 0 { return body(0, nil, nil, nil) }
    // An empty value needs an address that is not null.
    let lengths = parameters.places.map { Int32(truncatingIfNeeded: $0?.count ?? 0) }
    let formats = [Int32](repeating: 1, count: count)
    return withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { empty in
      parameters.bytes.withUnsafeBytes { bytes in
        let start = bytes.baseAddress ?? UnsafeRawPointer(empty.baseAddress)
        let values = parameters.places.map { place in
          place.flatMap { place in start.map { ($0 + place.lowerBound).assumingMemoryBound(to: CChar.self) } }
        }
        return body(Int32(count), values, lengths, formats)
      }
    }
  }

  // MARK: Running

  /// Sends statements together and reads their answers: one round trip.
  ///
  /// After an error the server skips the rest, and outside of a transaction takes all of them back.
  ///
  /// - Returns: the rows of each statement that was run, and the error of the next one.
  func run(_ statements: [ServerStatement]) throws(ServerError) -> (results: [ServerResult], failure: ServerError?) {
    try begin()
    var answers: [Int] = []
    for statement in statements { answers.append(try send(statement)) }
    guard trellis_PQpipelineSync(handle) == 1 else { throw lost() }
    roundTrips += 1
    var results: [ServerResult] = []
    var failure: ServerError?
    for (number, count) in answers.enumerated() {
      var last: ServerResult?
      for _ in 0..<count {
        guard let result = try nextResult() else { continue }
        last = result
        if let error = error(of: result), failure == nil {
          failure = error
          forget(statements[number])
        }
        // Null ends the answer to one command.
        try endAnswer()
      }
      if failure == nil, let last { results.append(last) }
      if failure != nil { forget(statements[number]) }
    }
    try endPipeline()
    return (results, failure)
  }

  /// Runs one statement, whose rows are kept in memory.
  @discardableResult func run(_ statement: ServerStatement) throws(ServerError) -> ServerResult {
    let (results, failure) = try run([statement])
    if let failure { throw failure }
    guard let result = results.first else { throw ServerError(message: "the server gave no answer", isLost: true) }
    return result
  }

  /// Runs one statement after another one that decides whether it may be used, in the same round trip.
  ///
  /// - Parameter check: receives the answer to the first statement.
  func run(
    _ statement: ServerStatement, after first: ServerStatement, _ check: (ServerResult) throws -> Void
  ) throws -> ServerResult {
    let (results, failure) = try run([first, statement])
    if let answer = results.first { try check(answer) }
    if let failure { throw failure }
    guard results.count == 2 else { throw ServerError(message: "the server gave no answer", isLost: true) }
    return results[1]
  }

  /// Runs one statement and passes each row on as it arrives.
  ///
  /// - Parameters:
  ///   - first: a statement that is run before, in the same round trip.
  ///   - check: receives the answer to the first statement.
  func stream(
    _ statement: ServerStatement, after first: ServerStatement? = nil,
    _ check: (ServerResult) throws -> Void = { _ in },
    _ body: (ServerResult) throws -> Void
  ) throws {
    try begin()
    let firstAnswers = try first.map { statement throws(ServerError) in try send(statement) } ?? 0
    let answers = try send(statement)
    guard trellis_PQpipelineSync(handle) == 1 else { throw lost() }
    roundTrips += 1
    var failure: (any Error)?
    for number in 0..<firstAnswers {
      if let result = try nextResult(), failure == nil {
        failure = error(of: result)
        // The last answer is the one to the statement, those before are about its preparation.
        if failure == nil, number == firstAnswers - 1 {
          do { try check(result) } catch {
            failure = error
            cancel()
          }
        }
      }
      try endAnswer()
    }
    if failure is ServerError, let first { forget(first) }
    if answers == 2 {
      if let result = try nextResult(), let error = error(of: result), failure == nil { failure = error }
      try endAnswer()
    }
    _ = trellis_PQsetSingleRowMode(handle)
    isReading = true
    defer { isReading = false }
    while let result = try nextResult() {
      if let error = error(of: result) {
        if failure == nil { failure = error }
      } else if failure == nil, result.count > 0 {
        do {
          try body(result)
        } catch {
          failure = error
          // The rest of the rows must not cross the network.
          cancel()
        }
      }
    }
    if failure is ServerError { forget(statement) }
    isReading = false
    try endPipeline()
    if let failure { throw failure }
  }

  private func begin() throws(ServerError) {
    if isLost { throw ServerError(message: "the connection is closed", isLost: true) }
    firstError = nil
    guard !isReading else {
      throw ServerError(state: "trellis-nested", message: "the connection was used while it was reading")
    }
  }

  /// A statement that failed may not have been prepared.
  private func forget(_ statement: ServerStatement) {
    prepared[PreparedKey(text: statement.text, types: statement.parameters.types)] = nil
  }

  private func nextResult() throws(ServerError) -> ServerResult? {
    guard let result = trellis_PQgetResult(handle) else {
      if trellis_PQstatus(handle) != Int32(TRELLIS_PQ_CONNECTION_OK) { throw lost() }
      return nil
    }
    if trellis_PQstatus(handle) != Int32(TRELLIS_PQ_CONNECTION_OK) { isLost = true }
    return ServerResult(result)
  }

  /// The error that an answer reports; nil if it is none. The first one is the reason if the connection is lost.
  private func error(of result: ServerResult) -> ServerError? {
    guard let error = result.error(isLost: isLost) else { return nil }
    if firstError == nil { firstError = error }
    return error
  }

  private func endAnswer() throws(ServerError) {
    while try nextResult() != nil {}
  }

  private func endPipeline() throws(ServerError) {
    guard let result = try nextResult() else { throw lost() }
    guard result.status == Int32(TRELLIS_PQ_PIPELINE_SYNC) else { throw lost() }
    if prepared.count >= Self.mostPrepared, !isInTransaction { try deallocate() }
  }

  /// Frees the prepared statements.
  private func deallocate() throws(ServerError) {
    prepared = [:]
    guard
      trellis_PQsendQueryParams(handle, "DEALLOCATE ALL", 0, nil, nil, nil, nil, 1) == 1,
      trellis_PQpipelineSync(handle) == 1
    else { throw lost() }
    _ = try nextResult()
    try endAnswer()
    guard let result = try nextResult(), result.status == Int32(TRELLIS_PQ_PIPELINE_SYNC) else { throw lost() }
  }

  /// The file descriptor of the connection.
  var socket: Int32 { trellis_PQsocket(handle) }

  /// Reads what the server has sent without being asked: the payloads of notices.
  func notices() -> [String] {
    if trellis_PQconsumeInput(handle) != 1 { isLost = true }
    var payloads: [String] = []
    while let notice = trellis_PQnotifies(handle) {
      if let payload = notice.pointee.payload { payloads.append(String(cString: payload)) }
      trellis_PQfreemem(notice)
    }
    return payloads
  }

  /// Asks the server to end what it does.
  func cancel() { cancellation()?.send() }

  /// The means to ask the server, from any thread, to end what it does.
  func cancellation() -> ServerCancellation? { trellis_PQgetCancel(handle).map(ServerCancellation.init) }
}

/// Asks a server to end what it does for a connection.
///
/// `@unchecked` is sound because libpq's function for it may be called from any thread, and the object does not change.
final class ServerCancellation: @unchecked Sendable {
  private let cancel: OpaquePointer

  init(_ cancel: OpaquePointer) { self.cancel = cancel }

  deinit { trellis_PQfreeCancel(cancel) }

  func send() {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
      _ = trellis_PQcancel(cancel, message.baseAddress, 256)
    }
  }
}

/// Texts as C expects a list of them, with null at its end.
private final class CStrings {
  let pointers: UnsafeMutablePointer<UnsafePointer<CChar>?>
  private let texts: [UnsafeMutablePointer<CChar>]

  init(_ texts: [String]) {
    self.texts = texts.map { text in
      let bytes = Array(text.utf8CString)
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
      copy.initialize(from: bytes, count: bytes.count)
      return copy
    }
    pointers = .allocate(capacity: texts.count + 1)
    for (index, text) in self.texts.enumerated() { (pointers + index).initialize(to: UnsafePointer(text)) }
    (pointers + texts.count).initialize(to: nil)
  }

  deinit {
    for text in texts { text.deallocate() }
    pointers.deallocate()
  }
}
