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
  let text: String

  init(from stored: Model, to current: Model) throws(ToolFailure) {
    let plan: MigrationPlan
    do {
      plan = try MigrationPlan(ModelMatch(from: stored, to: current))
    } catch {
      throw ToolFailure(.failure, "error: No plan can be made: \(error).")
    }
    let isLossy = plan.steps.contains { if case .loses = $0.risk { true } else { false } }
    outcome = !plan.questions.isEmpty ? .asks : isLossy ? .loses : .safe
    text = Self.text(of: plan)
  }

  private static func text(of plan: MigrationPlan) -> String {
    if plan.steps.isEmpty { return "  nothing to do\n" }
    return plan.steps.map { step in
      let line = "  \(step.subject): \(step.text)"
      return switch step.risk {
      case .none: line + "\n"
      case .rewrites: line + "; rewrites rows\n"
      case .loses: line + "; loses values, as the model says\n"
      case .asks(let answer): line + "\n    ? \(answer)\n"
      case .impossible: line + "\n    ! only a step in Swift can do this\n"
      }
    }.joined()
  }
}
