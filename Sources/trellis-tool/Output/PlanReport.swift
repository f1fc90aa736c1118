import TrellisModel
import TrellisStorage

/// The plan of a migration as text, and what it means for the data.
struct PlanReport {
  /// Ordered from good to bad: what cannot begin is worse than what loses data with consent.
  enum Outcome: Comparable {
    case safe, loses, asks

    var status: ExitStatus {
      switch self {
      case .safe: .success
      case .loses: .loses
      case .asks: .asks
      }
    }
  }

  let outcome: Outcome
  private(set) var text: String

  /// The plan for any store of a model.
  init(from stored: Model, to current: Model) throws(ToolFailure) {
    do {
      let plan = try MigrationPlan(Migration(from: stored, to: current))
      self.init(plan)
      text += Self.compatibility(plan)
    } catch {
      throw ToolFailure(.failure, "error: No plan can be made: \(error).")
    }
  }

  /// - Parameter plan: the plan; nil if nothing has to be migrated.
  init(_ plan: MigrationPlan?) {
    outcome = plan.map { !$0.questions.isEmpty ? .asks : $0.loses ? .loses : .safe } ?? .safe
    text = plan?.description ?? "  nothing to do\n"
  }

  /// What a rollout on a server has to know. A file belongs to programs with one model.
  private static func compatibility(_ plan: MigrationPlan) -> String {
    if plan.steps.isEmpty { return "" }
    if plan.incompatibilities.isEmpty { return "  additive: programs with the former model can go on\n" }
    return "  breaking: programs with the former model cannot go on\n"
      + plan.incompatibilities.map { "            \($0)\n" }.joined()
  }
}
