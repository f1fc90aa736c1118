import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisDynamic
@testable import TrellisSync

@Suite("Clocks of replicas") struct ClockTests {
  private static let day: Int64 = 86_400_000_000

  @Test("Clocks are believed as far as no message proves them wrong") func bounds() {
    var clocks = ClockDifference()
    #expect(clocks.best == 0)
    // A request that was on its way for a day says nothing against the clock.
    clocks.isAtMost(Self.day)
    clocks.isAtLeast(-Self.day)
    #expect(clocks.best == 0)
    clocks.isAtLeast(60)
    #expect(clocks.best == 60)
    var ahead = ClockDifference()
    ahead.isAtMost(-Self.day + 5)
    ahead.isAtMost(-Self.day + 9)
    #expect(ahead.best == -Self.day + 5)
  }

  @Test("A clock that was set makes older bounds void") func setting() {
    var clocks = ClockDifference()
    clocks.isAtLeast(Self.day)
    clocks.isAtMost(Self.day + 10)
    clocks.isAtMost(3)
    #expect(clocks.best == 0 && clocks.most == 3)
    clocks.isAtLeast(5)
    #expect(clocks.best == 5)
  }

  @Test("The bounds hold for any times of messages, and are as near as the fastest of them") func property() {
    let seed = TestSettings.seed()
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let difference = Int64(random.below(7) - 3) * Self.day
      var clocks = ClockDifference()
      var fastest: [Int64] = [.max, .max]
      for _ in 0..<8 {
        let transit = Int64(random.below(1 << random.below(40)))
        let isRequest = random.below(2) == 0
        if isRequest { clocks.isAtMost(difference + transit) } else { clocks.isAtLeast(difference - transit) }
        fastest[isRequest ? 0 : 1] = min(fastest[isRequest ? 0 : 1], transit)
        #expect(clocks.least <= difference && difference <= clocks.most, "seed \(seed)")
      }
      let error = abs(clocks.best - difference)
      #expect(difference == 0 ? error == 0 : difference < 0 ? error <= fastest[0] : error <= fastest[1], "seed \(seed)")
    }
  }

  @Test("Of saves that are nearer to each other than a push takes, the later one wins", arguments: [0, -5, 5])
  func latest(_ days: Int64) async throws {
    let model = SyncModels.model(SyncModels.lists)
    let (office, phone, desktop) = (try SyncStore(model), try SyncStore(model), try SyncStore(model))
    let server = try office.server()
    let (first, second) = (try phone.replica(skew: 0), try desktop.replica(skew: days * Self.day))
    try office.save { context in _ = try context.insert("List", ["name": .text("a")]) }
    for replica in [first, second] { try await replica.exchange(with: LocalTransport(to: server)) }
    try phone.edit("List") { try $0.set("name", .text("early")) }
    let push = try #require(try first.nextPush())
    try await Task.sleep(for: .milliseconds(days == 0 ? 1 : 300))
    try desktop.edit("List") { try $0.set("name", .text("late")) }
    try await second.exchange(with: LocalTransport(to: server))
    // The earlier save arrives much later than it was sent.
    try await Task.sleep(for: .seconds(1))
    let conflicts = try first.receive(try server.push(push))
    #expect(conflicts.map(\.losses.first?.reason) == [.overruled])
    #expect(try office.texts("List") == ["late"])
  }

  @Test("An idle exchange writes nothing for the sake of a slightly better bound") func idle() async throws {
    let model = SyncModels.model(SyncModels.lists)
    let (office, phone) = (try SyncStore(model), try SyncStore(model))
    let replica = try phone.replica(skew: 3 * Self.day)
    let transport = LocalTransport(to: try office.server())
    try await replica.exchange(with: transport)
    let notes = try replica.state().notes
    for _ in 0..<3 { try await replica.exchange(with: transport) }
    #expect(try replica.state().notes == notes)
  }
}
