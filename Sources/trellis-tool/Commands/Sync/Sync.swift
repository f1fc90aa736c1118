import Dispatch
import Foundation
import TrellisModel
import TrellisStorage
import TrellisSync

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// `trellis sync`: one exchange of a store with a server.
enum Sync {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let path = arguments.operands[0]
    let transport = try transport(to: arguments.operands[1], arguments)
    let container = try StoreOperand(path).container(readOnly: false)
    defer { container.close() }
    return try ToolFailure.catching(path) {
      let replica = try Replica(container)
      let report = try wait { try await replica.exchange(with: transport) }
      let conflicts = try replica.conflicts()
      if arguments.has("json") {
        Console.print(
          JSONText.object([
            ("sent", "\(report.sent)"), ("received", "\(report.received)"),
            ("conflicts", JSONText.list(conflicts.map(json))),
          ]) + "\n")
      } else {
        let (sent, received) = (ObjectText.count(report.sent, "save"), ObjectText.count(report.received, "object"))
        Console.print("sent \(sent), received \(received)\n")
        for conflict in conflicts { Console.print("conflict: \(conflict)\n") }
      }
      return conflicts.isEmpty ? .success : .asks
    }
  }

  private static func json(_ conflict: SyncConflict) -> String {
    JSONText.object([
      ("save", "\(conflict.sequence)"), ("reason", conflict.reason.map { JSONText.quoted($0.rawValue) } ?? "null"),
      ("brokenRules", JSONText.list(conflict.failures.map(JSONText.quoted))),
      ("losses", JSONText.list(conflict.losses.map(json))),
    ])
  }

  private static func json(_ loss: SyncConflict.Loss) -> String {
    JSONText.object([
      ("key", "\(loss.key)"), ("property", loss.property.map(JSONText.quoted) ?? "null"),
      ("reason", JSONText.quoted(loss.reason.rawValue)),
    ])
  }

  // MARK: Transports

  private static func transport(
    to place: String, _ arguments: ParsedArguments
  ) throws(ToolFailure) -> any SyncTransport {
    let headers = try arguments.values(of: "header").map { text throws(ToolFailure) in try header(text) }
    let seconds = try arguments.count("timeout", of: .sync) ?? 60
    guard seconds > 0 else { throw .usage("--timeout needs a number of seconds from 1.", of: .sync) }
    if place.hasPrefix("http://") || place.hasPrefix("https://") {
      guard let url = URL(string: place), url.host != nil else {
        throw .usage("\(place.inMessage) is no address.", of: .sync)
      }
      return HTTPTransport(url, timeout: .seconds(seconds)) { request in
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
      }
    }
    return FolderTransport(try folder(place), timeout: .seconds(seconds))
  }

  private static func header(_ text: String) throws(ToolFailure) -> (name: String, value: String) {
    let parts = text.split(separator: ":", maxSplits: 1)
    guard parts.count == 2, !text.contains(where: \.isNewline) else {
      throw .usage("--header needs a name and a value with a colon between.", of: .sync)
    }
    return (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces))
  }

  /// A folder that is there.
  static func folder(_ path: String) throws(ToolFailure) -> URL {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
      throw ToolFailure(
        .unreadable, "error: \(path.inMessage) is no folder, and no address that begins with http:// or https://.")
    }
    return URL(fileURLWithPath: path)
  }

  /// Waits for work of tasks, in a program without any.
  private static func wait<Result: Sendable>(
    for body: @escaping @Sendable () async throws -> Result
  ) throws -> Result {
    let done = DispatchSemaphore(value: 0)
    let result = Locked<Swift.Result<Result, any Error>?>(nil)
    Task.detached {
      let outcome: Swift.Result<Result, any Error>
      do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
      result.withLock { $0 = outcome }
      done.signal()
    }
    done.wait()
    guard let outcome = result.withLock({ $0 }) else { throw CancellationError() }
    return try outcome.get()
  }
}

// MARK: - Command

extension Sync {
  static let command = Command(
    operands: "STORE SERVER", needed: "a STORE and the address of its SERVER", count: 2...2,
    options: [
      .init(name: "header", value: "TEXT", summary: "send this header, such as 'Authorization: …'", isRepeatable: true),
      .init(name: "timeout", value: "SECONDS", summary: "wait this long for an answer, 60 by default"), .json,
    ],
    summary: "exchange the changes of a store with a server, once",
    details: """
      The SERVER is an address with http:// or https://, or a folder in which `trellis answer` or a program answers. The
      model needs "history": "values". The first exchange makes the store a replica. Exit 0 if the store and the server
      are alike, 2 if there are conflicts, which the store keeps, and 69 if the server gives no answer.
      """
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
