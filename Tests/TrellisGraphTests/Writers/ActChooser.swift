import Trellis
import TrellisTestSupport

/// Chooses what to do next: by plain numbers, among the objects that some context has made.
struct ActChooser {
  private let village: Village
  private var random: SeededGenerator
  private var plan: VillagePlan { village.plan }

  init(_ village: Village, _ random: SeededGenerator) {
    self.village = village
    self.random = random
  }

  mutating func next() throws -> Act {
    let writer = random.below(village.writers.count)
    let living = try village.writers[writer].living()
    return Act(writer: writer, deed: deed(writer, living))
  }

  /// Mostly links, saves and rollbacks.
  mutating func nextOfCouples() throws -> Act {
    let writer = random.below(village.writers.count)
    let living = try village.writers[writer].living()
    guard living.count > 1 else {
      return Act(writer: writer, deed: .insert(plan.entities[0], as: village.nextNumber))
    }
    let object = living[random.below(living.count)]
    let deed: Act.Deed? =
      switch random.below(24) {
      case 0..<9: link(living)
      case 9..<13: .save(policy(), looks() ? .after : .not)
      case 13, 14: .rollback
      case 15: .rollbackObject(object)
      case 16, 17: .merge(looks: true)
      case 18: .discard(object)
      case 19, 20: plan.undoes ? random.below(3) == 0 ? .redo : .undo : .rollback
      case 21: .delete(object)
      case 22:
        pick(village.writers[writer].context.deletedObjects.map(village.writers[writer].number(of:)))
          .map { Act.Deed.undelete($0) }
      default: living.count < plan.size ? .insert(plan.entities[0], as: village.nextNumber) : .refreshAll
      }
    return Act(writer: writer, deed: deed ?? .merge(looks: true))
  }

  private mutating func deed(_ writer: Int, _ living: [Int]) -> Act.Deed {
    let kind = random.below(100)
    if living.isEmpty || kind < 12 && living.count < plan.size {
      return .insert(plan.entities[random.below(plan.entities.count)], as: village.nextNumber)
    }
    let object = living[random.below(living.count)]
    if plan.undoes && random.below(12) == 0 { return random.below(3) == 0 ? .redo : .undo }
    switch kind {
    case 0..<18: return .label(object, random.below(100))
    case 18..<21: return .size(object, random.below(4))
    case 21..<25:
      let villagers = living.filter { village.isKind($0, of: "Villager") }
      guard plan.hasKeys, let one = pick(villagers) else { return .labelAndBack(object) }
      return .nick(one, random.below(4) == 0 ? nil : random.below(4))
    case 25..<28: return .labelAndBack(object)
    case 28..<58: return link(living) ?? .merge(looks: looks())
    case 58..<63: return .delete(object)
    case 63..<65:
      let context = village.writers[writer].context
      guard let gone = pick(context.deletedObjects.map(village.writers[writer].number(of:))) else {
        return .merge(looks: looks())
      }
      return .undelete(gone)
    case 65..<75: return .save(policy(), looks() ? [.after, .before, .mergedBefore][random.below(3)] : .not)
    case 75..<81: return .merge(looks: looks())
    case 81..<83: return .fetch(plan.entities[random.below(plan.entities.count)])
    case 83..<88: return look(living) ?? .dropUnused
    case 88: return .rollback
    case 89..<91: return .rollbackObject(object)
    case 91: return .refresh(object)
    case 92: return .discard(object)
    case 93: return .refreshAll
    case 94: return .dropUnused
    case 95..<97: return .discardInvalidAndSave
    case 97: return .updateAll(plan.entities[random.below(plan.entities.count)], size: random.below(4))
    case 98: return .deleteAll(plan.entities[random.below(plan.entities.count)], size: 1 + random.below(3))
    default: return .merge(looks: true)
    }
  }

  private mutating func looks() -> Bool { random.next() % plan.interval == 0 }

  private mutating func policy() -> MergePolicy {
    [MergePolicy.error, .error, .error, .objectTrump, .storeTrump, .overwrite, .rollback][random.below(7)]
  }

  private mutating func link(_ living: [Int]) -> Act.Deed? {
    guard let (object, shape, candidates) = end(living), let partner = pick(candidates) else { return nil }
    guard shape.isToMany else { return .link(.set(object, shape, random.below(4) == 0 ? nil : partner)) }
    let operation: Operation =
      switch random.below(shape.isOrdered ? 8 : 5) {
      case 0, 1: .append(object, shape, partner)
      case 2, 3: .remove(object, shape, partner)
      case 4: .replace(object, shape, candidates.filter { _ in random.below(2) == 0 })
      case 5, 6: .insertAt(object, shape, partner, place: random.below(3))
      default: .move(object, shape, from: random.below(3), to: random.below(3))
      }
    return .link(operation)
  }

  private mutating func look(_ living: [Int]) -> Act.Deed? {
    guard let (object, shape, candidates) = end(living) else { return nil }
    guard shape.isToMany, let partner = pick(candidates) else { return .link(.read(object, shape)) }
    switch random.below(3) {
    case 0: return .link(.count(object, shape))
    case 1: return .link(.contains(object, shape, partner))
    default: return .link(.read(object, shape))
    }
  }

  private mutating func end(_ living: [Int]) -> (Int, Shape, [Int])? {
    guard let shape = pick(plan.touched) else { return nil }
    let candidates = living.filter { village.isKind($0, of: shape.destination) }
    return pick(living.filter { village.isKind($0, of: shape.entity) }).map { ($0, shape, candidates) }
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[random.below(elements.count)]
  }
}
