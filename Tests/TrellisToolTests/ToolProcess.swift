import Foundation
import TrellisTestSupport

/// A folder with files, in which the tool is run as its users run it.
struct ToolFolder {
  struct NotBuilt: Error {}

  struct Outcome: Equatable {
    var status: Int32
    var output = ""
    var errors = ""
  }

  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// Runs a built program in the folder.
  ///
  /// - Parameter output: Takes the output instead of the outcome.
  func run(_ arguments: [String], program: String = "trellis", output: FileHandle? = nil) throws -> Outcome {
    // What plugins run has another name where SwiftPM builds for the machine that builds.
    guard let url = BuiltProgram.url(of: program) ?? BuiltProgram.url(of: program + "-tool") else { throw NotBuilt() }
    // Files take any amount of output, which a pipe does not.
    let streams = try [TestFolder(), TestFolder()].map { place in
      let file = place.file("text")
      try Data().write(to: file)
      return (place, file, try FileHandle(forWritingTo: file))
    }
    let process = Process()
    process.executableURL = url
    process.arguments = arguments
    process.currentDirectoryURL = folder.url
    process.environment = ProcessInfo.processInfo.environment.merging(["SOURCE_DATE_EPOCH": "1772409600"]) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output ?? streams[0].2
    process.standardError = streams[1].2
    try process.run()
    process.waitUntilExit()
    let texts = try streams.map { String(decoding: try Data(contentsOf: $0.1), as: UTF8.self) }
    // A crash is no answer, whatever was expected.
    let status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    return Outcome(status: status, output: texts[0], errors: texts[1])
  }

  func run(_ arguments: String...) throws -> Outcome { try run(arguments) }

  func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

  func write(_ bytes: [UInt8], to name: String) throws {
    let file = folder.file(name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
  }

  func bytes(of name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: folder.file(name))) }
  func text(of name: String) throws -> String { String(decoding: try bytes(of: name), as: UTF8.self) }

  func names(in name: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path(name)).sorted()
  }
}
