import TrellisStorage

/// What one save changed, for everybody but the context that saved.
struct SaveNotice: Sendable {
  struct Row: Sendable {
    let key: Int64
    let entity: Int
    /// What changed of it, to-manys included.
    var properties = ColumnMask(bits: 0)
  }

  var author: String?
  /// Whether somebody outside the container wrote: then nobody knows what.
  var isUnknown = false
  var inserted: [Row] = []
  /// Rows with other values, and objects of which only to-manys changed.
  var updated: [Row] = []
  var relinked: [Row] = []
  var deleted: [Row] = []
  /// What the store deleted by itself.
  var cascaded: [Int64] = []
  /// Objects that changed ones refer to, or referred to, have other members now.
  var referred: [Int64] = []
  /// Whether objects have other members now that nobody names.
  var movesMembers = false
  /// One-way references that the store may have cleared, in whatever rows.
  var cleared: [RelationshipNumber] = []

  static let ofStrangers = {
    var notice = SaveNotice()
    notice.isUnknown = true
    return notice
  }()

  /// How many objects it names.
  var count: Int { inserted.count + updated.count + relinked.count + deleted.count + cascaded.count }
}

extension SaveNotice {
  /// What a plan is about to change. Lists forget what came and went as soon as it is saved, so this comes before.
  init(_ plan: SavePlan, _ context: ManagedObjectContext) {
    author = context.author
    inserted = plan.inserted.map { Row($0) }
    updated = plan.updated.map { Row($0.object, $0.mask) }
    relinked = plan.relinked.map { Row($0) }
    deleted = plan.deleted.map { Row($0) }
    cascaded = plan.outcome.cascaded
    for object in plan.inserted + plan.updated.map(\.object) + plan.deleted { addPartners(of: object, context) }
    // A pair may be noted at one end only.
    for table in plan.request.pairs where table.added.count + table.removed.count > 0 {
      for pair in table.added + table.removed { referred += [pair.first, pair.partner] }
    }
    // What was noted of objects that are not in memory.
    referred += context.pending.waiting.lists.filter { $0.value.hasChanges }.map(\.key.owner)
    cleared = plan.request.clearedReferences.map(\.relationship)
  }

  /// Whom an object refers to, and whom it referred to before: they have other members now, even if others do not know the
  /// object itself.
  private mutating func addPartners(of object: ManagedObject, _ context: ManagedObjectContext) {
    let isNew = object.phase == .inserted
    let committed = object.extras?.committed
    for relationship in context.info(of: object).allRelationships
    where relationship.isColumn && relationship.inverse != nil {
      let key = object._reference(relationship.property)
      guard case .integer(let former) = committed?.value(relationship.property) ?? .integer(key) else {
        if key > 0 { referred.append(key) }
        continue
      }
      if key == former && object.phase == .persistent { continue }
      if key > 0 { referred.append(key) }
      if former > 0 && former != key && !isNew { referred.append(former) }
    }
  }
}

extension SaveNotice.Row {
  fileprivate init(_ object: ManagedObject, _ mask: ColumnMask = ColumnMask(bits: 0)) {
    key = object._key
    entity = type(of: object)._entity
    properties = mask
    for entry in object.extras?.lists ?? [] where entry.list.hasChanges {
      properties.bits |= ColumnMask.bit(of: entry.property)
    }
  }
}
