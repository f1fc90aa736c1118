internal import CPQ
import Dispatch
import Foundation
import TrellisModel
import TrellisStorage

/// A statement with its parameters.
struct ServerStatement {
  /// Selects 1 at a replica, and 0 at a server that is none.
  static let isInRecovery = ServerStatement("SELECT pg_is_in_recovery()::int::bigint")

  /// Statements that let names without a schema mean those of the server's own catalog, for a session, for a transaction
  /// that has begun, and for one of statements that are sent together. Otherwise anyone who may create a function or an
  /// operator in a schema of the path could have it run with the rights of the program's role.
  ///
  /// None but the last one reads, because the isolation level of a transaction is set before its first read. The last one
  /// is no SET, of which the server would complain in its log.
  static let pinSession = ServerStatement("SET search_path = pg_catalog, pg_temp")
  static let pinTransaction = ServerStatement("SET LOCAL search_path = pg_catalog, pg_temp")
  static let pinStatements = ServerStatement(
    "SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)")

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
  private let lonelyCommits: UnsafeMutablePointer<Int32>
  /// Distinguishes the connection from all others, of other programs too.
  let identity = Int64.random(in: 1 ... .max)
  /// The names of prepared statements. Empty forever if the connection prepares none.
  private var prepared: [PreparedKey: String] = [:]
  private var nameCount = 0
  private let preparesStatements: Bool
  /// Whether the session belongs to a pool, so that each transaction has to pin its names.
  private let pinsTransactions: Bool
  /// The number of seconds that the server may be silent, while it is asked for something.
  var patience: TimeInterval
  /// Whether the connection is in a transaction that this program has begun.
  var isInTransaction = false
  /// Called when the server is silent for too long.
  var didFindSilence: (() -> Void)?
  /// Whether the connection was the first to a server that has taken the place of another.
  var isFirstOfTimeline = false
  /// Belongs to the pool: how often it had renewed its connections when this one was opened.
  var epoch = 0
  /// The number of round trips, for tests.
  private(set) var roundTrips = 0
  private(set) var isLost = false
  /// The number of statements of the last call that were answered, up to the first that failed.
  private(set) var answeredStatements = 0
  /// The first error in the answers to what was sent last.
  private var firstError: ServerError?
  /// Called before each statement is sent, for tests.
  var willSend: ((_ connection: ServerConnection, _ statement: String) -> Void)?
  /// Whether something is being read, so that nothing can be sent.
  private var isReading = false
  /// The interruption of the block that uses the connection. Nil while nothing can be interrupted.
  private var interruption: Interruption?
  /// Whether the server may be asked to end what it does now.
  private var isInterruptible = true
  /// When the wait for the answer to a cancellation ends, in seconds of the clock. Nil if the server was patient enough.
  private var endOfGrace: Double?
  private lazy var sharedCancellation = trellis_PQgetCancel(handle).map(ServerCancellation.init)
  private var hasCancellation = false

  private struct PreparedKey: Hashable {
    let text: String
    let types: [UInt32]
  }

  /// The number of seconds in which a server that is well ends a statement.
  private static let grace = 1.0

  /// From this number of prepared statements on, new ones replace all of them.
  private static let mostPrepared = 500

  /// Connects to a server.
  ///
  /// - Parameters:
  ///   - options: libpq's keywords with their values.
  ///   - pinsTransactions: whether the session belongs to a pool.
  ///   - patience: the number of seconds that the server may be silent, while it is asked for something.
  init(
    _ options: [(keyword: String, value: String)], preparesStatements: Bool, pinsTransactions: Bool = false,
    patience: TimeInterval = .infinity
  ) throws(ServerError) {
    let keywords = CStrings(options.map(\.keyword))
    let values = CStrings(options.map(\.value))
    guard let handle = trellis_PQconnectdbParams(keywords.pointers, values.pointers, 0) else {
      throw ServerError(message: "there is not enough memory", isLost: true)
    }
    self.handle = handle
    self.preparesStatements = preparesStatements
    self.pinsTransactions = pinsTransactions
    self.patience = patience
    lonelyCommits = .allocate(capacity: 1)
    lonelyCommits.initialize(to: 0)
    trellis_pq_silence(handle, lonelyCommits)
    guard trellis_PQstatus(handle) == Int32(TRELLIS_PQ_CONNECTION_OK) else {
      throw ServerError(message: Self.message(of: handle), isLost: true)
    }
    guard trellis_PQsetnonblocking(handle, 1) == 0, trellis_PQenterPipelineMode(handle) == 1 else {
      throw ServerError(message: Self.message(of: handle), isLost: true)
    }
  }

