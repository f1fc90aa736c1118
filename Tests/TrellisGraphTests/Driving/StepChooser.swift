import TrellisTestSupport

/// Turns plain numbers into operations that make sense in the present state, so that a run can be cut short and still makes
/// sense.
struct StepChooser {
  struct Step {
    var kind: UInt64
    var first: UInt64
    var second: UInt64
    var third: UInt64

    init(_ random: inout SeededGenerator) {
      kind = random.next()
      first = random.next()
      second = random.next()
      third = random.next()
    }
  }

  let shapes: [Shape]
  let entities: [String]
  /// About how many objects there are at a time.
  let size: Int
  /// Whether steps are undone now and then.
  var undoes = false

  /// Nil when there is nothing to do it to.
  func operation(_ step: Step, _ world: ReferenceWorld) -> Operation? {
    let living = world.current.living
    let kind = step.kind % 100
    if undoes && step.kind >> 40 & 7 == 0 { return step.kind >> 43 & 3 == 0 ? .redo : .undo }
    // What was undone is mostly done again.
    if undoes && step.kind >> 40 & 7 == 1 { return .redo }
    if living.isEmpty || (kind < 12 && living.count < size) { return .insert(entity: pick(entities, step.first) ?? "") }
    switch kind {
    case 0..<60: return link(step, world, living)
    case 60..<62:
      return pick(living, step.first).map { .deleteAndUndelete($0, isLookedAt: step.second & 1 == 0) }
    case 62..<70: return pick(living, step.first).map { .delete($0) }
    case 70..<80: return .save
    case 80..<83: return .rollback
    case 83..<84: return .reset
    case 84..<87: return .newContext
    case 87..<88: return .refreshAll
    case 88..<89: return pick(living, step.first).map { .refresh($0) }
    // What one end of a one-to-one holds is the store's affair; so is what giving up edits of that end means.
    case 89..<90 where canDiscard:
      return pick(living, step.first).flatMap {
        hidesStored($0, world) || returnsBesideMoved($0, world) ? nil : .discard($0)
      }
    case 90..<92: return .dropUnused
    case 92..<94: return pick(entities, step.first).map { .fetch(entity: $0) }
    default: return look(step, world, living)
    }
  }

  /// Whether a one-way relationship has a member in the store that is deleted here. Giving up the owner's edits makes it a
  /// member again once its delete is undone, which is no step of the history that could be compared.
  private func hidesStored(_ object: Int, _ world: ReferenceWorld) -> Bool {
    undoes
      && world.shapes.shapes(of: world.current.entities[object] ?? "").contains { shape in
        shape.inverse == nil && world.stored.links(object, shape).contains(where: world.current.deleted.contains)
      }
  }

  /// Whether an object returns into an ordered list in which members that it followed have changed places. It is then behind those
  /// that were not moved. Which these are cannot be seen from the orders, which are all that the reference has.
  private func returnsBesideMoved(_ object: Int, _ world: ReferenceWorld) -> Bool {
    world.shapes.shapes(of: world.current.entities[object] ?? "").contains { shape in
      guard let inverse = world.shapes.inverse(of: shape), inverse.isOrdered else { return false }
      return world.stored.links(object, shape).contains { owner in
        let members = world.current.links(owner, inverse)
        let former = world.stored.links(owner, inverse).prefix { $0 != object }.filter(members.contains)
        return former != members.filter(former.contains)
      }
    }
  }

  private var canDiscard: Bool {
    !shapes.contains { shape in !shape.isToMany && shapes.contains { $0.index == shape.inverse && !$0.isToMany } }
  }

  private func link(_ step: Step, _ world: ReferenceWorld, _ living: [Int]) -> Operation? {
    guard let (object, shape, candidates) = end(step, world, living) else { return nil }
    let partner = pick(candidates, step.third)
    guard shape.isToMany else { return .set(object, shape, step.kind >> 32 & 3 == 0 ? nil : partner) }
    let members = world.current.reading(object, shape)
    let place = Int(step.third >> 32 & 0xFF)
    switch step.kind >> 32 % 8 {
    case 0, 1, 2: return partner.map { .append(object, shape, $0) }
    case 3: return partner.map { .insertAt(object, shape, $0, place: place % (members.count + 2)) }
    case 4, 5: return (pick(members, step.third) ?? partner).map { .remove(object, shape, $0) }
    case 6:
      guard !members.isEmpty else { return nil }
      return .move(object, shape, from: place % members.count, to: (place >> 4) % members.count)
    default: return .replace(object, shape, some(of: candidates, step.third >> 8))
    }
  }

  private func look(_ step: Step, _ world: ReferenceWorld, _ living: [Int]) -> Operation? {
    guard let (object, shape, candidates) = end(step, world, living) else { return nil }
    guard shape.isToMany else { return .read(object, shape) }
    switch step.kind >> 32 % 3 {
    case 0: return .count(object, shape)
    case 1: return pick(candidates, step.third).map { .contains(object, shape, $0) }
    default: return .read(object, shape)
    }
  }

  private func end(_ step: Step, _ world: ReferenceWorld, _ living: [Int]) -> (Int, Shape, [Int])? {
    guard let shape = pick(shapes, step.first) else { return nil }
    let owners = living.filter { world.shapes.isKind(world.current.entities[$0] ?? "", of: shape.entity) }
    let candidates = living.filter { world.shapes.isKind(world.current.entities[$0] ?? "", of: shape.destination) }
    return pick(owners, step.second).map { ($0, shape, candidates) }
  }

  /// A few of the candidates, by the bits of a number, rotated.
  private func some(of candidates: [Int], _ bits: UInt64) -> [Int] {
    guard !candidates.isEmpty else { return [] }
    let start = Int(bits >> 40) % candidates.count
    let turned = candidates[start...] + candidates[..<start]
    return turned.enumerated().filter { bits >> UInt64($0.offset % 32) & 1 == 1 }.map(\.element)
  }

  private func pick<Element>(_ elements: [Element], _ number: UInt64) -> Element? {
    elements.isEmpty ? nil : elements[Int(number % UInt64(elements.count))]
  }
}
