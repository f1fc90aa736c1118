import Foundation
import Logging
import Notes
import ServiceLifecycle
import ServiceLifecycleTestKit
import StoreHTTP
import StoreService
import Testing
import Trellis

@Suite("A container in a service") struct ServiceTests {
  @Test("a container is open until its group shuts down, and closed after the services that use it")
  func shutdown() async throws {
    struct User: Service {
      let container: PersistentContainer
      func run() async throws {
        try await gracefulShutdown()
        // Still open, because the last service ends first.
        try await container.perform { context in
          _ = Note(in: context, text: "last words")
          try context.save()
        }
      }
    }
    let container = try PersistentContainer(model: .notes, store: .memory)
    let group = ServiceGroup(
      services: [ContainerService(container), User(container: container)], logger: Logger(label: "test"))
    try await testGracefulShutdown { trigger in
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        #expect(try container.newContext().count(Note.all) == 0)
        trigger.triggerGracefulShutdown()
        try await tasks.waitForAll()
      }
    }
    let error = #expect(throws: StoreError.self) { try container.newContext().count(Note.all) }
    #expect(error?.code == .closed)
  }

  @Test("errors of Trellis have a status, a code and the broken rules, and no values")
  func failures() throws {
    let container = try PersistentContainer(model: .notes, store: .memory)
    let context = container.newContext()
    _ = Note(in: context, text: "")
    let broken = try #require(throws: ValidationError.self) { try context.save() }
    let failure = HTTPFailure(broken)
    #expect(
      failure.statusCode == 422 && failure.document.rules?.map(\.property) == ["text"] && failure.retryAfter == nil)
    #expect(try JSONDecoder().decode(HTTPFailure.Document.self, from: failure.body()) == failure.document)
    container.close()
    let closed = try #require(throws: StoreError.self) { try container.newContext().count(Note.all) }
    #expect(HTTPFailure(closed).statusCode == 503 && HTTPFailure(closed).retryAfter == 5)
    #expect(HTTPFailure(SaveConflict(rows: [])) == .conflict && HTTPFailure(HTTPFailure.notFound) == .notFound)
    struct Other: Error {}
    #expect(HTTPFailure(Other()).statusCode == 500 && HTTPFailure(Other()).document.code == "internal-error")
    let codes: [(StoreError.Code, Int)] = [
      (.busy, 503), (.inDoubt, 504), (.notUnique, 409), (.limit, 422), (.historyExpired, 410), (.damaged, 500),
    ]
    for (code, status) in codes { #expect(HTTPFailure(StoreError(code, "m.", remedy: "r.")).statusCode == status) }
  }
}
