import Foundation

/// Starts the programs that lie beside this one.
struct Program {
  let name: String

  private var url: URL? { Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent(name) }

  /// Whether it is built.
  var isThere: Bool { url.map { FileManager.default.isExecutableFile(atPath: $0.path) } ?? false }

  /// Runs to the end and returns what was printed. A program that fails ends the benchmark.
  func run(_ arguments: [String], _ environment: [String: String]) throws -> Data {
    let process = Process()
    process.executableURL = url
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let printed = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      print("\(name) \(arguments.joined(separator: " ")) ended with \(process.terminationStatus)")
      exit(1)
    }
    return printed
  }
}
