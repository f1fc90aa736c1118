import Foundation
import Testing
import TrellisTestSupport

/// Many processes on one file. `TRELLIS_PROCESS_SECONDS` says how long; a minute for a long run.
@Suite("Crowds of programs") struct CrowdOfProcessesTests {
  private static let seconds =
    TestSettings.number("TRELLIS_PROCESS_SECONDS", or: 0.5)

  @Test(
    "everything that eight processes saved is there once, and no lock is anybody's affair",
    arguments: ToldPair.Place.separate)
  func churning(_ place: ToldPair.Place) throws {
    let (file, schema) = (TemporaryFile(), TestServer.newSchema())
    let writers = try (0..<8).map { _ in
      place == .machines ? try WriterProcess(TestServer.url, schema) : try WriterProcess(file.url.path)
    }
    for (number, writer) in writers.enumerated() {
      try writer.send("churn \(number) \(Int(Self.seconds * 1000))")
    }
    let answers = try writers.map { try $0.hear() }
    let saves = answers.compactMap { Int($0) }
    #expect(saves.count == writers.count, "\(answers)")
    let sum = saves.reduce(0, +)
    #expect(try writers[0].tell("stamps") == "\(sum) \(sum) \(sum)")
    print("\(writers.count) processes, \(Self.seconds) s: \(saves) saves, \(sum) in all, each there once")
  }
}
