@_spi(Generated) import Trellis

/// One of several contexts.
final class Writer: GraphSide {
  private unowned let village: Village
  let context: ManagedObjectContext
  let index: Int
  /// Keeps the context from dropping what it has.
  private var held: [ManagedObject] = []
  /// The version of the store that the context has merged last.
  private var version = 0
  fileprivate(set) var pairs: PairEdits
  fileprivate(set) var placings = Placings()
  private(set) var editTimes = EditTimes()

  /// The one whose child this is.
  let parent: Writer?

  init(_ village: Village, _ index: Int, _ parent: Writer? = nil) {
    self.village = village
    self.index = index
    self.parent = parent
    context = parent?.context.newChildContext() ?? village.container.newContext()
    pairs = PairEdits(village)
    context.isObserving = index >= 0 && village.plan.observes
    if index >= 0 && village.plan.undoes { context.undo.enable(limit: .max) }
  }

  // MARK: The store

  func noteMerged() {
    version = village.version
    if village.comparesMemory, let stored = try? village.truth() { pairs.settle(stored) }
  }

  /// What it saves to: the store, or the context above.
  func truth() throws -> Picture { try parent?.picture() ?? village.truth() }

  /// Takes note of a save: all is in the store, and others do not know it yet.
  ///
  /// - Parameter hasPlaced: Whether the positions of members that were chosen here are saved as well.
  func noteSaved(hasPlaced: Bool = true) {
    if let parent {
      parent.pairs.forget()
      if hasPlaced { parent.placings.formUnion(placings) }
    } else {
      village.noteWritten()
    }
    if hasPlaced { placings.noteSaved() }
    if village.comparesMemory, parent == nil, let stored = try? village.truth() {
      for other in village.writers { other.pairs.forgetRemovals(missingIn: stored) }
    }
    version = village.version
    pairs.forget()
    noteMerged()
  }

  /// Takes note of what is edited, after anything that may edit something.
  func noteEdits() { editTimes.note(editsOf: self, at: village.version) }

  // MARK: Objects

  func find(_ number: Int) throws -> ManagedObject? {
    guard let found = try village.find(number, in: context) else { return nil }
    if village.plan.holdsObjects { held.append(found) }
    return found
  }

  func object(_ number: Int) throws -> ManagedObject {
    guard let found = try find(number) else { throw LiveGraph.MissingObject(object: number) }
    return found
  }

  /// Whether a child has set a property to the value that its parent has read: that is no change of the parent's, where others'
  /// values come in.
  func isGivenToStore(_ number: Int, _ property: String) throws -> Bool {
    guard let parent, let object = try parent.find(number) else { return false }
    return !object.isInserted && !object.changedProperties.contains(property)
  }

  /// Whether a key is the partner that the parent has read of an object, without an edit of its own.
  func parentHasRead(_ number: Int, _ shape: Shape, _ key: Int64) -> Bool {
    guard let parent, shape.name == "spouse",
      let object = try? village.find(number, in: parent.context, onlyRegistered: true) as? Villager
    else { return false }
    return object.committed?.spouse?.key == key
  }

  /// Whether the parent has edited the other half of the pair that the store holds. A child that sets its half to what
  /// the parent has read gives it to the store, and the parent's edit of the other half parts the two.
  func hasUnlinkedStoredHalf(of number: Int, _ shape: Shape, at place: Int) throws -> Bool {
    guard let parent, shape.inverse == shape.index,
      let partner = try village.truth().objects[number]?.partners[place].first,
      let object = try parent.find(partner)
    else { return false }
    return object.changedProperties.contains(shape.name)
  }

  /// Whether the parent may drop an object of a child: one that lives on there, although others have deleted it, goes when nothing
  /// of it is edited there any more.
  func parentMayDrop(_ number: Int) throws -> Bool { try parent != nil && village.truth().objects[number] == nil }

  func number(of object: ManagedObject) -> Int { village.number(of: object.number) }

  func property(_ shape: Shape) -> Int { village.rules.properties[shape.index] }

  func fetch(_ entity: String) throws { held += try VillageTable.access(entity).fetch(context) }

  /// The objects that are in the context's graph.
  func living() throws -> [Int] { try village.entities.indices.filter { try find($0) != nil } }

  // MARK: Reading

  func picture() throws -> Picture {
    Picture(objects: try village.entities.indices.map { try find($0).map(picture) })
  }

  /// The objects that are in memory; nil without one. Nothing is read, so that nothing is merged.
  func registered() throws -> [ManagedObject?] {
    try village.entities.indices.map { try village.find($0, in: context, onlyRegistered: true) }
  }

  func picture(_ object: ManagedObject) -> Picture.Object {
    let labelled = object as? any Labelled
    let number = number(of: object)
    return Picture.Object(
      label: labelled?.label ?? "", size: labelled?.size ?? 0, nick: (object as? Villager)?.nick,
      partners: village.plan.touched.map { village.isKind(number, of: $0.entity) ? reading(object, $0) : [] })
  }

  // MARK: Acting

  /// Does nothing where there is nothing to do it to.
  func carryOut(_ deed: Act.Deed) throws {
    let isInStep = version == village.version && parent == nil
    do { try edit(deed) } catch is LiveGraph.MissingObject { return }
    placings.note(deed, village.rules.shapes)
    if case .refresh(let number) = deed { editTimes.forget(number) }
    switch deed {
    case .link(let operation) where isInStep && village.comparesMemory:
      pairs.note(operation, try village.truth(), deleted: context.deletedObjects.map(number(of:)))
    case .insert, .label, .size, .nick, .labelAndBack, .refresh, .refreshAll, .dropUnused: break
    case .fetch: noteMerged()
    default: pairs.forget()
    }
  }

  private func edit(_ deed: Act.Deed) throws {
    switch deed {
    case .insert(let entity, let number):
      let object = try VillageTable.access(entity).insert(context)
      if village.plan.holdsObjects { held.append(object) }
      village.note(object, entity, as: number)
    case .label(let number, let value): try labelled(number)?.label = "\(value)"
    case .size(let number, let value): try labelled(number)?.size = Int64(value)
    case .nick(let number, let value): (try object(number) as? Villager)?.nick = value.map { "\($0)" }
    case .labelAndBack(let number):
      let object = try labelled(number)
      let former = object?.label ?? ""
      object?.label = former + "!"
      object?.label = former
    case .link(let operation): _ = try link(operation)
    case .delete(let number): try context.delete(object(number))
    case .undelete(let number):
      if let object = context.deletedObjects.first(where: { self.number(of: $0) == number }) {
        context.undelete(object)
      }
    case .fetch(let entity): try fetch(entity)
    case .rollback: context.rollback()
    case .rollbackObject(let number): try object(number).rollback()
    case .refresh(let number): try context.refresh(object(number))
    case .discard(let number): try context.refresh(object(number), discardingChanges: true)
    case .refreshAll: context.refreshAll()
    case .dropUnused:
      held = []
      context.dropUnusedObjects()
    case .undo: try context.undo.undo()
    case .redo: try context.undo.redo()
    case .merge, .save, .discardInvalidAndSave, .updateAll, .deleteAll: break
    }
  }

  private func labelled(_ number: Int) throws -> (any Labelled)? { try object(number) as? any Labelled }
}

extension ManagedObject {
  /// The number under which stores keep the object.
  var number: Int64 { _key }
}
