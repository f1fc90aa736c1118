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
  /// - Parameter isWhole: whether every value of the object stays as it is here.
  func apply(_ context: ManagedObjectContext, keepingAll isWhole: Bool = false) {
    let edited = object._copyRow()
    let info = context.info(of: object)
    let kept = isWhole ? info.entity.storedProperties : object.changedNumbers
    let places = object.placesOfReferences(context)
    let before = object.references(context)
    object._restore(.all, from: theirs.row)
    object._attention.remove(.fault)
    for (property, place) in theirs.places { object._setPlace(property, place) }
    object.needExtras().keep(object._copyRow())
    object.version = theirs.version
    for mask in ColumnMask.masks(of: kept) { object._restore(mask, from: edited) }
    for (property, place) in places where kept.contains(property) { object._setPlace(property, place) }
    object._changed = ColumnMask(numbers: kept).bits | object._changed & info.transients.bits
    context.noteChanged(object)
    context.forgetViews(of: object, before)
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

extension ManagedObjectContext {
  /// Partners that an object had or has got by what others wrote see it no more as they did: they are asked anew, and keep
  /// who came and went here.
  func forgetViews(of object: ManagedObject, _ before: [(relationship: RelationshipInfo, key: Int64)]) {
    for (relationship, former) in before {
      let present = object._reference(relationship.property)
      guard former != present, let inverse = runtime.inverse(of: relationship) else { continue }
      for key in [former, present] where key > 0 {
        guard let partner = map[key], partner.phase == .persistent else { continue }
        if inverse.isToMany {
          unloadList(inverse, of: partner)
        } else if partner.extras?.partner(inverse.property) != nil {
          partner.extras?.setPartner(inverse.property, key == present ? object._key : 0)
        }
      }
    }
  }

  /// A list of what lies in other rows goes back to knowing only who came and went here.
  func unloadList(_ relationship: RelationshipInfo, of owner: ManagedObject) {
    guard let list = owner.extras?.list(relationship.property), relationship.home == .inverseColumn,
      let inverse = runtime.inverse(of: relationship)
    else { return }
    list.unload { key in
      guard let member = map[key] else { return false }
      return member.phase == .inserted || member.changedNumbers.contains(inverse.property)
    }
  }
}
