import TrellisStorage

/// The work of a ``MigrationStep``: the rows of a former version, and a context with the objects of the current model.
///
/// It is valid only inside the step.
public final class DataMigration<Version: FormerVersion> {
  /// The context of the current model. It is saved when the step ends, and after each batch of ``forEach(_:_:)``. A save
  /// lasts only if the whole migration succeeds. Rules are checked as by every save, except that unique values are
  /// checked at the end of the last step.
  public let context: ManagedObjectContext
  private let former: FormerRows
  private let check: () throws -> Void

  init(_ context: ManagedObjectContext, _ former: FormerRows, _ check: @escaping () throws -> Void) {
    self.context = context
    self.former = former
    self.check = check
  }

  // MARK: Former rows

  /// Calls a closure for each row of a former entity and of its descendants, in the order of their keys.
  ///
  /// Rows are read in batches. After each batch the context is saved, and objects without changes that are not
  /// referenced are removed from memory, so that there may be millions of rows.
  ///
  /// - Parameters:
  ///   - type: The entity, such as `DiaryHistory.V3.Entry.self`.
  ///   - body: Receives each row. It may use the context.
  /// - Throws: ``StoreError``; ``ContextError``; ``ValidationError`` of a save; errors of `body`.
  public func forEach<Row: FormerRow>(
    _ type: Row.Type, _ body: (Row) throws -> Void
  ) throws where Row.Version == Version {
    try former.forEachBatch(type) { rows in
      for row in rows { try body(row) }
      try endBatch()
    }
  }

  /// The rows of a former entity and of its descendants, in the order of their keys. For large tables use
  /// ``forEach(_:_:)``.
  ///
  /// - Parameter type: The entity, such as `DiaryHistory.V3.Entry.self`.
  /// - Throws: ``StoreError``.
  public func rows<Row: FormerRow>(_ type: Row.Type) throws -> [Row] where Row.Version == Version {
    var all: [Row] = []
    try former.forEachBatch(type) { all += $0 }
    return all
  }

  /// The number of rows of a former entity and of its descendants.
  ///
  /// - Parameter type: The entity, such as `DiaryHistory.V3.Entry.self`.
  /// - Throws: ``StoreError``.
  public func count<Row: FormerRow>(_ type: Row.Type) throws -> Int where Row.Version == Version {
    try former.count(type._entity)
  }

  // MARK: Current objects

  /// Today's object of a former row: it has the same key.
  ///
  /// - Parameters:
  ///   - type: The class of the object.
  ///   - row: The former row.
  /// - Throws: ``StoreError`` with the code `missingObject` if there is no such object, because the migration or a step
  ///   has deleted it, or because it is of another class.
  public func object<Object: ManagedObject, Row: FormerRow>(
    _ type: Object.Type, for row: Row
  ) throws -> Object where Row.Version == Version {
    if let object = try existingObject(type, for: row) { return object }
    throw StoreError(
      .missingObject, "The row \(row.entityName)/\(row.key) has become no object of \(type).",
      remedy: "Ask for existingObject(_:for:) if this may be.")
  }

  /// Today's object of a former row; nil if there is none.
  ///
  /// - Parameters:
  ///   - type: The class of the object.
  ///   - row: The former row.
  /// - Throws: ``StoreError``.
  public func existingObject<Object: ManagedObject, Row: FormerRow>(
    _ type: Object.Type, for row: Row
  ) throws -> Object? where Row.Version == Version {
    try context.object(with: ObjectID<Object>(row.key))
  }

  /// Unites the objects that have the same value: one of them is kept, gets the relationships of the others, and these
  /// are deleted. No delete rule is applied to what the others were linked to.
  ///
  /// ```swift
  /// try migration.unite(Tag.self, by: { $0.name.lowercased() }) { kept, other in
  ///   kept.uses += other.uses
  /// }
  /// ```
  /// A to-many relationship gets the members of all of them. A to-one relationship keeps its partner, and takes the one
  /// of another object only if it has none. Relationships between the united objects go. Objects of different entities
  /// are not united.
  ///
  /// - Parameters:
  ///   - type: The class of the objects.
  ///   - value: The value. Objects for which it is nil are left as they are.
  ///   - keeping: Which object is kept.
  ///   - merge: Called before the relationships of an object move, for what becomes of its attributes.
  /// - Returns: the number of deleted objects.
  /// - Throws: ``StoreError``; ``ContextError``; ``ValidationError`` of a save; errors of the closures.
  /// - Complexity: reads every object once; holds a value for each object.
  @discardableResult public func unite<Object: ManagedObject & FetchableObject, Value: Hashable>(
    _ type: Object.Type, by value: (Object) throws -> Value?, keeping: UnionSurvivor = .oldest,
    merge: (_ kept: Object, _ other: Object) throws -> Void = { _, _ in }
  ) throws -> Int where Object.Columns.Object == Object {
    try save()
    var groups: [UnitedValue<Value>: [Int64]] = [:]
    try context.stream(Object.all) { object in
      guard let value = try value(object) else { return }
      groups[UnitedValue(entity: Swift.type(of: object)._entity, value: value), default: []].append(object._key)
    }
    var count = 0
    for keys in groups.values.filter({ $0.count > 1 }).map({ $0.sorted() }).sorted(by: { $0[0] < $1[0] }) {
      let kept = keeping == .oldest ? keys.first : keys.last
      guard let kept, let survivor = try context.object(with: ObjectID<Object>(kept)) else { continue }
      for key in keys where key != kept {
        guard let other = try context.object(with: ObjectID<Object>(key)) else { continue }
        try merge(survivor, other)
        try context.graph.unite(other, with: survivor)
        count += 1
        if count.isMultiple(of: FormerRows.batchSize) { try endBatch() }
      }
    }
    try endBatch()
    return count
  }

  // MARK: Saving

  func save() throws {
    try check()
    try context.save()
  }

  private func endBatch() throws {
    try save()
    context.dropUnusedObjects()
  }
}

/// Which of several objects is kept when they are united.
public enum UnionSurvivor: Hashable, Sendable {
  /// The object that was created first.
  case oldest
  /// The object that was created last.
  case newest
}

/// A value of the objects of one entity.
private struct UnitedValue<Value: Hashable>: Hashable {
  let entity: Int
  let value: Value
}
