@_spi(Generated) import Trellis

/// What a context has edited and not saved, as it says itself: it has to be there after a merge, too.
struct Edits {
  /// A value or the key of a partner in the object's own row.
  private enum Value: Equatable {
    case text(String?)
    case number(Int64)
  }

  private let village: Village
  private let writer: Writer
  private var values: [(number: Int, property: String, value: Value)] = []
  private var partners: [(number: Int, shape: Shape, key: Int64)] = []
  /// The references among them that a child has set back to what its parent had read.
  private var setBackInParent: Set<[Int]> = []
  /// What the store holds.
  private let theirs: Picture?
  private let inserted: [Int]
  private let deleted: [Int]

  init(_ village: Village, _ writer: Writer) {
    self.village = village
    self.writer = writer
    let context = writer.context
    theirs = try? village.truth()
    inserted = context.insertedObjects.map(writer.number(of:))
    deleted = context.deletedObjects.map(writer.number(of:))
    for object in context.updatedObjects { note(object, Set(object.changedProperties)) }
    for object in context.insertedObjects { note(object, nil) }
  }

  /// - Parameter changed: the names of the edited properties; nil for all of them.
  private mutating func note(_ object: ManagedObject, _ changed: Set<String>?) {
    let number = writer.number(of: object)
    for name in ["label", "size", "nick"] where changed?.contains(name) != false {
      values.append((number, name, value(name, object)))
    }
    for shape in village.plan.touched where village.rules.homes[shape.index].isColumn {
      guard village.isKind(number, of: shape.entity), changed?.contains(shape.name) != false else { continue }
      let key = object._reference(writer.property(shape))
      partners.append((number, shape, key))
      if writer.parentHasRead(number, shape, key) { setBackInParent.insert([number, shape.index]) }
    }
  }

  private func value(_ name: String, _ object: ManagedObject) -> Value {
    switch name {
    case "label": .text((object as? any Labelled)?.label)
    case "size": .number((object as? any Labelled)?.size ?? 0)
    default: .text((object as? Villager)?.nick)
    }
  }

  private func value(_ name: String, of object: Picture.Object) -> Value {
    name == "size" ? .number(object.size) : .text(name == "label" ? object.label : object.nick)
  }

  /// - Parameter stored: what the store holds after a save.
  func checkSaved(_ stored: Picture, _ policy: MergePolicy) throws {
    func fail(_ text: String) -> Village.Difference {
      Village.Difference(description: "the save under \(policy) \(text)")
    }
    // Under these, others' changes may be preferred; and objects with the same unique key may have become one.
    if policy == .storeTrump || policy == .rollback || village.plan.hasKeys && policy != .error { return }
    for number in deleted where stored.objects[number] != nil { throw fail("lost the delete of \(number)") }
    if policy == .error, writer.parent == nil { try checkConflicts() }
    // A delete includes what others have added to its objects.
    let mayBeGone = village.plan.cascades && !deleted.isEmpty
    for number in inserted where stored.objects[number] == nil && !mayBeGone { throw fail("lost the new \(number)") }
    for (number, name, value) in values where try !writer.isGivenToStore(number, name) {
      guard let object = stored.objects[number] else {
        if try mayBeGone || !inserted.contains(number) && writer.parentMayDrop(number) { continue }
        throw fail("lost \(number) with an edited \(name)")
      }
      if self.value(name, of: object) != value { throw fail("lost the edited \(number).\(name)") }
    }
    for (number, shape, key) in partners where try !writer.isGivenToStore(number, shape.name) {
      guard let place = village.plan.touched.firstIndex(where: { $0.index == shape.index }),
        let saved = stored.objects[number]?.partners[place]
      else { continue }
      let wanted = key == 0 ? [] : [village.number(of: key)].filter { stored.objects[$0] != nil }
      if saved == wanted || saved.isEmpty, try writer.hasUnlinkedStoredHalf(of: number, shape, at: place) { continue }
      // Neither end is an edit of the parent any more, so the store's partners apply.
      if saved.isEmpty, shape.inverse == shape.index, setBackInParent.contains([number, shape.index]) { continue }
      if saved != wanted { throw fail("lost the edited \(number).\(shape.name): \(saved) instead of \(wanted)") }
    }
  }

  /// No value was saved over one that others have saved since it was edited.
  private func checkConflicts() throws {
    for (number, name, value) in values {
      guard let version = writer.editTimes[number, name], let object = theirs?.objects[number] else { continue }
      let stored = self.value(name, of: object)
      let isKnown = village.past(of: number, until: version).contains { self.value(name, of: $0) == stored }
      if !isKnown && stored != value {
        throw Village.Difference(description: "the save of \(number).\(name) has overwritten what others saved since")
      }
    }
  }

  /// - Parameter stored: what the store holds, which the context has merged.
  func check(_ stored: Picture) throws {
    func fail(_ text: String) -> Village.Difference { Village.Difference(description: "the merge \(text)") }
    // Others may have undone the same delete, and saved first.
    for number in inserted where try writer.find(number)?.isInserted != true && stored.objects[number] == nil {
      throw fail("lost the new \(number)")
    }
    let deletedNow = Set(writer.context.deletedObjects.map(writer.number(of:)))
    for number in deleted where !deletedNow.contains(number) && stored.objects[number] != nil {
      throw fail("lost the delete of \(number)")
    }
    for (number, name, value) in values {
      guard let object = try writer.find(number) else { throw fail("lost \(number) with an edited \(name)") }
      if self.value(name, object) != value { throw fail("changed the edited \(number).\(name)") }
    }
    for (number, shape, key) in partners {
      guard let object = try writer.find(number) else { throw fail("lost \(number) with an edited \(shape.name)") }
      let present = object._reference(writer.property(shape))
      let partner = village.number(of: key)
      let isGone = key > 0 && stored.objects[partner] == nil && !inserted.contains(partner)
      if present != key && !isGone { throw fail("changed the edited \(number).\(shape.name)") }
    }
  }
}
