import Foundation
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisRuntime
@testable import TrellisStorage

@Suite("Reads that a replica answers", .enabled(if: PostgresCluster.canStart, "needs initdb"), .serialized)
struct ReplicaReadTests {
  /// A shop at the primary that reads from the replica.
  private struct Place {
    let pair: ReplicaPair
    let shop: PersistentContainer

    init(_ pair: ReplicaPair, replica: String? = nil) throws {
      self.pair = pair
      shop = try PersistentContainer(
        model: .shop,
        store: .postgres(
          pair.primaryURL, schema: "shop", connections: 3, timeout: 20, replica: replica ?? pair.replicaURL))
      try pair.waitUntilEqual()
    }

    func insert(_ name: String) throws {
      let context = shop.newContext()
      _ = Product(in: context, name: name, price: 1)
      try context.save()
    }

    func names() throws -> [String] {
      try shop.newContext(fromReplica: true).fetch(Product.all.sorted { $0.name }).map(\.name)
    }

    /// The numbers of calls that the primary and the replica have answered.
    var uses: (primary: Int, replica: Int) {
      (shop.figures.connections?.uses ?? 0, shop.figures.replicaConnections?.uses ?? 0)
    }

    /// Whether the replica is the one that answers a closure.
    func isAnsweredByReplica(_ body: () throws -> Void) rethrows -> Bool {
      let before = uses
      try body()
      return uses.primary == before.primary && uses.replica > before.replica
    }
  }

  private func code<Result>(_ body: () throws -> Result) -> StoreError.Code? {
    do { _ = try body() } catch { return (error as? StoreError)?.code }
    return nil
  }

  @Test("fetches, relationships, values, snapshots and plans come from the replica") func reads() async throws {
    let place = try Place(ReplicaPair())
    let writer = place.shop.newContext()
    let tea = Product(in: writer, name: "Tea", price: 4)
    let order = Order(in: writer, customer: "Ada")
    let line = OrderLine(in: writer, quantity: 2)
    (line.product, line.order) = (tea, order)
    try writer.save()
    try place.pair.waitUntilEqual()
    let reads: [(String, (ManagedObjectContext) throws -> Bool)] = [
      ("objects", { try $0.first(Order.all.prefetching(\.lines))?.lines.map { $0.product?.name } == ["Tea"] }),
      ("a count", { try $0.count(Product.where { $0.price > 3 }) == 1 }),
      ("values", { try $0.values(of: Product.all) { $0.name } == ["Tea"] }),
      ("a snapshot", { try $0.pinned { try $0.fetch(Product.all).map(\.name) } == ["Tea"] }),
      ("a plan", { try !$0.explain(Product.all).steps.isEmpty }),
    ]
    for (name, read) in reads {
      let context = try place.shop.newContext(fromReplica: true)
      var isAnswered = false
      // The test's server writes its log to the disk later than it commits, so the replica may be behind for a moment.
      for _ in 0..<100 where !isAnswered {
        isAnswered = try place.isAnsweredByReplica {
          let isExpected = try read(context)
          #expect(isExpected, "\(name)")
        }
      }
      #expect(isAnswered, "\(name)")
    }
    let count = try await place.shop.perform(fromReplica: true) { try $0.count(Product.all) }
    #expect(count == 1)
    // Other contexts keep to the primary.
    let before = place.uses
    #expect(try place.shop.newContext().count(Product.all) == 1)
    #expect(place.uses.replica == before.replica)
  }

  @Test("a context that reads from a replica saves nothing, and says so") func saves() throws {
    let place = try Place(ReplicaPair())
    try place.insert("Tea")
    let context = try place.shop.newContext(fromReplica: true)
    _ = Product(in: context, name: "Coffee", price: 1)
    #expect(code { try context.save() } == .readOnly)
    context.rollback()
    #expect(code { try context.deleteAll(Product.all) } == .readOnly)
    #expect(code { try context.updateAll(Product.all) { $0.stock.set(1) } } == .readOnly)
    #expect(try place.names() == ["Tea"])
    place.shop.close()
    #expect(code { try place.shop.newContext(fromReplica: true) } == .closed)
  }

