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
      // What was in conflict is not demanded before a save has settled it.
      if writer.isUnsettled && Exclusion.setBack.holds { return }
      if isClean, let difference = seen.difference(from: truth, touched) {
        throw Village.Difference(description: difference)
      }
      if isClean || writer.parent == nil || !Exclusion.children.holds { try checkEnds(seen, truth, isClean: isClean) }
      try writer.pairs.check(seen)
      // Of an object with edits, a child shows what it has read of its parent.
      if !isClean && writer.parent == nil { try checkUnedited(seen, truth) }
    } catch let difference as Village.Difference {
      let state = isClean ? "without changes" : "with changes"
      throw Village.Difference(description: "\(Act.name(of: writer.index)) \(state): \(difference)")
    }
  }

  private func fail(_ text: String) -> Village.Difference { Village.Difference(description: text) }

  // MARK: Both ends

  private func checkEnds(_ seen: Picture, _ truth: Picture, isClean: Bool) throws {
    let inserted = Set(writer.context.insertedObjects.map(writer.number(of:)))
    func livesOn(_ number: Int) -> Bool {
      Exclusion.livingOn.holds && truth.objects[number] == nil && !inserted.contains(number)
    }
    for (place, shape) in touched.enumerated() {
      let inverse = shape.inverse.flatMap { index in touched.firstIndex { $0.index == index } }
      for (number, object) in seen.objects.enumerated() {
        guard let partners = object?.partners[place], !partners.isEmpty, !livesOn(number) else { continue }
        let isOneToOne = inverse.map { !shape.isToMany && !touched[$0].isToMany } ?? false
        if isOneToOne && !isClean && Exclusion.rivals.holds { continue }
        if Set(partners).count != partners.count {
          throw fail("\(number).\(shape.name) shows a member twice: \(partners)")
        }
        for partner in partners where !(truth.objects.indices.contains(partner) && livesOn(partner)) {
          guard seen.objects.indices.contains(partner), let other = seen.objects[partner] else {
            throw fail("\(number).\(shape.name) shows \(partner), which is gone")
          }
          if let inverse, !other.partners[inverse].contains(number) {
            throw fail(
              "\(number).\(shape.name) shows \(partner), but \(partner).\(touched[inverse].name) shows \(other.partners[inverse])"
            )
          }
        }
        if shape.isToMany, isClean || !Exclusion.counts.holds, let object = try writer.find(number),
          writer.members(object, shape).count != partners.count
        {
          throw fail("\(number).\(shape.name) counts \(writer.members(object, shape).count), shows \(partners)")
        }
      }
    }
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

  /// Whether another object has a partner of a one-to-one here.
  private func isTaken(_ partner: Int, _ shape: Shape, _ seen: Picture) -> Bool {
    guard let inverse = village.rules.shapes.inverse(of: shape), !inverse.isToMany,
      let place = touched.firstIndex(where: { $0.index == inverse.index })
    else { return false }
    return seen.objects[partner]?.partners[place].isEmpty == false
  }
}
