import Foundation

@testable import Shop

/// The database that tests share: the one that `TRELLIS_POSTGRES_URL` names, or one that `cluster.sh` runs.
enum TestDatabase {
  private static let named = ProcessInfo.processInfo.environment["TRELLIS_POSTGRES_URL"]
  private static let shared = Result { try named ?? Cluster.shared.get().url }

  /// Whether there is a server, or the programs that make one.
  static let isThere = named != nil || Cluster.isPossible

  /// Settings with a schema that no other test has.
  static func settings(
    _ url: String? = nil, connections: Int = 4, instance: String = "shop"
  ) throws -> ShopSettings {
    var settings = ShopSettings(databaseURL: try url ?? shared.get())
    settings.schema = "shop \(UInt64.random(in: 0 ... .max))"
    settings.connections = connections
    settings.instance = instance
    settings.port = 0
    settings.logLevel = .error
    return settings
  }
}

/// A server that belongs to the tests.
final class Cluster: Sendable {
  struct Failure: Error {}

  let url: String
  private let process: Process
  private let input = Pipe()
  private let output = Pipe()

  static let isPossible: Bool = {
    guard let process = try? Cluster.started(["--check"], nil, nil) else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  static let shared = Result { try Cluster() }

  init() throws {
    process = try Self.started([], input, output)
    url = try Self.line(of: output)
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// - Parameter mode: `fast` ends the connections, `immediate` is a crash.
  func stop(_ mode: String) throws { try tell("stop \(mode)") }

  func start() throws { try tell("start") }

  private func tell(_ command: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
    guard try Self.line(of: output) == "0" else { throw Failure() }
  }

  private static func line(of pipe: Pipe) throws -> String {
    var bytes: [UInt8] = []
    while let byte = try pipe.fileHandleForReading.read(upToCount: 1)?.first {
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    throw Failure()
  }

  private static func started(_ arguments: [String], _ input: Pipe?, _ output: Pipe?) throws -> Process {
    let process = Process()
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    process.executableURL = package.appending(path: "cluster.sh")
    process.arguments = arguments
    if let input { process.standardInput = input }
    if let output { process.standardOutput = output }
    try process.run()
    return process
  }
}
