import Foundation
import Logging
import Metrics
import Notes
import ServiceLifecycle
import StoreLogging
import StoreMetrics
import StoreService
import StoreTracing
import Testing
import Trellis
import TrellisTesting

// The samples of Docs/Integrations.md and of Docs/Testing.md, as they stand there.

private func openNotes(at file: URL, logger: Logger) throws -> PersistentContainer {
  try PersistentContainer(
    model: .notes, store: .sqlite(at: file),
    log: QueryLog([.writing(to: logger), .measuring(), .tracing(system: "sqlite")]), onError: logger.writingProblems)
}

private func addNote(_ text: String, to container: PersistentContainer) async throws {
  try await container.performInSpan("add a note") { context in
    _ = Note(in: context, text: text)
    try context.save()
  }
}

private func run(_ server: any Service, _ container: PersistentContainer, logger: Logger) async throws {
  let group = ServiceGroup(services: [ContainerService(container), server], logger: logger)
  try await group.run()
}

private struct Nothing: Service {
  func run() async throws {}
}

@Suite("The samples of the pages") struct SampleTests {
  @Test("an open container logs, measures and traces, and its work is in spans")
  func opening() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "samples-\(UUID()).sqlite")
    defer { try? FileManager.default.removeItem(at: file) }
    let container = try openNotes(at: file, logger: Logger(label: "notes"))
    try await addNote("one", to: container)
    #expect(try container.newContext().count(Note.all) == 1)
    // A service that ends ends its group, with an error that says so; the container is closed.
    await #expect(throws: ServiceGroupError.self) {
      try await run(Nothing(), container, logger: Logger(label: "notes"))
    }
    #expect(throws: StoreError.self) { try container.newContext().count(Note.all) }
  }
}

@Suite(.container(.notes) { try Fixture("Notes.json").insert(into: $0) }) struct NoteTests {
  @Test func stars() throws {
    let context = try PersistentContainer.current.newContext()
    let best = try context.first(Note.all.sorted { $0.stars.descending })
    #expect(best?.line == "***** Call Mina.")
  }

  @Test(.container(.notes, .sqlite)) func file() throws {
    #expect(try PersistentContainer.current.newContext().count(Note.all) == 0)
  }
}
