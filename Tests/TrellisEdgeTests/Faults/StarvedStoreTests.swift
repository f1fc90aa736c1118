import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisStorage
import TrellisTestSupport

/// A store that gives out so many keys only.
private final class StarvedStore: Store {
  private let base: any Store
  private let left: Locked<Int64>
  var name: String { base.name }

  init(_ base: any Store, keys: Int64) {
    self.base = base
    left = Locked(keys)
  }

  func feed(_ keys: Int64) { left.withLock { $0 += keys } }

  func connect() throws -> any StoreConnection { try base.connect() }

  func reserveKeys(_ count: Int64) throws -> Range<Int64> {
    let allowed = left.withLock { left in
      defer { left = 0 }
      return min(count, left)
    }
    guard allowed > 0 else { throw StoreError(.busy, "There are no keys now.", remedy: "Try again.") }
    return try base.reserveKeys(allowed)
  }

  func returnKeys(_ unused: Range<Int64>) {}
  func close() { base.close() }
}

@Suite("Objects that are made while the store gives out no keys") struct StarvedStoreTests {
  private let store: StarvedStore
  private let container: PersistentContainer
  private let problems = ReportedErrors()

  init() throws {
    let kept = Locked<StarvedStore?>(nil)
    let configuration = StoreConfiguration { model in
      let made = StarvedStore(try StoreConfiguration.memory.open(model), keys: 3)
      kept.withLock { $0 = made }
      return made
    }
    let problems = problems
    container = try PersistentContainer(model: .edges, store: configuration) { problems.add($0) }
    store = try #require(kept.withLock { $0 })
  }

  @Test("are told of, and no save ever writes one; what was there stays right")
  func refused() throws {
    let context = container.newContext()
    let samples = (0..<10).map { _ in Sample(in: context) }
    #expect(!problems.codes.isEmpty && problems.codes.allSatisfy { $0 == .loadFailed })
    #expect(Set(samples.map(\.objectID)).count == 10)
    for sample in samples { #expect(context.registeredObject(with: sample.objectID) === sample) }
    for _ in 0..<3 { #expect(throws: (any Error).self) { try context.save() } }
    #expect(try container.newContext().count(Sample.all) == 0)
    // With keys again, such objects are still none that could be saved.
    store.feed(1 << 20)
    #expect(throws: StoreError.self) { try context.save() }
    #expect(try container.newContext().count(Sample.all) == 0)
    context.rollback()
    for _ in 0..<10 { _ = Sample(in: context) }
    try context.save()
    #expect(try container.newContext().count(Sample.all) == 10)
    #expect(try container.check() == [])
  }

  @Test("are not handed up to be saved by a parent")
  func child() throws {
    let parent = container.newContext()
    let child = parent.newChildContext()
    for _ in 0..<10 { _ = Sample(in: child) }
    for _ in 0..<3 { #expect(throws: (any Error).self) { try child.save() } }
    #expect(!parent.hasChanges)
    try parent.save()
    #expect(try container.newContext().count(Sample.all) == 0)
  }
}
