import Trellis

/// Two or three objects at either end of one relationship, and everything that can be done with them.
struct SmallWorld {
  /// How the objects are when the test begins.
  enum Start: CaseIterable {
    case unsaved, saved
    /// Saved by another context, so that everything is loaded when it is needed.
    case reloaded
  }

  let shape: Shape
  let inverse: Shape?
  let start: Start
  /// Whether partners are linked when the test begins.
  let isLinked: Bool

  /// The objects at the owning end come first; within one entity both ends are the same.
  private var owners: [Int] { isWithin ? [1, 2, 3] : [1, 2] }
  private var partners: [Int] { isWithin ? [1, 2, 3] : [3, 4] }
  private var isWithin: Bool { shape.entity == shape.destination }

  /// What brings the objects into the world.
  private var opening: [Operation] {
    let entities =
      isWithin
      ? [shape.entity, shape.entity, shape.entity + "Kind"]
      : [shape.entity, shape.entity + "Kind", shape.destination, shape.destination + "Kind"]
    var steps = entities.map { Operation.insert(entity: $0) }
    if isLinked, let first = owners.first, let last = owners.last {
      steps.append(shape.isToMany ? .replace(first, shape, partners) : .set(first, shape, partners.last))
      if shape.isToMany && inverse?.isToMany != false { steps.append(.append(last, shape, partners[0])) }
    }
    if start != .unsaved { steps.append(.save) }
    if start == .reloaded { steps.append(.newContext) }
    return steps
  }

  /// Everything that can be done in one step.
  var moves: [Operation] {
    var moves = links(shape, owners, partners)
    if let inverse, inverse.index != shape.index { moves += links(inverse, partners, owners) }
    for object in Set(owners + partners).sorted() { moves.append(.delete(object)) }
    moves += [.save, .rollback]
    if start == .reloaded { moves.append(.refreshAll) }
    return moves
  }

  private func links(_ shape: Shape, _ owners: [Int], _ partners: [Int]) -> [Operation] {
    var moves: [Operation] = []
    for owner in owners {
      if !shape.isToMany { moves.append(.set(owner, shape, nil)) }
      for partner in partners {
        guard shape.isToMany else {
          moves.append(.set(owner, shape, partner))
          continue
        }
        moves += [.append(owner, shape, partner), .remove(owner, shape, partner)]
        if shape.isOrdered { moves.append(.insertAt(owner, shape, partner, place: 0)) }
      }
      if shape.isToMany { moves.append(.replace(owner, shape, partners.reversed())) }
    }
    return moves
  }

  /// Plays moves, compares, saves, and compares again.
  ///
  /// - Returns: whether all moves were possible.
  func play(_ moves: [Operation], in container: PersistentContainer, _ rules: Rules, levels: Int = 0) throws -> Bool {
    let live = LiveGraph(container, rules, holdsObjects: false, levels: levels)
    var duel = Duel(
      rules.shapes, live, touched: shape.index == inverse?.index ? [shape] : [shape] + (inverse.map { [$0] } ?? []))
    for step in opening { try duel.apply(step) }
    for move in moves {
      guard duel.reference.allows(move) else { return false }
      try duel.apply(move)
    }
    try duel.compareAll()
    try duel.apply(.save)
    try duel.compareAll()
    return true
  }
}

extension ReferenceWorld {
  /// Whether the objects that a move names are there.
  func allows(_ move: Operation) -> Bool {
    switch move {
    case .set(let object, _, let partner): current.isLiving(object) && partner.map(current.isLiving) != false
    case .append(let object, _, let partner), .remove(let object, _, let partner),
      .insertAt(let object, _, let partner, _):
      current.isLiving(object) && current.isLiving(partner)
    case .replace(let object, _, let partners): ([object] + partners).allSatisfy(current.isLiving)
    case .delete(let object): current.isLiving(object)
    default: true
    }
  }
}
