import Trellis

/// Compares what a context shows, once it has merged, with what the store holds: everything that is not edited is as it is there, and
/// the two ends of every relationship agree.
struct WriterCheck {
  private let village: Village
  private let writer: Writer
  private var touched: [Shape] { village.plan.touched }

  init(_ village: Village, _ writer: Writer) {
    self.village = village
    self.writer = writer
  }

  func run() throws {
    let truth = try writer.truth()
    let isClean = !writer.context.hasChanges
    let seen = try writer.picture()
    do {
      if isClean, let difference = seen.difference(from: truth, touched) {
        throw Village.Difference(description: difference)
      }
      try checkEnds(seen, truth)
      try writer.pairs.check(seen, livingOn: livingOn(truth))
      // Of an object with edits, a child shows what it has read of its parent.
      if !isClean && writer.parent == nil { try checkUnedited(seen, truth) }
    } catch let difference as Village.Difference {
      let state = isClean ? "without changes" : "with changes"
      throw Village.Difference(description: "\(Act.name(of: writer.index)) \(state): \(difference)")
    }
  }

  private func fail(_ text: String) -> Village.Difference { Village.Difference(description: text) }

  // MARK: Both ends

  private func checkEnds(_ seen: Picture, _ truth: Picture) throws {
    let living = try livingOn(truth)
    func livesOn(_ number: Int) -> Bool { living.contains(number) }
    for (place, shape) in touched.enumerated() {
      let inverse = shape.inverse.flatMap { index in touched.firstIndex { $0.index == index } }
      for (number, object) in seen.objects.enumerated() {
        guard let partners = object?.partners[place], !partners.isEmpty, !livesOn(number) else { continue }
        if Set(partners).count != partners.count {
          throw fail("\(number).\(shape.name) shows a member twice: \(partners)")
        }
        for partner in partners where !(truth.objects.indices.contains(partner) && livesOn(partner)) {
          guard seen.objects.indices.contains(partner), let other = seen.objects[partner] else {
            throw fail("\(number).\(shape.name) shows \(partner), which is gone")
          }
          // What others have left to an object that undo makes anew is known once that is saved.
          if try writer.find(partner)?.isInserted == true, try !isSetHere(number, shape) { continue }
          if let inverse, !other.partners[inverse].contains(number),
            try !isTakenByBoth(number, shape, partner, touched[inverse], other.partners[inverse].first, seen)
          {
            throw fail(
              "\(number).\(shape.name) shows \(partner), but \(partner).\(touched[inverse].name) shows \(other.partners[inverse])"
            )
          }
        }
        if shape.isToMany, let object = try writer.find(number),
          writer.members(object, shape).count != partners.count
        {
          throw fail("\(number).\(shape.name) counts \(writer.members(object, shape).count), shows \(partners)")
        }
      }
    }
  }

  /// The objects that others have deleted and that live on here, or in a context above, because they are edited. What their rows
  /// refer to was not told of them.
  private func livingOn(_ truth: Picture) throws -> Set<Int> {
    var living: Set<Int> = []
    var truth = truth
    var next: Writer? = writer
    while let writer = next {
      let inserted = Set(writer.context.insertedObjects.map(writer.number(of:)))
      living.formUnion(truth.objects.indices.filter { truth.objects[$0] == nil && !inserted.contains($0) })
      next = writer.parent
      if let next { truth = try next.truth() }
    }
    return living
  }

  /// Whether a partner of a one-to-one was given to one object here and to another one by others. Until a save has settled that,
  /// each of the two shows it, and the partner shows what was set here.
  private func isTakenByBoth(
    _ number: Int, _ shape: Shape, _ partner: Int, _ inverse: Shape, _ taker: Int?, _ seen: Picture
  ) throws -> Bool {
    if shape.isToMany || inverse.isToMany { return false }
    let mine = try level(number, shape)
    // A couple lies in both rows, which a merge makes agree.
    if shape.index == inverse.index { return false }
    if try level(partner, inverse) < mine { return true }
    // A child is told of one of several takers in its parent.
    if let parent = try writer.parent?.picture(), let place = touched.firstIndex(where: { $0.index == shape.index }),
      parent.objects.filter({ $0?.partners[place] == [partner] }).count > 1
    {
      return true
    }
    guard let taker, let place = touched.firstIndex(where: { $0.index == shape.index }) else { return false }
    return try level(taker, shape) < mine && seen.objects[taker]?.partners[place] == [partner]
  }

