import Foundation

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

  /// The program, beside the tests.
  private static var program: URL? {
    let places = [Bundle.main.bundleURL, URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()]
    return places.map { $0.appending(path: "TrellisWriterProcess") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }

  init(_ file: URL) throws {
    guard let program = Self.program else { throw Gone() }
    process.executableURL = program
    process.arguments = [file.path]
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

/// Two writers of one SQLite file that hear nothing of each other until they look.
struct ToldPair {
  enum Place: CaseIterable { case contexts, processes }

  let first: any ToldWriter
  let second: any ToldWriter
  private let file = TemporaryFile()

  init(_ place: Place) throws {
    switch place {
    case .contexts:
      first = try Writer(.sqlite(at: file.url, durability: .relaxed))
      second = try Writer(.sqlite(at: file.url, durability: .relaxed))
    case .processes:
      first = try WriterProcess(file.url)
      second = try WriterProcess(file.url)
    }
    _ = try first.tell("seed")
    for writer in [first, second] { _ = try writer.tell("read") }
  }
}

/// A place for a store on disk, emptied when nobody needs it any more.
final class TemporaryFile {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "Trellis-\(UUID().uuidString)")

  init() { try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var url: URL { folder.appending(path: "store.sqlite") }
}
