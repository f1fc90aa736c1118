import Foundation
import Testing
import Trellis
import TrellisDynamic
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

@Suite("Openings and migrations in the query log") struct LoggedOpeningTests {
  /// What a log was told: begins and ends in their order.
  private final class Notes: Sendable {
    private let found = Locked<[String]>([])
    var lines: [String] { found.withLock { $0 } }

    var log: QueryLog {
      QueryLog(begin: { kind, subject in
        self.add("begin \(kind)\(subject.map { " \($0)" } ?? "")")
        return { entry in self.add("end \(entry.kind)\(entry.failure.map { " \($0)" } ?? "")") }
      })
    }

    private func add(_ line: String) { found.withLock { $0.append(line) } }
  }

  private let file = TemporaryFile()
  private let notes = Notes()

  private func model(_ attributes: String) throws -> ObjectModel {
    let text = #"{"model": "Notes", "entities": {"Note": {"attributes": {\#(attributes)}}}}"#
    return ObjectModel(dynamic: try #require(ModelFile.parse(Array(text.utf8), path: "Notes").description))
  }

  private func first() throws {
    let container = try PersistentContainer(
      model: model(#""text": "string""#), store: .sqlite(at: file.url), log: notes.log)
    let context = container.newContext()
    for number in 0..<5 { try context.insert("Note", ["text": .text("\(number)")]) }
    try context.save()
    container.close()
  }

  @Test("an opening lies around its migration, and requests follow")
  func migration() throws {
    try first()
    #expect(notes.lines == ["begin opening", "end opening", "begin save", "end save"])
    let next = Notes()
    let container = try PersistentContainer(
      model: model(#""text": "string", "stars": {"type": "int16", "default": 3}"#), store: .sqlite(at: file.url),
      log: next.log)
    #expect(try container.newContext().count("Note") == 5)
    #expect(
      next.lines == [
        "begin opening", "begin migration", "end migration", "end opening", "begin count Note", "end count",
      ])
    container.close()
  }

  @Test("an opening off the caller's thread is told as well, beside its progress")
  func observed() async throws {
    try first()
    let next = Notes()
    let fractions = Locked<[Double]>([])
    let container = try await PersistentContainer.opening(
      model: model(#""text": "string", "stars": {"type": "int16", "default": 3}"#), store: .sqlite(at: file.url),
      log: next.log
    ) { progress in fractions.withLock { $0.append(progress.fractionCompleted) } }
    #expect(next.lines == ["begin opening", "begin migration", "end migration", "end opening"])
    #expect(fractions.withLock { $0 }.last == 1)
    container.close()
  }

  @Test("a refused opening ends with the code of its error")
  func refusal() throws {
    try first()
    let next = Notes()
    #expect(throws: StoreError.self) {
      try PersistentContainer(
        model: model(#""text": "string", "stars": "int16""#), store: .sqlite(at: file.url), log: next.log)
    }
    #expect(next.lines == ["begin opening", "end opening unanswered"])
  }

  @Test("a log of several tells each of them, and values only those that include them")
  func several() throws {
    let plain = Locked<[QueryLogEntry]>([])
    let full = Locked<[QueryLogEntry]>([])
    let log = QueryLog([
      QueryLog { entry in plain.withLock { $0.append(entry) } },
      QueryLog(includesValues: true) { entry in full.withLock { $0.append(entry) } },
    ])
    let container = try PersistentContainer(model: model(#""text": "string""#), store: .sqlite(at: file.url), log: log)
    #expect(try container.newContext().count("Note", where: "text == %@", [.value(.text("secret"), .text)]) == 0)
    let entries = (plain.withLock { $0 }, full.withLock { $0 })
    #expect(entries.0.map(\.kind) == [.opening, .count] && entries.1.map(\.kind) == [.opening, .count])
    #expect(!entries.0[1].description.contains("secret") && entries.0[1].values.isEmpty)
    #expect(entries.1[1].description.contains("secret"))
    #expect(entries.0[0].description.hasPrefix("opening, ") && !entries.0[0].description.contains("row"))
    container.close()
  }
}
