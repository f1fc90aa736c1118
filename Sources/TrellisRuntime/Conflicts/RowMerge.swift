import TrellisStorage

/// One object that is changed here and in the store, property by property.
struct RowMerge {
  let object: ManagedObject
  let theirs: StoredVersion
  /// The properties that differ from what was read, here and there.
  private(set) var mine: Set<Int> = []
  private(set) var others: Set<Int> = []
  /// Those that both have set. The same value is no agreement: who counts up reads one number and writes the next.
  private(set) var conflicting: Set<Int> = []

  init(_ object: ManagedObject, _ theirs: StoredVersion, _ context: ManagedObjectContext) {
    self.object = object
    self.theirs = theirs
    let info = context.info(of: object)
    mine = Set(object.changedNumbers)
    for property in info.entity.storedProperties {
      let stored = theirs.row.value(property)
      if !stored.isSame(as: object.extras?.committed?.value(property) ?? object._value(property)) {
        others.insert(property)
      }
    }
    conflicting = mine.intersection(others)
  }

  /// Makes the stored row the one that was read, and puts what was set here on top of it.
  ///
  /// - Parameters:
  ///   - isWhole: Whether every value of the object stays as it is here.
  ///   - given: The properties that take the stored values, whatever was set here.
  func apply(_ context: ManagedObjectContext, keepingAll isWhole: Bool = false, yielding given: Set<Int> = []) {
    let kept = isWhole ? context.info(of: object).entity.storedProperties : object.changedNumbers
    put(on: context, keeping: kept.filter { !given.contains($0) })
    object.state.takeVersion(theirs.version)
  }

  /// Takes over the properties that were not changed here. Of those that both have changed, the value that was read and the
  /// row's version stay as they are, so that a save finds the conflict.
  func applyBesideConflicts(_ context: ManagedObjectContext) {
    put(on: context, keeping: object.changedNumbers, asRead: conflicting.sorted())
  }

  /// Makes the partners in the store those that the object goes back to when its edits are given up. Those that were read may
  /// belong to others by now.
  func adoptReferences(_ properties: Set<Int>, _ context: ManagedObjectContext) throws {
    let references = context.info(of: object).allRelationships.filter {
      $0.isColumn && properties.contains($0.property)
    }
    guard let committed = object.extras?.committed, !references.isEmpty else { return }
    for relationship in references {
      let key = theirs.row.value(relationship.property).key
      if key > 0 { try context.bringUpToDate([key], relationship) }
      // What an edit of the object itself took away is given back with it.
      if relationship.isOwnInverse, let partner = context.map[object._reference(relationship.property)],
        partner !== object, partner._key != key, partner.isAlive, partner.hasOwnReference(relationship)
      {
        try context.rollback(partner, [relationship.property])
      }
    }
    let edited = object._copyRow()
    object._restore(.all, from: committed)
    for relationship in references {
      object._setReference(relationship.property, theirs.row.value(relationship.property).key)
    }
    object.needExtras().keep(object._copyRow(), object.extras?.committedTransients)
    object._restore(.all, from: edited)
  }

  private func put(on context: ManagedObjectContext, keeping kept: [Int], asRead unsettled: [Int] = []) {
    let edited = object._copyRow()
    let committed = object.extras?.committed
    let places = object.placesOfReferences(context)
    let before = object.references(context)
    object.announceAll()
    object._restore(.all, from: theirs.row)
    object.state.endFault()
    for (property, place) in theirs.places { object._setPlace(property, place) }
    if let committed { for mask in ColumnMask.masks(of: unsettled) { object._restore(mask, from: committed) } }
    object.needExtras().keep(object._copyRow())
    for mask in ColumnMask.masks(of: kept) { object._restore(mask, from: edited) }
    for (property, place) in places where kept.contains(property) { object._setPlace(property, place) }
    object.state.replaceChanged(
      by: ColumnMask(numbers: kept).bits | object.changedBits & context.info(of: object).transients.bits)
    context.noteChanged(object)
    context.noteContestedHalves(of: object, before)
    context.forgetViews(of: object, before)
    for reference in object.references(context) where kept.contains(reference.relationship.property) {
      let stored = theirs.row.value(reference.relationship.property).key
      if stored != reference.key { context.showAtPartner(object, reference.relationship, insteadOf: stored) }
    }
  }
}

extension ColumnMask {
  init(numbers: some Sequence<Int>) { self.init(bits: numbers.reduce(0) { $0 | ColumnMask.bit(of: $1) }) }
}

extension ManagedObject {
  /// The partners that the object's own row refers to.
  final func references(_ context: ManagedObjectContext) -> [(relationship: RelationshipInfo, key: Int64)] {
    context.info(of: self).allRelationships.filter(\.isColumn).map { ($0, _reference($0.property)) }
  }
}