  deinit {
    trellis_PQfinish(handle)
    lonelyCommits.deallocate()
  }

  /// Whether a commit that was sent last is at no replica, because its wait for one was cancelled.
  var hasLonelyCommit: Bool { lonelyCommits.pointee > 0 }

  /// What libpq says, without the hints that it adds in lines that begin with a tab.
  private static func message(of handle: OpaquePointer) -> String {
    let lines = String(cString: trellis_PQerrorMessage(handle)).split(separator: "\n").filter { !$0.hasPrefix("\t") }
    return lines.joined(separator: "; ")
  }

  /// The version of the server, such as 150018.
  var serverVersion: Int { Int(trellis_PQserverVersion(handle)) }
  /// The server that libpq has connected to, by its address.
  var server: (host: String, port: String) {
    func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
    return (text(trellis_PQhost(handle)), text(trellis_PQport(handle)))
  }
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
    if parameters.bytes.count > Self.manyBytes { try flush() }
    return answers
  }

  /// From this number of bytes on, a statement leaves libpq's buffer before the next one comes into it.
  private static let manyBytes = 1 << 16

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
  /// - Parameter isInterruptible: whether the server may be asked to end them.
  /// - Returns: the rows of each statement that was run, and the error of the next one.
  func run(
    _ statements: [ServerStatement], isInterruptible: Bool = true
  ) throws(ServerError) -> (results: [ServerResult], failure: ServerError?) {
    let registration = try begin(isInterruptible: isInterruptible)
    defer { end(registration) }
    var statements = statements
    let pin = insertPin(into: &statements)
    answeredStatements = 0
    var answers: [Int] = []
    for statement in statements { answers.append(try send(statement)) }
    try finishSending()
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
      if failure == nil, let last {
        results.append(last)
        if number != pin { answeredStatements += 1 }
      }
      if failure != nil { forget(statements[number]) }
    }
    try endPipeline()
    if let pin, results.indices.contains(pin) { results.remove(at: pin) }
    return (results, failure)
  }

  /// Ends a transaction that has failed. A connection whose transaction cannot be ended is not used again.
  func rollBack() {
    if isLost { return }
    let answer = try? run([ServerStatement("ROLLBACK")], isInterruptible: false)
    if answer == nil || answer?.failure != nil { isLost = true }
  }

  /// - Returns: the place of the statement that was inserted; nil if none was.
  private func insertPin(into statements: inout [ServerStatement]) -> Int? {
    guard pinsTransactions, let first = statements.first else { return nil }
    if first.text.hasPrefix("BEGIN") {
      statements.insert(.pinTransaction, at: 1)
      return 1
    }
    if isInTransaction || first.text.hasPrefix("CREATE INDEX CONCURRENTLY ")
      || first.text.hasPrefix("DROP INDEX CONCURRENTLY ")
    {
      // The server runs these beside no other statement. Their names have schemas.
      return nil
    }
    statements.insert(.pinStatements, at: 0)
    return 0
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
    let registration = try begin()
    defer { end(registration) }
    var leading = [first].compactMap(\.self)
    if pinsTransactions, !isInTransaction { leading.insert(.pinStatements, at: 0) }
    var leadingAnswers = 0
    for statement in leading { leadingAnswers += try send(statement) }
    let answers = try send(statement)
    try finishSending()
    var failure: (any Error)?
    for number in 0..<leadingAnswers {
      if let result = try nextResult(), failure == nil {
        failure = error(of: result)
        // The last answer is the one to the statement, those before are about its preparation.
        if failure == nil, first != nil, number == leadingAnswers - 1 {
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

  /// What ``end(_:)`` has to remove.
  private struct Registration {
    let interruption: Interruption
    let number: Int
  }

  private func begin(isInterruptible: Bool = true) throws(ServerError) -> Registration? {
    if isLost { throw ServerError(message: "the connection is closed", isLost: true) }
    guard !isReading else {
      throw ServerError(state: "trellis-nested", message: "the connection was used while it was reading")
    }
    firstError = nil
    lonelyCommits.pointee = 0
    endOfGrace = nil
    self.isInterruptible = isInterruptible
    interruption = isInterruptible ? Interruption.current : nil
    guard let interruption, let cancellation = cancellation() else { return nil }
    guard let number = interruption.add({ cancellation.send() }) else { throw .cancelled }
    return Registration(interruption: interruption, number: number)
  }

  private func end(_ registration: Registration?) {
    if let registration { registration.interruption.remove(registration.number) }
    // A cancellation on its way would end what another caller does.
    if hasCancellation, sharedCancellation?.settle(within: Self.grace) == false { isLost = true }
  }

  /// A statement that failed may not have been prepared.
  private func forget(_ statement: ServerStatement) {
    prepared[PreparedKey(text: statement.text, types: statement.parameters.types)] = nil
  }

  private func nextResult() throws(ServerError) -> ServerResult? {
    if trellis_PQisBusy(handle) != 0 { try waitForAnswer() }
    guard let result = trellis_PQgetResult(handle) else {
      if trellis_PQstatus(handle) != Int32(TRELLIS_PQ_CONNECTION_OK) { throw lost() }
      return nil
    }
    if trellis_PQstatus(handle) != Int32(TRELLIS_PQ_CONNECTION_OK) { isLost = true }
    return ServerResult(result)
  }

  /// The error that an answer reports; nil if it is none. The first one is the reason if the connection is lost.
  private func error(of result: ServerResult) -> ServerError? {
    guard var error = result.error(isLost: isLost) else { return nil }
    if error.state == ServerError.endedState {
      if endOfGrace != nil {
        error = .silence(patience, isLost: isLost)
      } else if interruption?.isCancelled == true {
        error = .cancelled
      }
    }
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
      trellis_PQsendQueryParams(handle, "DEALLOCATE ALL", 0, nil, nil, nil, nil, 1) == 1
    else { throw lost() }
    try finishSending()
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

  /// Whether the server has closed the connection, as far as this is known without asking it.
  var isClosedByServer: Bool {
    if !isLost, trellis_pq_wait(handle, 0, 0) != 0 {
      // What it has said before comes first, and the end after it.
      for _ in 0..<2 where trellis_PQconsumeInput(handle) != 1 { isLost = true }
    }
    return isLost
  }

  /// Asks the server to end what it does.
  private func cancel() { cancellation()?.send() }

  /// The means to ask the server, from any thread, to end what it does.
  func cancellation() -> ServerCancellation? {
    hasCancellation = true
    return sharedCancellation
  }
}

// MARK: - Waiting

extension ServerConnection {
  /// Marks the end of what is sent together, and sends what is left of it.
  private func finishSending() throws(ServerError) {
    guard trellis_PQpipelineSync(handle) == 1 else { throw lost() }
    try flush()
    roundTrips += 1
  }

  private func flush() throws(ServerError) {
    while true {
      let left = trellis_PQflush(handle)
      if left == 0 { return }
      guard left == 1 else { throw lost() }
      try wait(sends: true)
      // The server may send answers meanwhile, and wait until they are taken. A failure is reported with the answer.
      guard trellis_PQconsumeInput(handle) == 1 else { return }
    }
  }

  private func waitForAnswer() throws(ServerError) {
    repeat {
      // The socket does not show what TLS has read from it.
      if trellis_PQsslInUse(handle) != 0 {
        guard trellis_PQconsumeInput(handle) == 1, trellis_PQisBusy(handle) != 0 else { return }
      }
      try wait(sends: false)
      guard trellis_PQconsumeInput(handle) == 1 else { return }
    } while trellis_PQisBusy(handle) != 0
  }

  /// Waits until the server has sent something, or takes more.
  ///
  /// A server that is silent for too long is asked to end the statement, after which the connection can be used. If it
  /// does not, it is left alone.
  private func wait(sends: Bool) throws(ServerError) {
    let start = Self.now
    while true {
      let left = (endOfGrace ?? start + patience) - Self.now
      if left > 0 {
        let milliseconds = Int32(min(60_000, (left * 1e3).rounded(.up)))
        if trellis_pq_wait(handle, sends ? 1 : 0, milliseconds) != 0 { return }
        continue
      }
      guard isInterruptible, endOfGrace == nil, let cancellation = cancellation() else {
        isLost = true
        didFindSilence?()
        throw .silence(patience, isLost: true)
      }
      cancellation.send()
      endOfGrace = Self.now + Self.grace
    }
  }

  private static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }
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
