/// The steps that were done, each with the graph before and after it, by the names under which the context keeps them.
struct StepHistory {
  private struct Step {
    let before: ReferenceGraph
    let after: ReferenceGraph
  }

  private var done: [(name: Int, step: Step)] = []
  private var undone: [(name: Int, step: Step)] = []
  private var lastName = 0
  /// How many steps were undone or done again.
  private(set) var turns = 0

  mutating func clear() {
    done = []
    undone = []
  }

  /// - Returns: the name of the step.
  mutating func add(_ before: ReferenceGraph, _ after: ReferenceGraph) -> String {
    lastName += 1
    done.append((lastName, Step(before: before, after: after)))
    return "\(lastName)"
  }

  /// The graph before the step that the context is about to undo; nil when there is none.
  mutating func undo(_ name: String?) throws -> ReferenceGraph? {
    while let last = done.popLast() {
      if "\(last.name)" == name {
        turns += 1
        undone.append(last)
        return last.step.before
      }
      // A step in which nothing was changed is none.
      if last.step.before != last.step.after {
        throw Duel.Difference(description: "the step \(last.name) is not in the history, but \(name ?? "nothing")")
      }
    }
    if let name { throw Duel.Difference(description: "the step \(name) is still in the history") }
    return nil
  }

  /// The graphs before and after the step to redo; nil if there is none.
  mutating func redo(_ name: String?) throws -> (before: ReferenceGraph, after: ReferenceGraph)? {
    guard let name else { return nil }
    guard let last = undone.popLast(), "\(last.name)" == name else {
      throw Duel.Difference(description: "the step \(name) is not the one that was undone last")
    }
    turns += 1
    done.append(last)
    return (last.step.before, last.step.after)
  }
}
