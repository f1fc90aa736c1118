import TrellisSchema
public import TrellisStorage

/// Describes a row whose conflict the merge policy does not settle: as it was read, as it is in this context, and as it
/// is in the store.
struct ConflictedRow {
  private let object: ManagedObject
  private let info: EntityInfo
  private var row: SaveConflict.Row

  init(_ object: ManagedObject, _ context: ManagedObjectContext) {
    self.object = object
    info = context.info(of: object)
    row = SaveConflict.Row(entity: info.number, key: object._key, entityName: info.name)
    var line = [info.number]
    while let parent = context.runtime.entities[line[line.count - 1]].entity.parent { line.append(parent) }
    row.lineage = line.map { ObjectIdentifier(context.runtime.types[$0]) }
    if !object.accessFlags.contains(.fault) { row.original = values(of: object.extras?.committed ?? object._copyRow()) }
  }

  func changedByBoth(_ merge: RowMerge) -> SaveConflict.Row {
    var row = row
    row.kind = .changedByBoth
    row.properties = merge.conflicting.sorted().map { info.entity.properties[$0].name }
    row.mine = values(of: object._copyRow())
    row.theirs = values(of: merge.theirs.row)
    return row
  }

  /// The object's row is the same here and in the store, but a different object refers to it here than in the store.
  func partnerTakenByBoth(_ relationship: RelationshipInfo) -> SaveConflict.Row {
    var row = row
    row.kind = .changedByBoth
    row.properties = [relationship.name]
    row.mine = values(of: object._copyRow())
    row.theirs = row.original
    return row
  }

  func deletedHere(_ theirs: StoredVersion) -> SaveConflict.Row {
    var row = row
    row.kind = .deletedHere
    row.theirs = values(of: theirs.row)
    return row
  }

  func deletedByOthers() -> SaveConflict.Row {
    var row = row
    row.kind = .deletedByOthers
    row.mine = values(of: object._copyRow())
    return row
  }

  private func values(of copy: RowCopyBase) -> [StoredValue] {
    info.entity.columns.map { column in
      switch column.content {
      case .attribute(let property), .reference(let property, _): copy.value(property)
      case .order: .null
      }
    }
  }
}

extension SaveConflict.Row {
  /// The object as this context read it. Nil if the row is not of this entity.
  ///
  /// ```swift
  /// for row in conflict.rows {
  ///   guard let mine = row.mine(EmotionDiary.Snapshot.self), let theirs = row.theirs(EmotionDiary.Snapshot.self)
  ///   else { continue }
  ///   show(mine.content, beside: theirs.content)
  /// }
  /// ```
  /// - Parameter type: The snapshot of the row's entity or of one of its ancestors.
  public func original<Snapshot: EntitySnapshot>(_ type: Snapshot.Type) -> Snapshot? { snapshot(original) }

  /// The object as it is in this context. Nil if it is deleted here, or if the row is not of this entity.
  ///
  /// - Parameter type: The snapshot of the row's entity or of one of its ancestors.
  public func mine<Snapshot: EntitySnapshot>(_ type: Snapshot.Type) -> Snapshot? { snapshot(mine) }

  /// The object as another context has saved it. Nil if it is deleted there, or if the row is not of this entity.
  ///
  /// - Parameter type: The snapshot of the row's entity or of one of its ancestors.
  public func theirs<Snapshot: EntitySnapshot>(_ type: Snapshot.Type) -> Snapshot? { snapshot(theirs) }

  private func snapshot<Snapshot: EntitySnapshot>(_ values: [StoredValue]?) -> Snapshot? {
    guard let values, lineage.contains(ObjectIdentifier(Snapshot.Object.self)) else { return nil }
    let row = ProjectedRow()
    row.key = key
    row.entity = entity
    row.values = values
    let snapshot = Snapshot(row)
    return row.problem == nil ? snapshot : nil
  }
}
