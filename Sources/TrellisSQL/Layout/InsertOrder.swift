import TrellisSchema

/// An insert order of entities in which referenced rows come first.
///
/// Foreign keys are deferred, so every order is correct. In this one each foreign key is fulfilled at once, so that
/// SQLite neither counts open ones nor searches for rows that wait for a new key.
struct InsertOrder {
  private let targets: [[Int]]
  /// The rank of each entity, by its number. Rows with a lower rank are inserted first.
  private(set) var ranks: [Int]

  /// - Complexity: linear in the number of references.
  init(_ model: Model) {
    targets = model.entities.map { entity in
      // References point to tables, so only root entities have an order.
      guard entity.parent == nil else { return [] }
      var targets: Set<Int> = []
      for number in entity.subtree {
        for column in model.entities[number].columns {
          guard case .reference(_, let destination) = column.content else { continue }
          targets.insert(model.entities[destination].root)
        }
      }
      return targets.subtracting([entity.index]).sorted()
    }
    ranks = Array(repeating: -1, count: targets.count)
    for entity in model.entities where entity.parent == nil { visit(entity.index) }
    for entity in model.entities { ranks[entity.index] = ranks[entity.root] }
  }

  /// Visits depth first with an explicit stack, because the depth of a model has no limit. An entity has a rank while
  /// it is visited, so a cycle is cut where it closes.
  private mutating func visit(_ start: Int) {
    guard ranks[start] < 0 else { return }
    ranks[start] = 0
    var open: [(entity: Int, next: Int)] = [(start, 0)]
    while let (entity, next) = open.popLast() {
      guard next < targets[entity].count else {
        if let parent = open.last?.entity { ranks[parent] = max(ranks[parent], ranks[entity] + 1) }
        continue
      }
      open.append((entity, next + 1))
      let target = targets[entity][next]
      if ranks[target] < 0 {
        ranks[target] = 0
        open.append((target, 0))
      } else {
        let isOpen = open.contains { $0.entity == target }
        if !isOpen { ranks[entity] = max(ranks[entity], ranks[target] + 1) }
      }
    }
  }
}
