import Foundation
import Observation
import Synchronization
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisWriterProcess

@MainActor @Suite("A view of one program, and the saves of another one", .timeLimit(.minutes(60)))
struct ObservingProcessesTests {
  nonisolated private static let shared = StoreKind.inPlace.filter { $0 != .memory }

  @Test("an observed list and an observed object are told of them, without a task that waits", arguments: shared)
  func observed(kind: StoreKind) async throws {
    let folder = try TestFolder()
    let other =
      try kind == .postgres
      ? WriterProcess(TestServer.url, folder.url.lastPathComponent)
      : WriterProcess(folder.file("store.sqlite").path)
    _ = try other.tell("seed")
    let container = try PersistentContainer(model: .rivals, store: kind.configuration(in: folder))
    let context = container.mainContext
    context.isObserving = true
    let live = try context.live(Counter.all.sorted { $0.name })
    let counter = try #require(live.first)
    let rung = Rung()
    withObservationTracking {
      _ = live.count
    } onChange: {
      rung.list.store(true, ordering: .relaxed)
    }
    withObservationTracking {
      _ = counter.value
    } onChange: {
      rung.object.store(true, ordering: .relaxed)
    }
    for command in ["counter z 30", "set x 11", "save error"] { #expect(try other.tell(command) == "done") }
    for _ in 0..<1000 where !rung.isComplete { try await Task.sleep(for: .milliseconds(10)) }
    #expect(rung.isComplete && live.map(\.name) == ["x", "y", "z"] && counter.value == 11)
  }

  private final class Rung: Sendable {
    let list = Atomic(false)
    let object = Atomic(false)
    var isComplete: Bool { list.load(ordering: .relaxed) && object.load(ordering: .relaxed) }
  }
}
