import Foundation
import TrellisTestSupport

@testable import TrellisWriterProcess

/// Who does what a test tells it, in this process or in one of its own.
protocol ToldWriter {
  func tell(_ command: String) throws -> String
}

extension Writer: ToldWriter {
  func tell(_ command: String) -> String { answer(command) }
}

/// A writer in a process of its own.
final class WriterProcess: ToldWriter {
  struct Gone: Error {}

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread = Data()

  /// - Parameter places: The path of a file, or the address of a server and a schema.
  init(_ places: String...) throws {
    guard let program = BuiltProgram.url(of: "TrellisWriterProcess") else { throw Gone() }
    process.executableURL = program
    process.arguments = places
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  func tell(_ command: String) throws -> String {
    try send(command)
    return try hear()
  }

  func send(_ command: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
  }

  /// The next line of the answer.
  func hear() throws -> String {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread = Data(unread[(end + 1)...]) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { throw Gone() }
      unread += more
    }
  }
}

/// Two writers of one store that hear nothing of each other until they look.
struct ToldPair {
  enum Place: CaseIterable {
    case contexts, processes, machines

    static let allCases: [Place] = [contexts, processes] + (TestServer.isThere ? [machines] : [])
    /// Those with a process for each writer.
    static let separate = allCases.filter { $0 != .contexts }
  }

  let first: any ToldWriter
  let second: any ToldWriter
  private let file = TemporaryFile()

  init(_ place: Place) throws {
    switch place {
    case .contexts:
      first = try Writer(.sqlite(at: file.url, durability: .relaxed))
      second = try Writer(.sqlite(at: file.url, durability: .relaxed))
    case .processes:
      first = try WriterProcess(file.url.path)
      second = try WriterProcess(file.url.path)
    case .machines:
      let schema = TestServer.newSchema()
      first = try WriterProcess(TestServer.url, schema)
      second = try WriterProcess(TestServer.url, schema)
    }
    _ = try first.tell("seed")
    for writer in [first, second] { _ = try writer.tell("read") }
  }
}
