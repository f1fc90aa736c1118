package import TrellisModel
@_spi(Generated) package import TrellisStorage

/// A value that an attribute cannot hold.
package struct RefusedValue: Error, Hashable {
  /// The number of the property.
  package let property: Int
  /// The reason, as a clause.
  package let reason: String
}

/// Inserts objects and sets their attributes by property number, for code that has values in their stored form.
///
/// A generated class sets its properties only by typed code. It can be made from a row, though, so the values are shown
/// to it as one; they are checked and brought into their canonical form as values of a store are.
package final class ObjectWriter {
  private let graph: ObjectGraph
  private let reader = ValueReader()
  private let collector = ValueWriter()

  package init(_ context: ManagedObjectContext) { graph = context.graph }

  /// Inserts an object.
  ///
  /// - Parameters:
  ///   - entity: The number of an entity that is not abstract.
  ///   - values: The values of all attributes by property number; null for relationships, which are set afterwards.
  ///   - assigned: The attributes that were given. The others are known to have their initial values.
  /// - Throws: ``RefusedValue``; then nothing is inserted.
  package func insert(_ entity: Int, _ values: [StoredValue], assigned: ColumnMask) throws -> ManagedObject {
    try graph.throwPendingFailure()
    let info = graph.runtime.info(entity)
    let object = try object(info, graph.takeKey(), 0) { $0.isReference ? .null : values[$0.property] }
    object.state.becomeInserted(changed: info.entity.uniqueKeys.isEmpty ? 0 : assigned.bits)
    graph.registerInserted(object)
    object._finishInsert()
    try graph.throwPendingFailure()
    return object
  }

  /// The last version of a row that a save has deleted, as the history has it; 0 if it has none.
  ///
  /// - Throws: ``StoreError`` if the history cannot be read.
  package func lastVersion(of entity: Int, key: Int64) throws -> Int64 {
    try graph.core.withHistory { connection in
      var last: Int64 = 0
      try connection.versions(of: entity, key: key) { _, row in last = max(last, row.version) }
      return last
    }
  }

  /// Inserts an object that a former save has deleted, with the key that it had. No hook is called.
  ///
  /// - Parameters:
  ///   - entity: The number of an entity that is not abstract.
  ///   - key: A key that no object has, neither in the store nor in the context.
  ///   - values: The values of all attributes by property number; null for relationships, which are set afterwards.
  ///   - version: The last version of the deleted row; 0 if the store never had a row with the key.
  /// - Throws: ``RefusedValue``; then nothing is inserted. ``StoreError`` if the store fails.
  package func reinsert(
    _ entity: Int, key: Int64, _ values: [StoredValue], after version: Int64
  ) throws -> ManagedObject {
    try graph.throwPendingFailure()
    let info = graph.runtime.info(entity)
    let object = try object(info, key, 0) { $0.isReference ? .null : values[$0.property] }
    object.state.becomeInserted(changed: info.storedMask.bits)
    graph.noteFormerVersion(version, of: key)
    try graph.registerReturned(object)
    return object
  }

  /// Sets attributes to values that differ from those that the object has.
  ///
  /// - Parameter values: The numbers of stored attributes, and their values.
  /// - Returns: whether any of them differed.
  /// - Throws: ``RefusedValue``; ``ContextError`` if the object is deleted or cannot be loaded. Then nothing has changed.
  package func set(_ values: [(property: Int, value: StoredValue)], of object: ManagedObject) throws -> Bool {
    object._willRead(-1)
    try graph.throwPendingFailure()
    guard values.contains(where: { !object._value($0.property).isSame(as: $0.value) }) else { return false }
    try object.checkWritable()
    let info = graph.info(of: object)
    let present = collector.collect(info.entity.columns.count, object.writeRow) ?? []
    var number = -1
    let twin = try self.object(info, object._key, object.version) { column in
      number += 1
      let isGiven = !column.isReference
      return isGiven ? values.last { $0.property == column.property }?.value ?? present[number] : present[number]
    }
    let changed = Set(values.map(\.property)).filter { !object._value($0).isSame(as: twin._value($0)) }
    guard !changed.isEmpty else { return false }
    for property in changed.sorted() where !object._willWrite(property) { return false }
    let row = twin._copyRow()
    for mask in ColumnMask.masks(of: changed.sorted()) { object._restore(mask, from: row) }
    try graph.throwPendingFailure()
    return true
  }

  /// Loads the partners in a relationship for many objects at once. Objects that are new are passed over, and one may be
  /// there several times.
  ///
  /// - Throws: the same errors as ``ManagedObjectContext/fetch(_:)``.
  package func load(_ relationship: Relationship, of owners: [ManagedObject]) throws {
    let path = PropertyPath(variable: 0).appending(relationship.index)
    var seen: Set<Int64> = []
    let stored = owners.filter { $0.phase == .persistent && seen.insert($0._key).inserted }
    if !stored.isEmpty { try graph.prefetch([path], for: stored) }
  }

  /// An object that belongs to nothing yet, with the values of a row.
  private func object(
    _ info: EntityInfo, _ key: Int64, _ version: Int64, _ value: (Column) -> StoredValue
  ) throws -> ManagedObject {
    reader.show(key: key, version: version, entity: info.number, values: info.entity.columns.map(value))
    let object = info.type.init(reader, in: graph.link)
    if let problem = reader.problem {
      let column = info.entity.columns.indices.contains(problem.column) ? info.entity.columns[problem.column] : nil
      reader.problem = nil
      throw RefusedValue(property: column?.property ?? -1, reason: problem.what)
    }
    return object
  }
}

