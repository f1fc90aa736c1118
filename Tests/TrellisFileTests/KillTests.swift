import Foundation
import Testing
import TrellisFile
import TrellisSchema
import TrellisStorage
import TrellisTestSupport

@testable import TrellisSaveLoop

@Suite("A program that is killed loses nothing that was saved") struct KillTests {
  /// How often a program is killed; more by the environment variable TRELLIS_KILL_CYCLES.
  private static let cycles = ProcessInfo.processInfo.environment["TRELLIS_KILL_CYCLES"].flatMap(Int.init) ?? 10

  @Test("kill -9 during saves, in a separate process: no save that was told is lost, and none is there by half")
  func killing() throws {
    let program = try #require(
      BuiltProgram.url(of: "TrellisSaveLoop"), "the program TrellisSaveLoop is not beside the tests")
    let folder = try TestFolder()
    let path = folder.path("loop.json")
    let model = try LoopModel.make()
    var total: Int64 = 0
    for cycle in 0..<Self.cycles {
      let told = try runAndKill(program, path, afterMilliseconds: Int.random(in: 0...60))
      guard FileManager.default.fileExists(atPath: path) else { continue }
      let store = try JSONStore(path: path, model: model)
      let counter = try store.rows(model, "Counter").first?[2] ?? .integer(0)
      guard case .integer(let value) = counter else { continue }
      #expect(value >= max(told, total), "cycle \(cycle): told \(told), found \(value)")
      try check(store, model, value)
      store.close()
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["loop.json"])
      total = value
    }
    print("\(Self.cycles) times killed, \(total) saves, none lost")
    #expect(total > 0)
  }

  /// The last number of a save that the program has told.
  private func runAndKill(_ program: URL, _ path: String, afterMilliseconds wait: Int) throws -> Int64 {
    let process = Process()
    let output = Pipe()
    process.executableURL = program
    process.arguments = [path]
    process.standardOutput = output
    try process.run()
    // Not before it has begun to save.
    var told = output.fileHandleForReading.availableData
    Thread.sleep(forTimeInterval: Double(wait) / 1_000)
    kill(process.processIdentifier, SIGKILL)
    told.append(output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    return String(decoding: told, as: UTF8.self).split(separator: "\n").last.flatMap { Int64($0) } ?? 0
  }

  private func check(_ store: JSONStore, _ model: Model, _ value: Int64) throws {
    let parents = try store.rows(model, "Parent")
    #expect(parents.map { $0[2] } == (max(1, value - 49)...max(1, value)).map { .integer($0) })
    let children = try store.rows(model, "Child")
    #expect(children.count == 2 * parents.count)
    #expect(Set(children.map { $0[3] }) == Set(parents.map { $0[0] }))
  }
}
