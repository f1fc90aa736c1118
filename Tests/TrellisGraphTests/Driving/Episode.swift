import Trellis
import TrellisRuntime
import TrellisTestSupport

/// One random run: which relationships it touches, how it compares, and what it does.
struct Episode {
  let seed: UInt64
  let stores: StoreKind
  let length: Int
  /// Makes calls of the store fail now and then.
  var failure: FailureSwitch?
  /// The entities that it is about, and that their cascades are left to the store; a choice of its own otherwise.
  var cascading: [String]?
  /// How many contexts lie between the tested one and the store.
  var levels = 0

  /// What happened.
  struct Outcome {
    var steps = 0
    var saves = 0
    var refusals = 0
    /// Saves that left members to the store.
    var cascades = 0
    var failures = 0
    var undos = 0
    var difference: String?
    var operations: [String] = []
  }

  /// Entities whose relationships lead to one another only.
  private static let groups: [[String]] = [
    ["OneLeft", "OneRight", "OneLeftKind", "OneRightKind"],
    ["ManyParent", "ManyChild", "ManyParentKind", "ManyChildKind"],
    ["PeerLeft", "PeerRight", "PeerLeftKind", "PeerRightKind"],
    ["Holder", "Target", "HolderKind", "TargetKind"],
    ["Link", "LinkKind"], ["Tree", "TreeKind"], ["Mesh", "MeshKind"], ["Arrow", "ArrowKind"],
    ["Person", "Manager", "Director", "Project", "BigProject"],
    ["Album", "Track", "Singer", "Cover"],
    ["Owner", "Pet"],
    cascadingEntities,
  ]

  /// Those of which a store can delete what belongs to an object.
  static let cascadingEntities = ["Folder", "Sheet", "Letter", "Scrap", "Shelf", "Mark"]

  /// Plays the episode, and if it finds a difference looks for a shorter one that does.
  func run(_ rules: Rules) throws -> Outcome {
    var random = SeededGenerator(seed: seed)
    let plan = Plan(&random, rules.shapes, cascading)
    let steps = (0..<length).map { _ in StepChooser.Step(&random) }
    let outcome = try play(steps, plan, rules)
    guard outcome.difference != nil else { return outcome }
    let shortest = try shorten(Array(steps.prefix(outcome.steps)), plan, rules)
    return try play(shortest, plan, rules)
  }

  private struct Plan {
    let entities: [String]
    let touched: [Shape]
    let holdsObjects: Bool
    let size: Int
    /// After how many steps everything is compared, which also loads everything.
    let interval: Int
    /// Whether cascades are left to the store wherever they can be.
    let leavesToStore: Bool
    /// Whether steps are undone now and then.
    let undoes: Bool

    init(_ random: inout SeededGenerator, _ shapes: Shapes, _ cascading: [String]?) {
      entities = cascading ?? Episode.groups[Int.random(in: 0..<Episode.groups.count, using: &random)]
      let names = entities
      let all = shapes.all.filter { names.contains($0.entity) }
      let isDemanding = cascading != nil || all.contains { $0.isRequired || $0.minimum != nil }
      let ends = all.shuffled(using: &random).prefix(isDemanding ? all.count : Int.random(in: 1...4, using: &random))
      let touched = Set(ends.flatMap { [$0.index, $0.inverse ?? $0.index] })
      self.touched = touched.sorted().map { shapes.all[$0] }
      holdsObjects = Bool.random(using: &random)
      // Cascades need somebody below them.
      size = (cascading == nil ? [3, 5, 9] : [9, 15, 25]).randomElement(using: &random) ?? 3
      interval = (cascading == nil ? [1, 1, 4, 20] : [20]).randomElement(using: &random) ?? 1
      leavesToStore = cascading != nil || Bool.random(using: &random)
      // While steps are recorded nothing is left to the store.
      undoes = cascading == nil && Bool.random(using: &random)
    }
  }

  private func play(_ steps: [StepChooser.Step], _ plan: Plan, _ rules: Rules) throws -> Outcome {
    let place = try StorePlace(stores)
    defer { place.remove() }
    let container = try PersistentContainer(model: .rules, store: configuration(place)) { _ in }
    let live = LiveGraph(
      container, rules, holdsObjects: plan.holdsObjects, undoes: plan.undoes, leavesToStore: plan.leavesToStore,
      levels: levels)
    let chooser = StepChooser(shapes: plan.touched, entities: plan.entities, size: plan.size, undoes: plan.undoes)
    var duel = Duel(rules.shapes, live, touched: plan.touched, asksBefore: cascading == nil)
    var outcome = Outcome()
    outcome.operations = [
      "  (holds objects: \(plan.holdsObjects), undoes: \(plan.undoes), leaves to the store: \(plan.leavesToStore), "
        + "compares all after \(plan.interval) steps, touches \(plan.touched.map(\.name).joined(separator: ", ")))"
    ]
    do {
      for step in steps {
        outcome.steps += 1
        guard let operation = chooser.operation(step, duel.reference) else { continue }
        outcome.operations.append("\(operation)")
        let isRefused = duel.refusals
        if let failure, operation.canFail, step.kind >> 48 & 1 == 0 {
          // What cannot fail is done by the first try.
          let call = [0, 0, 0, 0, 1, 1, 2, 3][Int(step.kind >> 50 & 7)]
          guard try duel.apply(operation, failing: call, failure) else { continue }
          outcome.operations.append("  after its call \(call) failed")
          outcome.failures += 1
        }
        if cascading != nil { try forget(&duel, step, operation) }
        try duel.apply(operation)
        if cascading != nil, case .delete = operation, step.kind >> 56 & 3 != 0 {
          if live.context.graph.leavesMembersToStore { outcome.cascades += 1 }
          try duel.apply(.save)
        }
        if outcome.steps % plan.interval == 0 || duel.refusals > isRefused { try duel.compareAll() }
      }
      try duel.compareAll()
    } catch {
      outcome.difference = "\(error)"
    }
    outcome.saves = duel.saves
    outcome.refusals = duel.refusals
    outcome.undos = duel.undos
    return outcome
  }

  /// Now and then, and before most deletes, everything is saved, so that the next operation finds nothing in memory.
  private func forget(_ duel: inout Duel, _ step: StepChooser.Step, _ operation: Operation) throws {
    let isDelete = if case .delete = operation { true } else { false }
    guard step.kind >> 58 & 3 == 0 || isDelete && step.kind >> 60 & 3 != 0 else { return }
    try duel.apply(.save)
    try duel.apply(.newContext)
  }

  private func configuration(_ place: StorePlace) -> StoreConfiguration {
    failure.map(place.configuration.failing) ?? place.configuration
  }

  /// Leaves out steps, larger pieces first, as long as a difference remains.
  private func shorten(_ steps: [StepChooser.Step], _ plan: Plan, _ rules: Rules) throws -> [StepChooser.Step] {
    var steps = steps
    var piece = max(1, steps.count / 2)
    while true {
      var start = 0
      var isShorter = false
      while start < steps.count {
        let rest = Array(steps[..<start]) + Array(steps[min(steps.count, start + piece)...])
        if try play(rest, plan, rules).difference != nil {
          steps = rest
          isShorter = true
        } else {
          start += piece
        }
      }
      if piece == 1 && !isShorter { return steps }
      piece = max(1, piece / 2)
    }
  }
}
