import TrellisSchema

/// An order of entities in which rows come after those they refer to.
///
/// Foreign keys are deferred, so any order is right; in this one each is fulfilled at once, and SQLite neither keeps
/// accounts of open ones nor looks for rows that wait for a new key.
struct InsertOrder {
  private let targets: [Set<Int>]
  private(set) var ranks: [Int]

  init(_ model: Model) {
    var targets: [Set<Int>] = model.entities.map { _ in [] }
    for entity in model.entities {
      for column in entity.columns {
        guard case .reference(_, let destination) = column.content else { continue }
        let root = model.entities[destination].root
        if root != entity.root { targets[entity.index].formUnion(model.entities[root].subtree) }
      }
    }
    self.targets = targets
    ranks = Array(repeating: 0, count: targets.count)
    // Each round settles one more level; circles end with the last round.
    for _ in targets.indices where raise() == false { break }
  }

  private mutating func raise() -> Bool {
    var hasRaised = false
    for (entity, targets) in targets.enumerated() {
      for target in targets where ranks[entity] <= ranks[target] && ranks[target] < ranks.count {
        ranks[entity] = ranks[target] + 1
        hasRaised = true
      }
    }
    return hasRaised
  }
}
