/// A context and its store, as the rules say they behave.
struct ReferenceWorld {
  /// A rule that the next save would break.
  struct Failure: Hashable {
    let object: Int
    let relationship: String
    let rule: String
  }

  private(set) var stored: ReferenceGraph
  var current: ReferenceGraph
  private var lastObject = 0

  init(_ shapes: Shapes) {
    stored = ReferenceGraph(shapes)
    current = stored
  }

  var shapes: Shapes { current.shapes }
  var hasChanges: Bool { current != stored }

  mutating func insert(_ entity: String) -> Int {
    lastObject += 1
    current.insert(lastObject, entity)
    return lastObject
  }

  mutating func delete(_ object: Int) { current.delete(object, saved: Set(stored.living)) }

  mutating func rollback() { current = stored }

  /// Makes the graph what it was at another time. What was saved since stays saved: what was not there then is deleted, and
  /// its partners have let go of it, which was part of the steps that are taken back or done again.
  mutating func restore(_ former: ReferenceGraph) {
    current = former
    for object in former.deleted where !stored.isLiving(object) { current.forget(object) }
    for object in stored.living where current.entities[object] == nil {
      current.insert(object, stored.entities[object] ?? "")
      current.markDeleted(object)
    }
    for object in current.living { dropLost(object) }
  }

  /// Denies the deletes of a step that is done again. An object that was new when it was deleted, and is stored by now, is
  /// denied its delete as any other.
  mutating func denyDeletes(since former: ReferenceGraph) {
    for object in current.deleted where former.isLiving(object) {
      for shape in current.shapes(of: object) where shape.rule == .deny && current.links(object, shape).isEmpty {
        current.setLinks(object, shape, former.links(object, shape))
      }
    }
  }

  /// A link to an object that was deleted and saved since is none any more, but under no action.
  private mutating func dropLost(_ object: Int) {
    for shape in current.shapes(of: object) where current.shapes.inverse(of: shape)?.rule != .noAction {
      for partner in current.links(object, shape) where current.entities[partner] == nil {
        current.drop(object, shape, partner)
      }
    }
  }

  /// Gives up the edits of one object: to-ones, and to-manys that other objects' to-ones do not hold, are as they are stored,
  /// as far as the partners live, who show the object where it was. To-manys that others hold keep their members and lose
  /// their unsaved order.
  mutating func discard(_ object: Int) {
    guard stored.isLiving(object) else { return }
    let shapes = current.shapes(of: object)
    for shape in shapes {
      let former = stored.links(object, shape).filter(current.isLiving)
      let present = current.links(object, shape)
      if !shape.isToMany {
        if stored.links(object, shape) != present { current.set(object, shape, former.first) }
      } else if current.shapes.inverse(of: shape)?.isToMany != false {
        current.replace(object, shape, former)
        dropUnsavedPairs(object, shape)
      } else {
        continue
      }
      for partner in former where !present.contains(partner) { putBack(object, shape, partner) }
    }
    for shape in shapes where shape.isToMany && current.shapes.inverse(of: shape)?.isToMany == false {
      let present = current.links(object, shape)
      let former = stored.links(object, shape)
      current.setLinks(
        object, shape, former.filter(present.contains) + present.filter { !former.contains($0) })
    }
  }

  /// A pair that is not stored is gone at both ends, also where a deleted object has kept it.
  private mutating func dropUnsavedPairs(_ object: Int, _ shape: Shape) {
    guard let inverse = current.shapes.inverse(of: shape) else { return }
    for partner in current.deleted where current.links(partner, inverse).contains(object) {
      if !stored.links(partner, inverse).contains(object) { current.drop(partner, inverse, object) }
    }
  }

  private mutating func putBack(_ object: Int, _ shape: Shape, _ partner: Int) {
    guard let inverse = current.shapes.inverse(of: shape), inverse.isOrdered else { return }
    var members = current.links(partner, inverse).filter { $0 != object }
    let before = stored.links(partner, inverse).prefix { $0 != object }
    let place = before.reversed().compactMap { members.firstIndex(of: $0) }.first.map { $0 + 1 } ?? 0
    members.insert(object, at: place)
    current.setLinks(partner, inverse, members)
  }

  /// What stands against a save.
  var failures: Set<Failure> {
    var found: Set<Failure> = []
    for object in current.living {
      for shape in shapes.demandingShapes(of: current.entities[object] ?? "") { check(object, shape, &found) }
    }
    for object in current.deleted {
      for shape in current.shapes(of: object) where shape.rule == .deny && !current.reading(object, shape).isEmpty {
        found.insert(Failure(object: object, relationship: shape.name, rule: "deniedDelete"))
      }
    }
    return found
  }

  private func check(_ object: Int, _ shape: Shape, _ found: inout Set<Failure>) {
    func fail(_ object: Int, _ rule: String, _ relationship: String? = nil) {
      found.insert(Failure(object: object, relationship: relationship ?? shape.name, rule: rule))
    }
    let links = current.links(object, shape)
    guard shape.isToMany else {
      if shape.isRequired && links.isEmpty { fail(object, "required") }
      // A required one-way reference to an object that goes denies its delete.
      if shape.isRequired && shape.inverse == nil {
        for target in links where current.deleted.contains(target) {
          fail(target, "deniedDelete", "\(shape.entity).\(shape.name)")
        }
      }
      return
    }
    if let minimum = shape.minimum, links.count < minimum, !(links.isEmpty && shape.isOptional) {
      fail(object, "minimumCount")
    }
    if let maximum = shape.maximum, links.count > maximum { fail(object, "maximumCount") }
  }

  /// Takes the changes into the store; whoever calls this has seen that nothing stands against it.
  mutating func save() {
    for object in current.deleted { current.forget(object) }
    stored = current
  }
}
