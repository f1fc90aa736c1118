import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Failing stores") struct FailingCallTests {
  private static let steps = TestSettings.number("TRELLIS_GRAPH_STEPS", or: 1500)
  private static let seed =
    TestSettings.number("TRELLIS_GRAPH_SEED", or: UInt64(20_261_122))

  @Test(
    "whatever call of the store fails, nothing is half done, the failure is told, and the retry succeeds",
    .timeLimit(.minutes(600)))
  func anyCall() throws {
    let rules = try Rules()
    var random = SeededGenerator(seed: Self.seed)
    var (steps, failures, differences) = (0, 0, 0)
    while steps < Self.steps && differences < 5 {
      let episode = Episode(seed: random.next(), stores: .memory, length: 150, failure: FailureSwitch())
      let outcome = try episode.run(rules)
      steps += outcome.steps
      failures += outcome.failures
      if let difference = outcome.difference {
        differences += 1
        Issue.record("seed \(Self.seed): \(difference)\n\(outcome.operations.joined(separator: "\n"))")
      }
    }
    print("failing stores: seed \(Self.seed), \(steps) steps, \(failures) failed calls")
  }

  @Test("a block of perform fails if one of its properties could not be loaded, and else returns")
  func performWithFailingLoad() async throws {
    let failure = FailureSwitch()
    let container = try PersistentContainer(model: .rules, store: StoreConfiguration.memory.failing(failure)) { _ in }
    let context = container.newContext()
    let holder = Holder(in: context)
    holder.listNullify.append(Target(in: context))
    try context.save()
    let id = holder.objectID
    let count: @Sendable (Bool) async throws -> Int? = { fails in
      try await container.perform { context in
        let holder = try context.object(with: id)
        if fails { failure.set(.call(0)) }
        return holder?.listNullify.count
      }
    }
    #expect(try await count(false) == 1)
    let error = await #expect(throws: ContextError.self) { try await count(true) }
    #expect(error?.code == .loadFailed)
    #expect(try await count(false) == 1)
  }
}
