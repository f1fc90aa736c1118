import Foundation
import Testing
import Trellis
import TrellisTestSupport

/// Many tasks on one store. `TRELLIS_CONTENTION` says how often each of them writes; 10000 for a long run.
@Suite("Crowds of writers", .serialized) struct ContentionTests {
  static let rounds = TestSettings.number("TRELLIS_CONTENTION", or: 40)

  /// A container for all tasks, or one for each of them on the same store.
  private func run(
    tasks: Int, _ place: WriterPair.Place,
    _ body: @escaping @Sendable (ManagedObjectContext, _ task: Int, _ round: Int) throws -> Void
  ) async throws -> PersistentContainer {
    let file = TemporaryFile()
    let store: StoreConfiguration =
      place == .memory
      ? .memory(named: UUID().uuidString) : .sqlite(at: file.url, durability: .relaxed)
    let container = try PersistentContainer(model: .conflicts, store: store) { _ in }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          let own =
            place == .oneContainer ? container : try PersistentContainer(model: .conflicts, store: store) { _ in }
          let context = own.newContext()
          for round in 0..<Self.rounds { try body(context, task, round) }
        }
      }
      try await group.waitForAll()
    }
    return container
  }

  @Test("increments of one counter are all counted, with retries", arguments: WriterPair.Place.allCases)
  func increments(_ place: WriterPair.Place) async throws {
    let container = try await run(tasks: 16, place) { context, _, _ in
      try context.saveRetrying(atMost: .max) {
        let counter = try context.first(Counter.where { $0.name == "all" }) ?? Counter(in: context, name: "all")
        counter.value += 1
      }
    }
    let counters = try container.newContext().fetch(Counter.all)
    #expect(counters.map(\.value) == [Int64(16 * Self.rounds)])
  }

  @Test("inserts over few unique keys leave one object each", arguments: WriterPair.Place.allCases)
  func inserts(_ place: WriterPair.Place) async throws {
    let container = try await run(tasks: 32, place) { context, task, round in
      _ = Counter(in: context, name: "\((task + round) % 7)", value: Int64(round))
      try context.save(mergePolicy: .objectTrump)
    }
    let names = try container.newContext().fetch(Counter.all).map(\.name).sorted()
    #expect(names == (0..<7).map { "\($0)" })
  }
}
