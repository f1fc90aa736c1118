import TrellisModel
import TrellisStorage

extension ObjectGraph {
  /// The object with a key, from memory or from the store.
  func object(_ key: Int64, entity: Int) throws -> ManagedObject? {
    try map[key] ?? loadObjects([key], entity: entity).first
  }

  /// Loads the row of a fault, together with those of its siblings. If the row no longer exists, the object becomes
  /// deleted; if the store fails, it stays a fault.
  ///
  /// - Throws: ``ContextError`` with the code `load-failed`.
  func fulfilFault(of object: ManagedObject) throws {
    guard object.phase == .persistent else {
      object.state.endFault()
      return
    }
    try loading("An object of \(info(of: object).name)") { try refreshRows(faults(beside: object)) }
  }

  /// Runs a load that the use of an object needs, and says in its error what could not be loaded.
  ///
  /// - Throws: ``ContextError`` with the code `load-failed`.
  func loading<Result>(_ what: @autoclosure () -> String, _ load: () throws -> Result) throws -> Result {
    do {
      return try load()
    } catch {
      throw ContextError(.loadFailed, "\(what()) could not be loaded.", cause: error)
    }
  }

  func loading<Result>(_ relationship: Relationship, _ load: () throws -> Result) throws -> Result {
    try loading("\(relationship.entityName).\(relationship.name)", load)
  }

  func fulfilIfFault(_ object: ManagedObject) throws {
    if object.accessFlags.contains(.fault) { try fulfilFault(of: object) }
  }

  private func faults(beside object: ManagedObject) -> [ManagedObject] {
    guard let batch = batches[object.state.batch] else { return [object] }
    let entity = type(of: object)._entity
    var found = [object]
    for key in batch.siblings(from: object._key, of: -1, loading: .faults) where key != object._key {
      guard let sibling = map[key], sibling.accessFlags.contains(.fault), type(of: sibling)._entity == entity else {
        continue
      }
      found.append(sibling)
    }
    return found
  }

  /// Reads the rows of objects of one entity again. Edits are reapplied to the new row.
  func refreshRows(_ objects: [ManagedObject]) throws {
    guard let first = objects.first else { return }
    var missing = Set(objects.map(\._key))
    try connection(reading: info(of: first).root).rows(of: info(of: first).root, keys: objects.map(\._key)) { row in
      missing.remove(row.key)
      guard let object = map[row.key], type(of: object)._entity == row.entity else { return }
      try refreshRow(of: object, with: row)
    }
    var (gone, entities): (Set<Int64>, Set<Int>) = ([], [])
    for key in missing {
      guard let object = map[key] else { continue }
      gone.insert(key)
      entities.insert(type(of: object)._entity)
      let partners = partnersInRow(of: object)
      markDeletedInStore(object)
      forgetViews(of: partners)
    }
    if !gone.isEmpty { forgetStoredMembers(gone, of: entities) }
    if runtime.hasCouples, objects.contains(where: { !info(of: $0).couples.isEmpty }) { settleCouples(around: objects) }
  }

  private func refreshRow(of object: ManagedObject, with row: RowReader) throws {
    guard object.changedBits != 0, object.hasCommittedRow else {
      // The lists and partners of a fault were loaded since it became one, so they are kept.
      if !object.isInChangedList && !object.accessFlags.contains(.fault) { object.forgetLinks() }
      return try replaceRow(of: object, with: row)
    }
    // The new row becomes the committed one; edits are reapplied to it.
    let edited = object._copyRow()
    var edits = (0..<63).filter { object.changedBits & ColumnMask.bit(of: $0) != 0 }
    if object.changedBits & ColumnMask.bit(of: 63) != 0 {
      edits += object.changedNumbers.filter { $0 >= 63 }
    }
    try replaceRow(of: object, with: row)
    object.commitRow()
    for mask in ColumnMask.masks(of: edits) { object._restore(mask, from: edited) }
  }

  /// Marks an object as deleted because its row is gone. Its loaded values stay readable.
  func markDeletedInStore(_ object: ManagedObject) {
    object.state.endFault()
    if object.hasLinkNotes || object.hasCommittedRow { backlog.returning.insert(object._key) }
    forgetPairs(of: object)
    detach(object)
  }

  /// The object of the row with a key; nil if there is no such row.
  func storedObject(_ key: Int64, entity: Int) throws -> ManagedObject? {
    var found: ManagedObject?
    try connection(reading: entity).rows(of: entity, keys: [key]) { found = try object(of: $0, batch: 0) }
    return found
  }

  /// Applies the lazy loading rule of an object to the batch that was loaded through its relationship.
  func inherit(_ batch: FetchBatch, from object: ManagedObject?, _ relationship: Relationship) {
    guard let object else { return }
    let origin = batches[object.state.batch]
    batch.cameBy = (object.state.batch, relationship)
    batch.steps = origin?.cameBy?.relationship === relationship ? (origin?.steps ?? 0) + 1 : 1
    batch.lazyLoading = origin?.lazyLoading ?? .allowed
  }

