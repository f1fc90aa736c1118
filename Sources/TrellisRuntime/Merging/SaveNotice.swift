import TrellisStorage

/// The changes of one save, as delivered to all other contexts.
struct SaveNotice: Sendable {
  struct Row: Sendable {
    let key: Int64
    let entity: Int
    /// The changed properties, including to-many relationships.
    var properties = ColumnMask(bits: 0)
  }

  var author: String?
  /// Whether the store was written from outside the container, so that the changes are unknown.
  var isUnknown = false
  var inserted: [Row] = []
  /// Rows with changed values, and objects of which only to-many relationships changed.
  var updated: [Row] = []
  var relinked: [Row] = []
  var deleted: [Row] = []
  /// Rows that the store deleted in cascades.
  var cascaded: [Int64] = []
  /// Objects that are or were the partners of changed objects, so that their members may have changed.
  var referred: [Int64] = []
  /// Whether members of objects changed that are not listed here.
  var movesMembers = false
  /// One-way references that the store may have cleared, in any row.
  var cleared: [RelationshipNumber] = []

  static let ofExternalChanges = {
    var notice = SaveNotice()
    notice.isUnknown = true
    return notice
  }()

  /// The number of changed objects.
  var count: Int { inserted.count + updated.count + relinked.count + deleted.count + cascaded.count }
}

extension SaveNotice {
  /// Collects the changes of a save plan. This runs before the save, because lists forget their changes when they are
  /// saved.
  init(_ plan: SavePlan, _ context: ManagedObjectContext) {
    author = context.author
    inserted = plan.inserted.map { Row($0) }
    updated = plan.updated.map { Row($0.object, $0.mask) }
    relinked = plan.relinked.map { Row($0) }
    deleted = plan.deleted.map { Row($0) }
    cascaded = plan.outcome.cascaded
    for object in plan.inserted + plan.updated.map(\.object) + plan.deleted { addPartners(of: object, context) }
    // A pair may be noted at one end only.
    for table in plan.request.pairs {
      for pair in table.added + table.removed { referred += [pair.first, pair.partner] }
    }
    // Changes of lists whose owners are not in memory.
    referred += context.pending.deferredLists.lists.filter { $0.value.hasChanges }.map(\.key.owner)
    cleared = plan.request.clearedReferences.map(\.relationship)
  }

  /// Adds the present and former partners of an object: their members change, even in contexts that do not have the
  /// object itself in memory.
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
