/// What an exchange has done.
public struct ExchangeReport: Hashable, Sendable {
  /// The number of saves that the server has answered.
  public internal(set) var sent = 0
  /// The number of objects that the server has sent.
  public internal(set) var received = 0
  /// What the server did not take of the saves that were sent. The store keeps it until it is removed.
  public internal(set) var conflicts: [SyncConflict] = []
}

/// What an exchange does next.
enum ExchangeStep: Hashable {
  case registering
  /// - Parameter saves: the number of saves of the message.
  case sending(_ saves: Int)
  /// - Parameter objects: the number of objects that the exchange has received so far.
  case receiving(_ objects: Int)
}

extension Replica {
  private static let mostRounds = 64

  /// Sends what was saved here, and receives what was saved elsewhere.
  ///
  /// An exchange that fails or is cancelled has lost nothing; the next one goes on where it ended.
  ///
  /// - Parameter transport: The way to the server.
  /// - Throws: ``SyncError``; ``StoreError`` if the store fails; errors of the transport; `CancellationError`.
  /// - Complexity: linear in the number of changes on both sides.
  @discardableResult public func exchange(with transport: some SyncTransport) async throws -> ExchangeReport {
    try await exchange(with: transport) { _ in }
  }

  /// - Parameter step: called before each message; an error of it ends the exchange.
  func exchange(
    with transport: some SyncTransport, step: (ExchangeStep) throws -> Void
  ) async throws -> ExchangeReport {
    do {
      return try await exchangeOnce(with: transport, step)
    } catch let error as SyncError where error.code == .copiedReplica {
      try renew()
      return try await exchangeOnce(with: transport, step)
    }
  }

  private func exchangeOnce(
    with transport: some SyncTransport, _ step: (ExchangeStep) throws -> Void
  ) async throws -> ExchangeReport {
    var report = ExchangeReport()
    if let request = try registration() {
      try step(.registering)
      guard case .registered(let answer) = try await ask(.register(request), transport) else {
        throw SyncError.damagedMessage
      }
      try receive(answer)
    }
    var rounds = 0
    while rounds < Self.mostRounds {
      rounds += 1
      try await push(to: transport, &report, step)
      guard let request = try nextPull() else { continue }
      try step(.receiving(report.received))
      guard let answer = try await pull(request, transport) else { continue }
      var reception = try receive(answer)
      if reception == .incomplete {
        guard try await fetch(answer, transport, { try step(.receiving(report.received)) }) else { continue }
        reception = try receive(answer)
      }
      switch reception {
      case .part:
        report.received += answer.count
        rounds = 0
      case .applied:
        report.received += answer.count
        if try isSettled { return report }
      case .outdated, .pushFirst, .incomplete: break
      }
    }
    throw SyncError.busy
  }

  private func push(
    to transport: some SyncTransport, _ report: inout ExchangeReport, _ step: (ExchangeStep) throws -> Void
  ) async throws {
    var last: PushAnswer?
    while let request = try nextPush(after: last, atMost: transport.messageSize) {
      try step(.sending(max(1, request.sets.count)))
      guard case .pushed(let answer) = try await ask(.push(request), transport) else { throw SyncError.damagedMessage }
      report.conflicts += try receive(answer)
      report.sent += answer.outcomes.count
      // Another exchange of the store has sent other pieces.
      if !answer.wanted.isEmpty, answer.wanted == last?.wanted { throw SyncError.busy }
      last = answer
    }
  }

  /// - Returns: nil if the server has deleted the moment whose parts were received.
  private func pull(_ request: PullRequest, _ transport: some SyncTransport) async throws -> PullAnswer? {
    try await reading(isBegun: !request.moment.isEmpty) {
      guard case .pulled(let answer) = try await ask(.pull(request), transport) else { throw SyncError.damagedMessage }
      return answer
    }
  }

  /// Fetches the data that an answer names.
  ///
  /// - Returns: false if the server has deleted the answer's moment.
  private func fetch(
    _ answer: PullAnswer, _ transport: some SyncTransport, _ step: () throws -> Void
  ) async throws -> Bool {
    try await reading(isBegun: true) {
      var last: ContentRequest?
      while let request = try nextFetch(for: answer, atMost: transport.messageSize) {
        // No piece was among those that are missing.
        if request == last { throw SyncError.damagedMessage }
        last = request
        try step()
        guard case .fetched(let pieces) = try await ask(.fetch(request), transport) else {
          throw SyncError.damagedMessage
        }
        try receive(pieces, to: request)
      }
      return true
    } ?? false
  }

  /// Runs a closure that reads a moment of the server.
  ///
  /// - Returns: nil if the server has deleted the moment. Then the answer begins anew.
  private func reading<Result>(isBegun: Bool, _ body: () async throws -> Result) async throws -> Result? {
    do {
      return try await body()
    } catch let error as SyncError where error.code == .expired && isBegun {
      try recoverWithoutBase()
      try giveUpDownload()
      return nil
    }
  }

  private func ask(_ message: SyncMessage, _ transport: some SyncTransport) async throws -> SyncMessage {
    do {
      return try await askOnce(message, transport)
    } catch let error as SyncError where error.code == .unknownModel {
      guard let model = message.model else { throw error }
      let answer = try await askOnce(.register(introduction(ofModel: model)), transport)
      if case .register = message { return answer }
      return try await askOnce(message, transport)
    }
  }

  private func askOnce(_ message: SyncMessage, _ transport: some SyncTransport) async throws -> SyncMessage {
    try Task.checkCancellation()
    let answer = try SyncMessage(try await transport.answer(to: message.bytes))
    if case .refused(let code, let message, let remedy) = answer {
      throw SyncError(SyncError.Code(rawValue: code), message, remedy: remedy)
    }
    return answer
  }
}

extension SyncMessage {
  /// The model that a request names.
  fileprivate var model: String? {
    switch self {
    case .register(let request): request.model
    case .push(let request): request.model
    case .pull(let request): request.model
    case .fetch(let request): request.model
    case .registered, .pushed, .pulled, .fetched, .refused: nil
    }
  }
}

extension PullAnswer {
  /// The number of objects that the answer is about.
  fileprivate var count: Int { states.count + gone.count + left.count }
}