  /// Whether a reference in an object's own row is set here and not saved.
  private func isSetHere(_ number: Int, _ shape: Shape) throws -> Bool {
    if case .column = village.rules.homes[shape.index] { return try level(number, shape) != .max }
    return true
  }

  /// How many contexts up a reference is set and not saved.
  private func level(_ number: Int, _ shape: Shape) throws -> Int {
    guard case .column = village.rules.homes[shape.index] else { return .max }
    var level = 0
    var next: Writer? = writer
    while let writer = next {
      if let object = try writer.find(number), object.isInserted || object.changedProperties.contains(shape.name) {
        return level
      }
      level += 1
      next = writer.parent
    }
    return .max
  }

  // MARK: What is not edited

  private func checkUnedited(_ seen: Picture, _ truth: Picture) throws {
    let deleted = Set(writer.context.deletedObjects.map(writer.number(of:)))
    for (number, (mine, stored)) in zip(seen.objects, truth.objects).enumerated() {
      guard let mine else {
        if stored != nil && !deleted.contains(number) { throw fail("\(number) is missing") }
        continue
      }
      guard let object = try writer.find(number) else { throw fail("\(number) should be gone") }
      guard let stored else {
        if !object.isInserted && !object.hasChanges && !isEditedAround(number, mine) {
          throw fail("\(number) should be gone")
        }
        continue
      }
      guard !object.isInserted else { throw fail("\(number) is in the store and says it is new") }
      try check(number, mine, stored, Set(object.changedProperties), seen, truth)
    }
  }

  /// Whether the lists of an object may hold changes that its own row knows nothing of.
  private func isEditedAround(_ number: Int, _ object: Picture.Object) -> Bool {
    object.partners.joined().contains { (try? writer.find($0)?.hasChanges) == true }
  }

  private func check(
    _ number: Int, _ mine: Picture.Object, _ stored: Picture.Object, _ edited: Set<String>, _ seen: Picture,
    _ truth: Picture
  ) throws {
    if !edited.contains("label") && mine.label != stored.label {
      throw fail("\(number).label is \(mine.label), in the store \(stored.label)")
    }
    if !edited.contains("size") && mine.size != stored.size {
      throw fail("\(number).size is \(mine.size), in the store \(stored.size)")
    }
    if !edited.contains("nick") && mine.nick != stored.nick {
      throw fail("\(number).nick is \(mine.nick ?? "nil"), in the store \(stored.nick ?? "nil")")
    }
    for (place, shape) in touched.enumerated() where edited.contains(shape.name) && shape.isOrdered {
      try checkOrder(number, shape, mine.partners[place], stored.partners[place])
    }
    for (place, shape) in touched.enumerated() where !edited.contains(shape.name) {
      // An object that others have deleted and that is edited here lives on, and stays a member.
      let present = mine.partners[place].filter { truth.objects[$0] != nil }
      let expected = stored.partners[place].filter { seen.objects[$0] != nil }
      if present == expected { continue }
      switch village.rules.homes[shape.index] {
      case .column:
        // An edit of the partner may have taken it away from here.
        if let partner = expected.first, present.isEmpty, isTaken(partner, shape, seen) { continue }
      case .joinTable: break
      case .inverseColumn:
        // What the members' rows say is compared there; with the same members the order has to be the same.
        if Set(present) != Set(expected) || !shape.isToMany { continue }
        if !edited.isDisjoint(with: [shape.name]) { continue }
      case .transient: continue
      }
      throw fail("\(number).\(shape.name) is not edited and shows \(present), in the store \(expected)")
    }
  }

  /// The members of an edited list that the context has put nowhere have the order of the store.
  private func checkOrder(_ number: Int, _ shape: Shape, _ mine: [Int], _ stored: [Int]) throws {
    func isAsStored(_ member: Int) -> Bool { !writer.placings.contains(number, shape, member) }
    let present = mine.filter { stored.contains($0) && isAsStored($0) }
    let expected = stored.filter(present.contains)
    if present == expected { return }
    throw fail(
      "\(number).\(shape.name) is edited and shows \(mine); the order of \(present) is \(expected) in the store")
  }

  /// Whether another object has a partner of a one-to-one here.
  private func isTaken(_ partner: Int, _ shape: Shape, _ seen: Picture) -> Bool {
    guard let inverse = village.rules.shapes.inverse(of: shape), !inverse.isToMany,
      let place = touched.firstIndex(where: { $0.index == inverse.index })
    else { return false }
    return seen.objects[partner]?.partners[place].isEmpty == false
  }
}
