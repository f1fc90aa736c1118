/// Checks that each parent is an entity of the model, and that no entity is its own ancestor. Sets each entity's
/// ancestors.
enum Parents {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    for number in draft.entities.indices { findParent(of: number, &draft, findings) }
    let order = orderFromRoots(draft)
    reportCycles(draft, reached: Set(order), findings)
    for number in order {
      guard let parent = draft.entities[number].parent else { continue }
      let ancestors = [parent] + draft.entities[parent].ancestors
      guard ancestors.count < Limits.ancestors else {
        reportDepth(draft.entities[number], findings)
        return
      }
      draft.entities[number].ancestors = ancestors
    }
  }

  private static func findParent(of number: Int, _ draft: inout Draft, _ findings: Findings) {
    guard let name = draft.entities[number].parentName else { return }
    if let parent = draft.entityNumbers[name.value] { return draft.entities[number].parent = parent }
    findings.error(
      .unknownEntity, at: name.offset,
      "The parent of entity '\(draft.entities[number].name.value)' is \(name.value.quoted), but there is no such entity"
        + findings.suggestions.clause(for: name.value, among: draft.entities.lazy.map(\.name.value)).orFullStop)
  }

  /// The entities with parents before children. Entities in or below a cycle are left out.
  private static func orderFromRoots(_ draft: Draft) -> [Int] {
    var children: [[Int]] = draft.entities.map { _ in [] }
    var order: [Int] = []
    for (number, entity) in draft.entities.enumerated() {
      if let parent = entity.parent { children[parent].append(number) } else { order.append(number) }
    }
    var next = 0
    while next < order.count {
      order += children[order[next]]
      next += 1
    }
    return order
  }

  private static func reportCycles(_ draft: Draft, reached: Set<Int>, _ findings: Findings) {
    var visited = reached
    for start in draft.entities.indices where !visited.contains(start) {
      var path: [Int] = []
      var current = start
      while visited.insert(current).inserted, let parent = draft.entities[current].parent {
        path.append(current)
        current = parent
      }
      if let first = path.firstIndex(of: current) { report(cycle: Array(path[first...]), draft, findings) }
    }
  }

  private static func report(cycle: [Int], _ draft: Draft, _ findings: Findings) {
    let names = cycle.prefix(8).map { "'\(draft.entities[$0].name.value)'" } + (cycle.count > 8 ? ["…"] : [])
    let entity = draft.entities[cycle[0]]
    findings.error(
      .parentCycle, at: entity.parentName?.offset ?? entity.name.offset,
      cycle.count == 1
        ? "Entity \(names[0]) is its own parent; take out \"parent\"."
        : "The parents of \(names.joined(separator: ", ")) form a circle; take out one \"parent\".",
      notes: cycle.dropFirst().prefix(7).map { number in
        let member = draft.entities[number]
        return ("'\(member.name.value)' names its parent here", member.parentName?.offset ?? member.name.offset)
      })
  }

  private static func reportDepth(_ entity: EntityDraft, _ findings: Findings) {
    findings.error(
      .parentChainTooLong, at: entity.name.offset,
      "Entity '\(entity.name.value)' has more than \(Limits.ancestors - 1) ancestors; flatten the hierarchy.")
  }
}