  @Test("a program sees each of its saves, whoever answers") func ownSaves() throws {
    let place = try Place(ReplicaPair())
    var answeredByReplica = 0
    for number in 1...150 {
      try place.insert("item \(number)")
      let isAnswered = try place.isAnsweredByReplica {
        let found = try place.shop.newContext(fromReplica: true).count(Product.all)
        #expect(found == number)
      }
      if isAnswered { answeredByReplica += 1 }
    }
    print("\(answeredByReplica) of 150 reads after a save were answered by the replica")
    #expect(answeredByReplica > 0)
    // Several at once, each for its own.
    let failures = Failures()
    DispatchQueue.concurrentPerform(iterations: 3) { thread in
      do {
        for number in 0..<40 {
          let name = "thread \(thread), \(number)"
          try place.insert(name)
          let found = try place.shop.newContext(fromReplica: true).count(Product.where { $0.name == name })
          #expect(found == 1, "\(name)")
        }
      } catch {
        failures.add(error)
      }
    }
    #expect(failures.all.isEmpty, "\(failures.all.first.map { "\($0)" } ?? "")")
  }

  @Test("a replica that stands still leaves the reads to the primary, and answers again when it has caught up")
  func behind() throws {
    let pair = try ReplicaPair()
    let place = try Place(pair)
    try place.insert("first")
    try pair.waitUntilEqual()
    _ = try pair.replica.psql("SELECT pg_wal_replay_pause()")
    try place.insert("second")
    #expect(try place.names() == ["first", "second"])
    let snapshot = try place.shop.newContext(fromReplica: true).pinned { try $0.count(Product.all) }
    #expect(snapshot == 2)
    _ = try pair.replica.psql("SELECT pg_wal_replay_resume()")
    try pair.waitUntilEqual()
    var isAnswered = false
    for _ in 0..<100 where !isAnswered {
      isAnswered = try place.isAnsweredByReplica {
        let names = try place.names()
        #expect(names == ["first", "second"])
      }
    }
    #expect(isAnswered)
  }

  @Test("a replica that is away or has never been there costs no call its answer") func away() throws {
    let pair = try ReplicaPair()
    let place = try Place(pair)
    try place.insert("first")
    #expect(try place.names() == ["first"])
    try pair.replica.stop(mode: .immediate)
    for _ in 0..<3 { #expect(try place.names() == ["first"]) }
    try pair.replica.start()
    let without = try Place(pair, replica: "postgresql://127.0.0.1:1/nothing?connect_timeout=2")
    #expect(try without.names() == ["first"])
    #expect(try without.shop.newContext(fromReplica: true).pinned { try $0.count(Product.all) } == 1)
  }

  @Test("what other programs have saved is seen once the context has heard of it") func others() throws {
    let pair = try ReplicaPair()
    let place = try Place(pair)
    let context = try place.shop.newContext(fromReplica: true)
    #expect(try context.count(Product.all) == 0)
    let other = try PersistentContainer(model: .shop, store: .postgres(pair.primaryURL, schema: "shop"))
    Thread.sleep(forTimeInterval: 0.5)
    _ = try pair.replica.psql("SELECT pg_wal_replay_pause()")
    let writer = other.newContext()
    _ = Product(in: writer, name: "Tea", price: 1)
    try writer.save()
    let connection = try #require(try place.shop.core.store.connect() as? PostgresConnection)
    #expect(connection.hearsOfOthers())
    #expect(try context.count(Product.all) == 1)
    _ = try pair.replica.psql("SELECT pg_wal_replay_resume()")
  }

  @Test("a replica that has become a server of its own answers with what it has") func promoted() throws {
    let pair = try ReplicaPair()
    let place = try Place(pair)
    try place.insert("first")
    try pair.waitUntilEqual()
    try pair.promote()
    #expect(try place.names() == ["first"])
  }
}
