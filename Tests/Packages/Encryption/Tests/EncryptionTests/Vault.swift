import Ciphers
import Foundation
import Testing

/// A folder with an encrypted store, and the programs that work on it.
final class Vault: Sendable {
  static let key = "x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'"
  static let next = "x'98483C6EB40B6C31A448C22A66DED3B5E5E8D5119CAC8327B655C8B5C4836481'"

  let folder: URL
  var path: String { folder.appending(path: "vault.store").path }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "vault-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Whether the root package has built its program.
  static var hasTool: Bool { FileManager.default.isExecutableFile(atPath: programs.appending(path: "trellis").path) }

  /// What a program has said, and how it ended.
  struct Outcome {
    var output: String
    var errors: String
    var wasKilled: Bool
    var status: Int32
  }

  static var programs: URL {
    let places = [Bundle.main.bundleURL, URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()]
    return places.first { FileManager.default.isExecutableFile(atPath: $0.appending(path: "keeper").path) } ?? places[0]
  }

  func start(
    _ words: [String], of program: String = "keeper", key: String? = Vault.key, next: String? = nil, step: Int? = nil,
    environment added: [String: String] = [:]
  ) throws -> (Process, output: Pipe, input: Pipe, errors: URL) {
    let process = Process()
    process.executableURL = Self.programs.appending(path: program)
    process.arguments = words
    var environment = ProcessInfo.processInfo.environment.merging(added) { $1 }
    environment["VAULT_KEY"] = key
    environment["VAULT_NEW_KEY"] = next
    environment["TMPDIR"] = folder.path
    environment["SQLITE_TMPDIR"] = folder.path
    if let step {
      environment["STEP_KILLER"] = "\(step)"
      // A name that is searched for, because `LD_PRELOAD` takes a space in a path for the end of the path.
      environment["LD_PRELOAD"] = "libStepKiller.so"
      environment["LD_LIBRARY_PATH"] = [Self.programs.path, environment["LD_LIBRARY_PATH"]].compactMap(\.self)
        .joined(separator: ":")
    }
    process.environment = environment
    let (output, input) = (Pipe(), Pipe())
    let errors = FileManager.default.temporaryDirectory.appending(path: "errors-\(UUID().uuidString)")
    try Data().write(to: errors)
    process.standardOutput = output
    process.standardInput = input
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    return (process, output, input, errors)
  }

  @discardableResult func run(
    _ words: [String], of program: String = "keeper", key: String? = Vault.key, next: String? = nil, step: Int? = nil,
    environment added: [String: String] = [:]
  ) throws -> Outcome {
    let (process, output, _, errors) = try start(
      words, of: program, key: key, next: next, step: step, environment: added)
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    defer { try? FileManager.default.removeItem(at: errors) }
    return Outcome(
      output: String(decoding: said, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines),
      errors: try String(contentsOf: errors, encoding: .utf8),
      wasKilled: process.terminationReason == .uncaughtSignal, status: process.terminationStatus)
  }

  func fill(_ count: Int, seed: UInt64, key: String? = Vault.key) throws {
    let outcome = try run(["fill", path, "\(seed)", "\(count)"], key: key)
    try #require(outcome.status == 0, "\(outcome)")
  }

  /// The files of the folder that contain one of the values as plain text.
  func filesWithPlainText(_ count: Int, seed: UInt64) throws -> [String] {
    let values = FileManager.default.temporaryDirectory.appending(path: "values-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: values) }
    try (0..<count).map { Secret.text(seed, $0) + "\n" }.joined().write(to: values, atomically: true, encoding: .utf8)
    let grep = Process()
    grep.executableURL = URL(filePath: "/usr/bin/env")
    grep.arguments = ["grep", "-raliF", "-f", values.path, folder.path]
    let output = Pipe()
    grep.standardOutput = output
    try grep.run()
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    grep.waitUntilExit()
    // 1 says that nothing was found, more is a failure.
    try #require(grep.terminationStatus < 2)
    let paths = String(decoding: said, as: UTF8.self).split(separator: "\n")
    return paths.map { URL(filePath: String($0)).lastPathComponent }
  }

  /// The state of all files, to bring it back.
  func copy() throws -> Vault {
    let copy = try Vault()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try FileManager.default.copyItem(at: folder.appending(path: name), to: copy.folder.appending(path: name))
    }
    return copy
  }

  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }
}
