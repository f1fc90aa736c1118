import Foundation
import TrellisTestSupport

/// A program of the save loop, which saves until it is killed.
final class LoopProcess {
  private let process = Process()
  private let output = Pipe()
  private let input = Pipe()
  private var heard = Data()

  struct Missing: Error {}

  init(_ file: LoopFile, writers: [String]) throws {
    guard let program = BuiltProgram.url(of: "TrellisSaveLoop") else { throw Missing() }
    process.executableURL = program
    process.arguments = [file.kind.rawValue, file.url.path] + writers
    process.standardOutput = output
    process.standardInput = input
    try process.run()
  }

  /// Waits until it has saved, or has ended.
  func waitForFirstSave() { heard.append(output.fileHandleForReading.availableData) }

  /// Suspends the store of the program, and then the program.
  func suspend() throws {
    try input.fileHandleForWriting.write(contentsOf: Data("suspend\n".utf8))
    let word = Data("suspended\n".utf8)
    // A line of a thread that has saved before may follow.
    while heard.suffix(1_000).range(of: word) == nil {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { throw Missing() }
      heard.append(data)
    }
    _ = Foundation.kill(process.processIdentifier, SIGSTOP)
  }

  func resume() throws {
    _ = Foundation.kill(process.processIdentifier, SIGCONT)
    // The next suspension has a word of its own.
    heard = Data(String(decoding: heard, as: UTF8.self).replacing("suspended\n", with: "").utf8)
    try input.fileHandleForWriting.write(contentsOf: Data("resume\n".utf8))
  }

  var number: Int32 { process.processIdentifier }

  func kill() { _ = Foundation.kill(process.processIdentifier, SIGKILL) }

  /// How often each writer has told to have saved, once the program is gone, and whether it was killed.
  func end() -> (told: [String: Int64], wasKilled: Bool) {
    heard.append(output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    var told: [String: Int64] = [:]
    // The last line may be there by half.
    for line in String(decoding: heard, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .dropLast()
    {
      let words = line.split(separator: " ")
      if words.count == 2, let number = Int64(words[1]) { told[String(words[0])] = number }
    }
    return (told, process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL)
  }
}