  /// Loads objects of an entity and its subentities by key.
  ///
  /// - Parameter cameBy: One of the objects that refer to them, and its relationship to them.
  @discardableResult func loadObjects(
    _ keys: [Int64], entity: Int, cameBy: (object: ManagedObject, relationship: Relationship)? = nil,
    rule: LazyLoading = .allowed
  ) throws -> [ManagedObject] {
    let batch = FetchBatch()
    batch.lazyLoading = rule
    if let cameBy { inherit(batch, from: cameBy.object, cameBy.relationship) }
    let isChain = cameBy.map { runtime.isChain($0.relationship) } ?? false
    let isKept = keys.count > 1 || batch.lazyLoading != .allowed || isChain
    let number = isKept ? batches.add(batch, keeping: map) : 0
    var objects: [ManagedObject] = []
    try connection(reading: entity).rows(of: entity, keys: keys) { row in
      objects.append(try object(of: row, batch: number))
      batch.append(row.key)
    }
    if isChain, let relationship = cameBy?.relationship, !relationship.isToMany {
      try loadLevels(above: objects, relationship, batch, number)
    }
    return objects
  }
}

// MARK: - Fetch batch

/// The objects of one fetch. A lazy load for one of them is made for its siblings, too.
final class FetchBatch {
  // Only the methods below access the fields, and none calls other code while it does: accesses cannot overlap, so they
  // are not checked.

  /// The number of the batch in its context; 0 until it is added to ``FetchBatches``.
  @exclusivity(unchecked) fileprivate(set) var number: UInt32 = 0
  /// Whether any object in memory has the number, while this is being determined.
  @exclusivity(unchecked) fileprivate var isUsed = false
  @exclusivity(unchecked) private(set) var keys: ContiguousArray<Int64> = []
  /// The rule for lazy loads of the relationships of its objects.
  var lazyLoading = LazyLoading.allowed
  /// The relationship through which its objects were loaded, and the batch of its owners; nil for the results of a
  /// request.
  var cameBy: (batch: UInt32, relationship: Relationship)?
  /// The number of loads along the same relationship, one after the other, up to this one.
  var steps = 0
  /// The position where the last search ended: accesses mostly go through a batch from front to end.
  private var cursor = 0
  /// The number of siblings that the next load of each relationship includes.
  private var windows: [(property: Int, load: SiblingLoad, size: Int)] = []

  func append(_ key: Int64) { keys.append(key) }

  /// The keys, from an object's position on, for which its relationship is loaded.
  func siblings(from key: Int64, of property: Int, loading load: SiblingLoad) -> ArraySlice<Int64> {
    guard let start = position(of: key) else { return [key] }
    return ArraySlice(keys[start..<min(keys.count, start + nextWindow(property, load))])
  }

  private func nextWindow(_ property: Int, _ load: SiblingLoad) -> Int {
    for index in windows.indices where windows[index].property == property && windows[index].load == load {
      windows[index].size = min(windows[index].size * load.growth, load.largestWindow)
      return max(1, windows[index].size)
    }
    windows.append((property, load, load.firstWindow))
    return load.firstWindow
  }

  /// No further load of a relationship includes siblings.
  func endWindow(of property: Int, loading load: SiblingLoad) {
    for index in windows.indices where windows[index].property == property && windows[index].load == load {
      windows[index].size = 0
    }
  }

  private func position(of key: Int64) -> Int? {
    for (range) in [cursor..<keys.count, 0..<min(cursor, keys.count)] {
      if let found = keys[range].firstIndex(of: key) {
        cursor = found
        return found
      }
    }
    return nil
  }
}

// MARK: - Fetch batches

/// The batches of a context by number.
///
/// They are in the order of their numbers. A new number is greater than all others until the numbers begin anew, so a
/// dictionary, which would have to be hashed and grown, has no advantage.
struct FetchBatches {
  private var ordered: ContiguousArray<FetchBatch> = []
  private var lastNumber: UInt32 = 0
  /// The number of keys in all batches, plus a constant for each batch.
  private var weight = 0
  /// The weight above which unused batches are removed.
  private var threshold = FetchBatches.leastThreshold

  private static let leastThreshold = 8_192
  private static let batchWeight = 16

  subscript(number: UInt32) -> FetchBatch? {
    if number == 0 { return nil }
    let place = place(of: number)
    return place < ordered.count && ordered[place].number == number ? ordered[place] : nil
  }

  /// The position of a number, or the position to insert it at.
  private func place(of number: UInt32) -> Int { ordered.endOfPrefix { $0.number < number } }

