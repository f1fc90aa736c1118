import Trellis

/// Compares what a save has left in the store with what the context showed and what others had written: no edit of either
/// side is lost against the merge policy.
struct SaveCheck {
  private let village: Village
  private let writer: Writer
  private let policy: MergePolicy
  /// What the context showed right before.
  private let mine: Picture
  /// What the store held right before.
  private let theirs: Picture
  /// The names of the edited properties of saved objects, by number.
  private let edited: [Int: Set<String>]
  private let inserted: Set<Int>
  private let deleted: Set<Int>

  /// Whether the context had merged what others saved.
  private let hasMerged: Bool

  /// - Parameter writer: a context that is about to save.
  init(_ village: Village, _ writer: Writer, _ policy: MergePolicy, hasMerged: Bool) throws {
    self.hasMerged = hasMerged
    self.village = village
    self.writer = writer
    self.policy = policy
    mine = try writer.picture()
    theirs = try writer.truth()
    let context = writer.context
    edited = Dictionary(
      context.updatedObjects.map { (writer.number(of: $0), Set($0.changedProperties)) }, uniquingKeysWith: { $1 })
    inserted = Set(context.insertedObjects.map(writer.number(of:)))
    deleted = Set(context.deletedObjects.map(writer.number(of:)))
  }

  /// What a save that failed has to leave as it was.
  func checkUnchanged() throws {
    if let difference = try writer.picture().difference(from: mine, village.plan.touched) {
      throw fail("in the context: \(difference)")
    }
    let stored = try writer.parent?.picture() ?? village.readStore()
    if let difference = stored.difference(from: theirs, village.plan.touched) {
      throw fail("in the store: \(difference)")
    }
  }

  func checkSaved() throws {
    let stored = try writer.truth()
    for number in mine.objects.indices {
      try check(number, stored)
    }
  }

  private func fail(_ text: String) -> Village.Difference { Village.Difference(description: "after the save \(text)") }

  /// Whether the policy prefers what others wrote.
  private var yields: Bool { policy == .storeTrump || policy == .rollback }

  private func check(_ number: Int, _ stored: Picture) throws {
    guard let mine = mine.objects[number] else {
      if deleted.contains(number), stored.objects[number] != nil, !yields { throw fail("\(number) is not deleted") }
      return
    }
    guard let saved = stored.objects[number] else {
      if mayBeGone(number) { return }
      throw fail("\(number) is gone from the store")
    }
    let edited = edited[number] ?? []
    let theirs = theirs.objects[number]
    let isNew = inserted.contains(number)
    // Objects with the same unique key may have become one.
    if village.plan.hasKeys && policy != .error { return }
    func check<Value: Equatable>(_ name: String, _ value: KeyPath<Picture.Object, Value>) throws {
      if try writer.isGivenToStore(number, name) { return }
      try self.check(
        "\(number).\(name)", saved[keyPath: value], mine[keyPath: value], theirs?[keyPath: value],
        isEdited: isNew || edited.contains(name) || policy == .overwrite && isEdited(number))
    }
    try check("label", \.label)
    try check("size", \.size)
    try check("nick", \.nick)
    for (place, shape) in village.plan.touched.enumerated() {
      // The other end tells what lies there.
      if village.rules.homes[shape.index] == .inverseColumn { continue }
      // Without what others added, members say nothing.
      if shape.isToMany && !hasMerged { continue }
      func sorted(_ object: Picture.Object) -> [Int] {
        object.partners[place].filter { stored.objects[$0] != nil && !isBroughtBack($0, stored) }.sorted()
      }
      let isEdited = isNew || edited.contains(shape.name)
      if !isEdited && sorted(saved).isEmpty && !shape.isToMany { continue }
      if yields && isWithin(sorted(saved), mine: sorted(mine), theirs: theirs.map(sorted) ?? [], shape) { continue }
      // Of a couple that lies in both rows, one half may have been edited alone, and takes the other half along.
      if shape.inverse == shape.index, let partner = saved.partners[place].first,
        self.mine.objects[partner]?.partners[place] == [number]
      {
        continue
      }
      // A reference that was left behind leads somewhere again when its target comes back.
      if !isEdited, let partner = mine.partners[place].first, self.theirs.objects[partner] == nil { continue }
      if try writer.isGivenToStore(number, shape.name) { continue }
      try self.check(
        "\(number).\(shape.name)", sorted(saved), sorted(mine), theirs.map(sorted), isEdited: isEdited)
    }
  }

  /// Whether the delete of an object has yielded to what others did to it: then it has its partners again.
  private func isBroughtBack(_ number: Int, _ stored: Picture) -> Bool {
    yields && deleted.contains(number) && stored.objects[number] != nil
  }

  /// Whether partners may be the result of giving some edits up: whoever both sides have stays, and nobody comes whom neither has. A
  /// partner of a one-to-one may be given up for reasons of its own.
  private func isWithin(_ saved: [Int], mine: [Int], theirs: [Int], _ shape: Shape) -> Bool {
    let isOneToOne = !shape.isToMany && village.rules.shapes.inverse(of: shape)?.isToMany == false
    let required = isOneToOne && mine != theirs ? [] : mine.filter(theirs.contains)
    return Set(saved).isSubset(of: mine + theirs) && Set(required).isSubset(of: saved)
  }

  private func check<Value: Equatable>(
    _ name: String, _ saved: Value, _ mine: Value, _ theirs: Value?, isEdited: Bool
  ) throws {
    if saved == mine && (isEdited || policy == .overwrite) { return }
    if saved == theirs && (!isEdited || yields) { return }
    let other = theirs.map { "\($0)" } ?? "nothing"
    throw fail("\(name) is \(saved); it was \(mine) here\(isEdited ? ", edited," : "") and \(other) there")
  }

  /// Whether anything is edited that lies in the object's own row.
  private func isEdited(_ number: Int) -> Bool {
    let lists = village.plan.touched.filter { !village.rules.homes[$0.index].isColumn }.map(\.name)
    return edited[number]?.subtracting(lists).isEmpty == false
  }

  /// A delete here takes along what others have added to its objects, even if it is edited here; what others deleted goes under the policies that yield.
  private func mayBeGone(_ number: Int) -> Bool {
    if yields { return true }
    if !inserted.contains(number), (try? writer.parentMayDrop(number)) == true { return true }
    let goesAlong = !deleted.isEmpty && village.plan.cascades
    if inserted.contains(number) { return goesAlong || village.plan.hasKeys && policy != .error }
    if theirs.objects[number] == nil { return !isEdited(number) }
    return !deleted.isEmpty && edited[number] == nil || goesAlong
  }
}