extension Column {
  /// Whether the column has a key or a position, and no value of an attribute.
  fileprivate var isReference: Bool {
    if case .attribute = content { false } else { true }
  }
}

extension ManagedObjectContext {
  /// Makes the changes of a closure, or none of them if it throws. They belong to the current undo step.
  ///
  /// - Throws: what the closure throws.
  package func allOrNothing<Result>(_ body: () throws -> Result) throws -> Result {
    try graph.allOrNothing(body)
  }

  /// Saves, and unites new objects with others by some unique keys only. The values of other keys are taken, under every
  /// policy.
  ///
  /// - Throws: the same errors as ``save(mergePolicy:)``.
  package func save(mergePolicy: MergePolicy, unites: @escaping UnitingKeys) throws {
    try graph.save(mergePolicy: mergePolicy, unites: unites)
  }

  /// Saves the changes that are valid, and unites new objects with others by some unique keys only.
  ///
  /// - Parameter willTry: Called before each attempt.
  /// - Throws: the same errors as ``saveValidChanges(mergePolicy:)``.
  package func saveValidChanges(
    mergePolicy: MergePolicy, unites: @escaping UnitingKeys, willTry: () throws -> Void
  ) throws -> [DiscardedChange] {
    try graph.saveValidChanges(mergePolicy: mergePolicy, unites: unites, willTry: willTry)
  }
}

extension ManagedObject {
  /// The object that a save has united this one with; nil if there is none.
  package final var survivor: ManagedObject? { replacement == 0 ? nil : link.graph?.map[replacement] }
}

extension AnyObjectID {
  /// The identifier of an object of an entity of a context.
  package init(_ key: Int64, entity: Int, in context: ManagedObjectContext) {
    self.init(key, context.graph.runtime.info(entity))
  }
}

extension ObjectGraph {
  fileprivate func allOrNothing<Result>(_ body: () throws -> Result) throws -> Result {
    undo.collectUntilNow()
    let (recorder, endRecording) = beginRecording()
    defer { endRecording() }
    do {
      return try body()
    } catch {
      // What this needs was in memory a moment ago. After a failure it is loaded again.
      try? revert(recorder.take(self), isExact: true)
      _ = recorder.take(self)
      throw error
    }
  }
}
