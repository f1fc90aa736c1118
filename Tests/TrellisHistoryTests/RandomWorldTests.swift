import Foundation
import Testing
import TrellisTestSupport

@testable import Trellis

/// Random changes by several containers and by another program. The history has to tell all of them, and the past has to
/// stay as it was.
@Suite("Histories of random worlds") struct RandomWorldTests {
  /// `TRELLIS_HISTORY_STEPS` sets the number of steps, `TRELLIS_HISTORY_SEED` the first seed.
  @Test(
    "Replaying a history gives the store, and the past is as the copies taken then",
    arguments: StoreKind.withHistory)
  func replay(_ kind: StoreKind) async throws {
    // The containers hear of each other's saves by notices, so the ends of a relationship may be of two moments until then.
    if kind == .postgres {
      try await LinkFindings.ignore { try replayAll(kind) }
    } else {
      try replayAll(kind)
    }
  }

  private func replayAll(_ kind: StoreKind) throws {
    let steps = TestSettings.number("TRELLIS_HISTORY_STEPS", or: 2_000)
    let seed = TestSettings.seed("TRELLIS_HISTORY_SEED")
    var totals = RandomWorld.Totals()
    for episode in 0..<UInt64(max(1, steps / RandomWorld.steps)) {
      var world = try RandomWorld(kind, seed: seed &+ episode)
      let failures = try world.run(&totals)
      #expect(failures.isEmpty, "seed \(seed &+ episode): \(failures.prefix(12).joined(separator: "\n"))")
      if !failures.isEmpty { return }
    }
    print("history: \(totals)")
    #expect(totals.transactions > 0 && totals.moments > 0)
  }
}

private struct RandomWorld {
  /// The steps of an episode.
  static let steps = 250

  struct Totals {
    var steps = 0
    var transactions = 0
    var moments = 0
    var unknown = 0
  }

  private let kind: StoreKind
  private let folder: TestFolder
  private var containers: [PersistentContainer] = []
  private var scribes: [RandomScribe] = []
  private var random: SeededGenerator
  private var copies: [(token: HistoryToken, picture: NotebookPicture)] = []
  private var mirror = NotebookPicture()
  private var seen: HistoryToken
  private let start: HistoryToken
  private var failures: [String] = []

  init(_ kind: StoreKind, seed: UInt64) throws {
    self.kind = kind
    folder = try TestFolder()
    random = SeededGenerator(seed: seed)
    for number in 0..<2 {
      let container = try PersistentContainer(
        model: .notebook, store: kind.configuration(in: folder, durability: .durable))
      containers.append(container)
      scribes.append(RandomScribe(container, "scribe \(number)"))
    }
    scribes.append(RandomScribe(containers[0], "scribe 2"))
    seen = try containers[0].historyToken()
    start = seen
  }

  mutating func run(_ totals: inout Totals) throws -> [String] {
    for _ in 0..<Self.steps where failures.isEmpty {
      totals.steps += 1
      if random.below(60) == 0, kind == .sqlite {
        try writeAsAnotherProgram()
        totals.unknown += 1
        try look(&totals)
      } else if try scribes[random.below(scribes.count)].step(&random) {
        try look(&totals)
      }
    }
    for _ in 0..<6 where failures.isEmpty && !copies.isEmpty {
      let (token, picture) = copies[random.below(copies.count)]
      do {
        let past = try NotebookPicture(containers[random.below(2)].newContext(asOf: token))
        failures += past.differences(from: picture).map { "as of \(token): \($0)" }
        totals.moments += 1
      } catch let error as StoreError where error.code == .historyExpired {
        // Between two writes of the other program, nothing is known.
        let next = try containers[0].history(since: token, limit: 1).first
        if next?.token.transaction != token.transaction { failures.append("as of \(token): \(error)") }
      }
    }
    return failures
  }

  private func writeAsAnotherProgram() throws {
    let program = try OtherProgram(folder.file("store.sqlite"))
    try program.run("UPDATE \"Label\" SET \"color\" = \"color\" + 1 WHERE \"_id\" % 3 = 0")
    try program.run("UPDATE \"Note\" SET \"text\" = 'other' WHERE \"_id\" % 5 = 1")
    try program.run("DELETE FROM \"_Note_favorites\"")
  }

  /// Applies the news to the mirror, which then is the store.
  private mutating func look(_ totals: inout Totals) throws {
    let reader = containers[random.below(2)]
    let end = ContinuousClock.now + .seconds(30)
    var found: [String]
    repeat {
      for transaction in try reader.history(since: seen) {
        totals.transactions += 1
        let then = try containers[0].newContext(asOf: transaction.token)
        try mirror.apply(transaction, then)
        seen = transaction.token
      }
      let present = try NotebookPicture(containers[1].newContext())
      found = mirror.differences(from: present).map { "after \(seen): \($0)" }
      if found.isEmpty, random.below(3) == 0 { copies.append((seen, present)) }
      // A server tells a transaction when those before it have ended, also those of other tests.
    } while !found.isEmpty && kind == .postgres && ContinuousClock.now < end
    failures += found
    if !found.isEmpty { failures += try reader.history(since: start).suffix(6).map { "\($0.token): \($0.changes)" } }
  }
}