  /// Adds a batch that is about to be filled, and returns its number.
  ///
  /// A context that fetches the same few objects repeatedly has no reason to sweep, yet each fetch leaves a batch.
  /// Unused batches are therefore removed when there are twice as many as were in use before.
  mutating func add(_ batch: FetchBatch, keeping map: borrowing IdentityMap) -> UInt32 {
    weight += Self.batchWeight + (self[lastNumber]?.keys.count ?? 0)
    if weight > threshold {
      removeUnused(in: map)
      threshold = max(Self.leastThreshold, 2 * weight, weight + map.count)
    }
    repeat { lastNumber &+= 1 } while lastNumber == 0 || self[lastNumber] != nil
    batch.number = lastNumber
    ordered.insert(batch, at: place(of: lastNumber))
    return lastNumber
  }

  var count: Int { ordered.count }

  mutating func remove(_ number: UInt32) {
    if self[number] != nil { ordered.remove(at: place(of: number)) }
  }

  /// Removes the batches without any object in memory.
  mutating func removeUnused(in map: borrowing IdentityMap) {
    if ordered.isEmpty { return }
    for batch in ordered { batch.isUsed = false }
    var last: UInt32 = 0
    // Objects with neighbouring keys mostly came in one batch.
    map.forEach { object in
      if object.state.batch != last { self[object.state.batch]?.isUsed = true }
      last = object.state.batch
    }
    ordered.removeAll { !$0.isUsed }
    weight = ordered.reduce(0) { $0 + Self.batchWeight + $1.keys.count }
  }
}

// MARK: - Materializing

extension ObjectGraph {
  /// The object of a row: the one in memory, updated if necessary, or a new one.
  ///
  /// - Parameter batch: The number of the batch of the fetch that reads the row.
  /// - Throws: ``StoreError`` if the row does not fit the model.
  func object(of row: RowReader, batch: UInt32) throws -> ManagedObject {
    if let object = map[row.key] {
      try bringUpToDate(object, with: row, batch: batch)
      if runtime.hasCouples { releaseHalves(of: object) }
      return object
    }
    guard row.entity >= 0 && row.entity < runtime.types.count else { throw unreadable(row) }
    row.problem = nil
    let object = runtime.types[row.entity].init(row, in: link)
    if row.problem != nil { throw unreadable(row) }
    object.state.batch = batch
    object.state.generation = sweeper.generation
    if observation != nil { object.state.setObserved(true) }
    map.insert(object, for: row.key)
    if runtime.hasCouples { releaseHalves(of: object) }
    return object
  }

  /// Replaces the values of an unchanged object with a newer row. An edited object keeps its edits and its committed
  /// row. An object in the backlog is left to the merge, which invalidates its partners' lists.
  private func bringUpToDate(_ object: ManagedObject, with row: RowReader, batch: UInt32) throws {
    guard type(of: object)._entity == row.entity else { throw unreadable(row) }
    object.state.generation = sweeper.generation
    if batch != 0 { object.state.batch = batch }
    let isFault = object.accessFlags.contains(.fault)
    guard object.phase == .persistent,
      isFault || (row.version != object.version && !object.isEdited && !backlog.contains(row.key))
    else { return }
    try replaceRow(of: object, with: row)
    if object.hasCommittedRow { object.commitRow() }
  }

  func replaceRow(of object: ManagedObject, with row: RowReader) throws {
    row.problem = nil
    // Observers were notified when the object became a fault.
    if !object.accessFlags.contains(.fault) { object.announceAll() }
    object._read(row)
    if row.problem != nil { throw unreadable(row) }
    object.state.takeVersion(row.version)
    object.state.endFault()
    if info(of: object).hooks.contains(.didFetch) { object._noteFetch() }
  }

  func unreadable(_ row: RowReader) -> StoreError { runtime.unreadable(row) }
}

extension RuntimeModel {
  /// The error for a row with an invalid value.
  func unreadable(_ row: RowReader) -> StoreError {
    let entity = entities.indices.contains(row.entity) ? entities[row.entity].entity : nil
    let columns = entity?.columns ?? []
    let column = row.problem.map(\.column).flatMap { columns.indices.contains($0) ? columns[$0].name : nil }
    let place = [entity?.name, column].compactMap(\.self).joined(separator: ".")
    return StoreError(
      .unreadableValue,
      "The row \(row.key) of \(place.isEmpty ? "the store" : place) cannot be read: \(row.problem?.what ?? "another entity has its key").",
      remedy: row.problem?.remedy ?? "Restore the store from a backup, or repair the row with another tool.",
      entity: entity?.name, properties: column.map { [$0] } ?? [])
  }
}

// MARK: - Placeholder row

/// The row of an object that cannot be loaded: every attribute reads as its placeholder.
final class PlaceholderRow: RowReader {
  init(key: Int64, entity: Int = 0) {
    super.init()
    self.key = key
    self.entity = entity
  }
}

extension IdentifiedObject {
  /// Creates a detached object with placeholder values, for a row that cannot be loaded.
  ///
  /// - Parameter isDeleted: Whether the reason is that the row no longer exists.
  static func standIn(for key: Int64, isDeleted: Bool, in link: ContextLink) -> Self {
    let object = Self(PlaceholderRow(key: key), in: link)
    object.state.detach(isDeleted: isDeleted)
    return object
  }
}
