import Foundation

@testable import Shop

/// A program of the package in a process of its own, which a test kills and starts again.
final class ProgramProcess {
  struct NotBuilt: Error {}

  private let name: String
  private let arguments: [String]
  private let environment: [String: String]
  private var process: Process?

  init(_ name: String, _ arguments: [String] = [], environment: [String: String] = [:]) {
    (self.name, self.arguments, self.environment) = (name, arguments, environment)
  }

  deinit { kill() }

  var isRunning: Bool { process?.isRunning == true }
  /// Whether the program has come to its end and found nothing wrong.
  var hasSucceeded: Bool {
    guard let process, !process.isRunning else { return false }
    return process.terminationReason == .exit && process.terminationStatus == 0
  }
  /// Whether the program has ended by itself, and said that something is wrong.
  var hasFailed: Bool {
    guard let process, !process.isRunning else { return false }
    return process.terminationReason == .exit ? process.terminationStatus != 0 : process.terminationStatus != SIGKILL
  }

  func start() throws {
    let made = Process()
    made.executableURL = try program()
    made.arguments = arguments
    made.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    made.standardOutput = FileHandle.nullDevice
    try made.run()
    process = made
  }

  func kill() {
    guard let process, process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// The programs lie beside the tests.
  private func program() throws -> URL {
    var folder = Bundle.main.executableURL?.deletingLastPathComponent()
    #if canImport(Darwin)
      folder = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL.deletingLastPathComponent()
    #endif
    guard let url = folder?.appending(path: name), FileManager.default.isExecutableFile(atPath: url.path)
    else { throw NotBuilt() }
    return url
  }
}

/// An instance of the server in a process of its own.
final class ServerProcess {
  let port: Int
  private let process: ProgramProcess

  init(_ settings: ShopSettings) {
    port = Int.random(in: 20_000..<32_000)
    process = ProgramProcess(
      "shop-server",
      environment: [
        "SHOP_DATABASE_URL": settings.databaseURL, "SHOP_SCHEMA": settings.schema, "SHOP_PORT": "\(port)",
        "SHOP_CONNECTIONS": "\(settings.connections)", "SHOP_INSTANCE": settings.instance,
      ])
  }

  var url: URL { URL(string: "http://127.0.0.1:\(port)/sync") ?? URL(filePath: "/") }

  /// Starts the program, and waits until it answers. One that ends before, because its database is away, is started again.
  func start() async throws {
    try process.start()
    let live = url.deletingLastPathComponent().appending(path: "live")
    while true {
      if let data = try? Data(contentsOf: live), data.isEmpty { return }
      try await Task.sleep(for: .milliseconds(20))
      if !process.isRunning { try process.start() }
    }
  }

  func kill() { process.kill() }
}
