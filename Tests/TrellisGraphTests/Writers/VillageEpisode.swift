import Trellis
import TrellisTestSupport

/// One random run with several contexts.
struct VillageEpisode {
  let seed: UInt64
  let stores: StoreKind
  let length: Int
  var scrutiny = Village.Scrutiny.everything
  /// Whether it is about couples in a context and its child only.
  var isOfCouples = false

  struct Failure: CustomStringConvertible {
    let difference: String
    let plan: VillagePlan
    let acts: [Act]

    var description: String { "\(difference)\n\(plan)\(acts.map(\.description).joined(separator: "\n"))" }
  }

  /// Plays the episode, and if it finds a difference looks for a shorter one that does.
  ///
  /// - Parameter shortens: whether that is to be looked for.
  func run(_ rules: Rules, shortens: Bool = true) throws -> Failure? {
    var random = SeededGenerator(seed: seed)
    let plan = plan(&random, rules)
    var acts: [Act] = []
    let found = try play(plan, rules) { village in
      var chooser = ActChooser(village, random)
      for _ in 0..<length {
        let act = try isOfCouples ? chooser.nextOfCouples() : chooser.next()
        acts.append(act)
        try village.carryOut(act)
      }
    }
    guard let found else { return nil }
    let failure = Failure(difference: found, plan: plan, acts: acts)
    return shortens ? try shorten(failure, plan, rules) : failure
  }

  private func plan(_ random: inout SeededGenerator, _ rules: Rules) -> VillagePlan {
    isOfCouples ? VillagePlan(ofCouples: &random, rules.shapes) : VillagePlan(&random, rules.shapes)
  }

  /// Plays what a report of this seed has printed.
  ///
  /// - Returns: the difference that was found.
  func replay(_ report: Substring, _ rules: Rules, prints: Bool = false) throws -> String? {
    var random = SeededGenerator(seed: seed)
    let plan = plan(&random, rules)
    var entities: [Int: String] = [:]
    let acts = report.split(separator: "\n").compactMap { Act($0, rules, &entities) }
    return try play(acts, plan, rules) { act, village in
      guard prints else { return }
      let pictures = try village.writers.map { try $0.picture() } + [village.readStore()]
      print(act)
      for number in village.entities.indices {
        let views = pictures.map { picture in picture.objects[number].map { "\($0.partners)" } ?? "-" }
        if views.contains(where: { $0 != "-" }) { print("   ", number, views.joined(separator: "  ")) }
      }
    }
  }

  private func play(
    _ acts: [Act], _ plan: VillagePlan, _ rules: Rules, watch: (Act, Village) throws -> Void = { _, _ in }
  ) throws -> String? {
    try play(plan, rules) { village in
      for act in acts {
        // Choosing an act asks for all objects, and so loads them.
        _ = try village.writers[act.writer % village.writers.count].living()
        do { try village.carryOut(act) } catch {
          try watch(act, village)
          throw error
        }
        try watch(act, village)
      }
    }
  }

  /// - Returns: the difference that was found.
  private func play(_ plan: VillagePlan, _ rules: Rules, _ body: (Village) throws -> Void) throws -> String? {
    let place = try StorePlace(stores)
    defer { place.remove() }
    let container = try PersistentContainer(model: .village, store: place.configuration) { _ in }
    do {
      try LinkFindings.collect { findings in
        let village = Village(container, rules, plan, scrutiny, findings: findings)
        try body(village)
        for writer in village.writers.indices { try village.carryOut(Act(writer: writer, deed: .merge(looks: true))) }
        try village.checkStore()
      }
    } catch let difference as Village.Difference {
      return difference.description
    } catch {
      return "it throws \(error)"
    }
    return nil
  }

  /// Leaves out acts, larger pieces first, as long as a difference remains.
  private func shorten(_ failure: Failure, _ plan: VillagePlan, _ rules: Rules) throws -> Failure {
    var shortest = failure
    var piece = max(1, failure.acts.count / 2)
    while true {
      var start = 0
      var isShorter = false
      while start < shortest.acts.count {
        let acts = Array(shortest.acts[..<start] + shortest.acts.dropFirst(start + piece))
        if let difference = try play(acts, plan, rules) {
          shortest = Failure(difference: difference, plan: plan, acts: acts)
          isShorter = true
        } else {
          start += piece
        }
      }
      if piece == 1 && !isShorter { return shortest }
      piece = max(1, piece / 2)
    }
  }
}
