import TrellisStorage

/// The merge of one object that was changed here and in the store, property by property.
struct RowMerge {
  let object: ManagedObject
  let theirs: StoredVersion
  /// The properties that differ from the values that were read: in this context, and in the store.
  private(set) var mine: Set<Int> = []
  private(set) var others: Set<Int> = []
  /// The properties that both sides have set. Equal values conflict as well, because two writers that increment a
  /// counter read the same number and write the same number.
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

  /// Makes the stored row the committed one and reapplies the changes of this context.
  ///
  /// - Parameters:
  ///   - isWhole: Whether all values of the object stay as they are here.
  ///   - given: The properties that take the stored values even if they were set here.
  func apply(_ context: ManagedObjectContext, keepingAll isWhole: Bool = false, yielding given: Set<Int> = []) {
    let kept = isWhole ? context.info(of: object).entity.storedProperties : object.changedNumbers
    put(on: context, keeping: kept.filter { !given.contains($0) })
    object.state.takeVersion(theirs.version)
  }

  /// Takes over the properties that were not changed here. The committed values of conflicting properties and the row
  /// version stay unchanged, so that a save detects the conflict.
  func applyBesideConflicts(_ context: ManagedObjectContext) {
    put(on: context, keeping: object.changedNumbers, asRead: conflicting.sorted())
  }

  /// Replaces committed references by those in the store, because the object returns to them when its edits are
  /// discarded. The partners that were read may belong to other objects by now.
  func adoptReferences(_ properties: Set<Int>, _ context: ManagedObjectContext) throws {
    let references = context.info(of: object).allRelationships.filter {
      $0.isColumn && properties.contains($0.property)
    }
    guard let committed = object.extras?.committed, !references.isEmpty else { return }
    for relationship in references {
      let key = theirs.row.value(relationship.property).key
      if key > 0 { try context.bringUpToDate([key], relationship) }
      // The edit of the object has changed the partner's half as well, so that half is rolled back too.
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
    // A half that equals the stored one is no edit of the partner either.
    for relationship in references where relationship.isOwnInverse && !object.hasOwnReference(relationship) {
      guard let partner = context.map[object._reference(relationship.property)], partner !== object, partner.isAlive,
        partner._reference(relationship.property) == object._key, partner.hasOwnReference(relationship)
      else { continue }
      try context.adoptStoredReferences(of: partner, [relationship.property])
    }
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
  /// The references in the object's own row.
  final func references(_ context: ManagedObjectContext) -> [(relationship: RelationshipInfo, key: Int64)] {
    context.info(of: self).allRelationships.filter(\.isColumn).map { ($0, _reference($0.property)) }
  }
}
