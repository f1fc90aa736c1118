import Foundation
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import Notes
import StoreLogging
import StoreMetrics
import StoreTracing
import Testing
import Tracing
import Trellis

@Suite("Logs, metrics and traces of a store") struct LogTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "integrations-\(UUID()).sqlite")

  private func open(_ log: QueryLog, onError: @escaping @Sendable (ContextError) -> Void = { _ in }) throws
    -> PersistentContainer
  {
    try PersistentContainer(model: .notes, store: .sqlite(at: folder), log: log, onError: onError)
  }

  private func remove() { try? FileManager.default.removeItem(at: folder) }

  @Test("requests are logged at their level, openings as infos, failures and slow ones as warnings, without values")
  func logging() throws {
    defer { remove() }
    let handler = InMemoryLogHandler()
    var logger = Logger(label: "notes") { _ in handler }
    logger.logLevel = .debug
    let container = try open(.writing(to: logger), onError: logger.writingProblems)
    let context = container.newContext()
    let note = Note(in: context, text: "secret")
    try context.save()
    #expect(try context.fetch(Note.where { $0.text == "secret" }) == [note])
    #expect(handler.entries.map(\.message.description) == ["opening store", "save store", "fetch Note"])
    #expect(handler.entries.map(\.level) == [.info, .debug, .debug])
    #expect(handler.entries[2].metadata["rows"] == "1" && handler.entries[2].metadata["statements"] != nil)
    #expect(!"\(handler.entries)".contains("secret"))
    handler.clear()

    try context.delete(note)
    try context.save()
    note.text = "too late"
    #expect(handler.entries.last?.level == .error && handler.entries.last?.metadata["code"] == "ignored-write")

    handler.clear()
    let slow = try PersistentContainer(model: .notes, store: .memory, log: .writing(to: logger, slowerThan: .zero))
    #expect(try slow.newContext().count(Note.all) == 0)
    #expect(handler.entries.map(\.level) == [.info, .warning])
    container.close()
  }

  @Test("operations are measured by kind and entity, failures are counted, and pools have gauges")
  func metrics() throws {
    defer { remove() }
    let metrics = TestMetrics()
    let container = try open(.measuring(with: metrics))
    let (context, other) = (container.newContext(), container.newContext())
    _ = Tag(in: context, name: "a")
    try context.save()
    _ = try context.fetch(Tag.all)
    _ = Tag(in: other, name: "a")
    #expect(throws: ValidationError.self) { try other.save() }
    let saves = try metrics.expectTimer("trellis_operation_seconds", [("kind", "save")])
    #expect(saves.values.count >= 2 && saves.values.allSatisfy { $0 > 0 })
    #expect(
      try metrics.expectTimer("trellis_operation_seconds", [("kind", "fetch"), ("subject", "Tag")]).values.count == 1)
    #expect(metrics.counterTotal(label: "trellis_operation_failures") >= 1)
    container.figures.record(with: metrics)
    #expect(try metrics.expectGauge("trellis_pool_limit", [("pool", "workers")]).lastValue == 1)
    container.close()
  }

  @Test("fetches and saves are spans below that of their work, with their attributes")
  func tracing() async throws {
    defer { remove() }
    let tracer = InMemoryTracer()
    let container = try open(.tracing(with: tracer, system: "sqlite"))
    try await tracer.withSpan("request") { _ in
      try await container.performInSpan("add a note", with: tracer) { context in
        _ = Note(in: context, text: "traced")
        try context.save()
        _ = try context.fetch(Note.all)
      }
    }
    let spans = Dictionary(uniqueKeysWithValues: tracer.finishedSpans.map { ($0.operationName, $0) })
    #expect(Set(spans.keys) == ["opening", "save", "fetch Note", "add a note", "request"])
    let work = try #require(spans["add a note"])
    #expect(work.parentSpanID == spans["request"]?.spanID && work.traceID == spans["save"]?.traceID)
    #expect(spans["save"]?.parentSpanID == work.spanID && spans["fetch Note"]?.parentSpanID == work.spanID)
    #expect(spans["opening"]?.parentSpanID == nil)
    let fetch = try #require(spans["fetch Note"])
    #expect(fetch.attributes["db.collection.name"]?.toSpanAttribute() == "Note")
    #expect(fetch.attributes["db.response.returned_rows"]?.toSpanAttribute() == 1)
    #expect(fetch.attributes["db.system.name"]?.toSpanAttribute() == "sqlite" && fetch.status == nil)
    #expect(tracer.activeSpans.isEmpty)
    container.close()
  }

  @Test("an operation that fails ends its span with the code of the error, and a log of several tells each")
  func failure() throws {
    let (tracer, metrics) = (InMemoryTracer(), TestMetrics())
    let file = FileManager.default.temporaryDirectory.appending(path: "no such folder/\(UUID()).sqlite")
    #expect(throws: StoreError.self) {
      try PersistentContainer(
        model: .notes, store: .sqlite(at: file),
        log: QueryLog([.tracing(with: tracer, system: "sqlite"), .measuring(with: metrics)]))
    }
    let span = try #require(tracer.finishedSpans.first)
    #expect(span.operationName == "opening" && span.status?.code == .error && span.attributes["error.type"] != nil)
    #expect(metrics.counterTotal(label: "trellis_operation_failures") == 1)
  }
}
