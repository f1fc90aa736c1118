import Dispatch
import TrellisModel
import TrellisStorage

/// The lines of one client: requests are answered one after the other, and each can be cancelled or comes to its deadline meanwhile.
final class ProtocolSession: Sendable {
  private struct State {
    /// The requests that are not answered yet.
    var pending: [RequestID: CallLimit] = [:]
    var cancelled: Set<RequestID> = []
  }

  private let server: ProtocolServer
  private let seconds: Int
  private let write: @Sendable (String) -> Void
  private let state = Locked(State())
  private let queue = DispatchQueue(label: "trellis.mcp")

  /// The greatest number of requests that wait.
  private static let mostPending = 256

  /// - Parameters:
  ///   - seconds: How long a request may take.
  ///   - write: Takes a line, from any thread.
  init(_ server: ProtocolServer, seconds: Int, write: @escaping @Sendable (String) -> Void) {
    self.server = server
    self.seconds = seconds
    self.write = write
  }

  /// Takes a line of the client. It returns before a request is answered.
  func receive(_ line: [UInt8]) {
    // Some clients send an empty line now and then.
    if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { return }
    switch ClientMessage.read(line) {
    case .single(.failure(let refusal)): if let text = ProtocolServer.line(refusal) { write(text) }
    case .single(.success(let message)): receive(message)
    case .batch(let messages):
      queue.async { [self] in
        let limit = CallLimit()
        if let text = ended(limit, { server.answer(messages) }) { write(text) }
      }
    }
  }

  /// Says that a line was too long to be read.
  func refuseLine(longerThan count: Int) {
    write(ProtocolServer.line(.invalidRequest("The line has more than \(count) bytes.")))
  }

  /// Waits until everything is answered.
  func finish() { queue.sync {} }

  // MARK: Messages

  private func receive(_ message: ClientMessage) {
    guard let id = message.id else {
      if message.method == "notifications/cancelled", let id = message.parameters["requestId"].flatMap(RequestID.init) {
        cancel(id)
      }
      return
    }
    if message.method == "ping" {
      if let text = server.answer(message) { write(text) }
      return
    }
    let limit = CallLimit()
    let refusal = state.withLock { state -> ProtocolError? in
      if state.pending[id] != nil {
        var error = ProtocolError.invalidRequest("A request with this id is not answered yet.")
        error.data = JSONText.object([("id", id.text)])
        return error
      }
      if state.pending.count >= Self.mostPending {
        return .failure("\(Self.mostPending) requests are not answered yet. Wait for some of them.")
      }
      state.pending[id] = limit
      return nil
    }
    if let refusal {
      // An answer with the id would be taken for that of the other request.
      let isTwice = refusal.data != nil
      return write(ProtocolServer.line(refusal, isTwice ? nil : id))
    }
    if message.method == "subscriptions/listen" { return listen(message, id) }
    queue.async { [self] in answer(message, id, limit) }
  }

  private func answer(_ message: ClientMessage, _ id: RequestID, _ limit: CallLimit) {
    let text = limit.reason == nil ? ended(limit) { server.answer(message) } : nil
    let isWanted = state.withLock { state in
      state.pending[id] = nil
      return state.cancelled.remove(id) == nil
    }
    if isWanted, let text { write(text) }
  }

  /// Does a work that is ended at its deadline.
  private func ended(_ limit: CallLimit, _ body: () -> String?) -> String? {
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + .seconds(seconds))
    timer.setEventHandler { [seconds] in
      limit.end(
        because: StoreError(
          .timedOut, "The call was not done within \(seconds) seconds, and was ended. Nothing was changed.",
          remedy: "Ask for less, or start the server with a longer --timeout."))
    }
    timer.resume()
    defer { timer.cancel() }
    return limit.run(body)
  }

  private func cancel(_ id: RequestID) {
    let limit = state.withLock { state -> CallLimit? in
      guard let limit = state.pending[id] else { return nil }
      state.cancelled.insert(id)
      return limit
    }
    limit?.end(
      because: StoreError(.cancelled, "The client has cancelled the call.", remedy: "Call again if it is still wanted.")
    )
  }

  /// Opens a stream of notifications, of which there are none: the tools and the addresses of the model stay.
  private func listen(_ message: ClientMessage, _ id: RequestID) {
    do throws(ProtocolError) {
      guard try !server.version(of: message).hasHandshake else { throw .unknownMethod(message.method) }
      let meta = JSONText.object([("io.modelcontextprotocol/subscriptionId", id.text)])
      write(
        JSONText.object([
          ("jsonrpc", "\"2.0\""), ("method", "\"notifications/subscriptions/acknowledged\""),
          ("params", JSONText.object([("_meta", meta), ("notifications", "{}")])),
        ]))
    } catch {
      state.withLock { state in state.pending[id] = nil }
      write(ProtocolServer.line(error, id))
    }
  }
}
