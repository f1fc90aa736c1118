public import TrellisModel

// MARK: - Batch operations

extension StoreConnection {
  public func updateAll(_ update: BatchUpdate, in model: Model) throws -> BatchOutcome {
    try updateAllByRows(update, in: model)
  }

  /// Reads the rows to change, and saves them.
  package func updateAllByRows(_ update: BatchUpdate, in model: Model) throws -> BatchOutcome {
    try untilNobodyInterferes { try RowsToUpdate(update, model, self).write(self) }
  }

  public func deleteAll(_ delete: BatchDelete, in model: Model) throws -> BatchOutcome {
    try deleteAllByRows(delete, in: model)
  }

  /// Reads the rows to delete or change, and saves them.
  package func deleteAllByRows(_ delete: BatchDelete, in model: Model) throws -> BatchOutcome {
    try untilNobodyInterferes { try RowsToDelete(delete, model, self).write(self) }
  }

  /// Retries `body`, which first reads rows and then writes them by a save. The save fails if another writer changed
  /// the rows in between.
  private func untilNobodyInterferes<Result>(_ body: () throws -> Result) throws -> Result {
    for _ in 0..<64 {
      do { return try body() } catch is SaveConflict {} catch is NewPartners {}
    }
    throw StoreError(
      .busy, "Others kept writing the rows of a change faster than it could be made.", remedy: "Try again later.")
  }
}

/// A save met partners that did not exist when its rows were read.
struct NewPartners: Error {}

/// A row that was read to be written back with other values.
final class ReadRow: StoredRecord, QueryObject {
  let entity: Entity
  let storedKey: Int64
  let storedVersion: Int64
  private var values: [StoredValue]

  init(_ row: RowReader, _ model: Model) throws {
    guard model.entities.indices.contains(row.entity) else {
      throw StoreError(
        .unreadableValue, "A row belongs to no entity of the model.", remedy: "Restore the file from a backup.")
    }
    entity = model.entities[row.entity]
    storedKey = row.key
    storedVersion = row.version
    row.problem = nil
    values = entity.columns.enumerated().map { row.value($0, $1.storageClass) }
    if let problem = row.problem {
      throw StoreError(
        .unreadableValue, "A value of \(entity.name) does not fit: \(problem.what).",
        remedy: "Repair the row with another tool, or restore the file from a backup.", entity: entity.name)
    }
  }

  /// The value of a property that is stored in the row; null for any other property.
  func value(_ property: Int) -> StoredValue {
    guard entity.properties.indices.contains(property), let column = entity.properties[property].column else {
      return .null
    }
    return values[column]
  }

  func set(_ property: Int, _ value: StoredValue) {
    guard entity.properties.indices.contains(property), let column = entity.properties[property].column else { return }
    values[column] = value
    // An object that is no longer a member has no position among the members.
    if value.isNull, case .column(_, let order?) = entity.properties[property].relationship?.home {
      values[order] = .null
    }
  }

  func writeRow(to row: RowWriter) {
    for (column, value) in zip(entity.columns, values) { row.write(value, of: column, in: entity) }
  }

  func writeColumns(of properties: ColumnMask, to row: RowWriter) {
    for (column, value) in zip(entity.columns, values) where properties.contains(column.property) {
      row.write(value, of: column, in: entity)
    }
  }

  // MARK: QueryObject

  var queryKey: Int64 { storedKey }
  var queryEntityName: String { entity.name }
  func queryValue(_ property: Int) -> StoredValue { value(property) }
  func queryPartner(_ property: Int) -> ReadRow? { nil }
  func queryMembers(_ property: Int) -> [ReadRow] { [] }
}

// MARK: - Rows to update

/// The rows of a ``BatchUpdate`` with their new values, for a store without a query language.
struct RowsToUpdate {
  private let request = SaveRequest()
  private var outcome = BatchOutcome()

  /// - Throws: ``RefusedRows``; ``StoreError``.
  /// - Complexity: linear in the number of rows, in time and memory.
  init(_ update: BatchUpdate, _ model: Model, _ connection: some StoreConnection) throws {
    let evaluators = try StoreError.evaluating {
      try update.assignments.map { (property: $0.property, value: try OperandEvaluator($0.value)) }
    }
    let refused = try StoreError.evaluating { try update.refused.map { try PredicateEvaluator($0) } }
    var refusedKeys: [Int64] = []
    var groups: [Int: SaveRequest.Updates] = [:]
    let mask = update.mask
    try connection.fetch(update.request) { reader in
      let row = try ReadRow(reader, model)
      if try refused?.matches(row) == true { refusedKeys.append(row.storedKey) }
      let values = try evaluators.map { try $0.value.value(of: row) }
      for (evaluator, value) in zip(evaluators, values) { row.set(evaluator.property, value) }
      groups[reader.entity, default: SaveRequest.Updates(entity: reader.entity)].records.append(row)
      groups[reader.entity]?.masks.append(mask)
      outcome.updated.append(BatchOutcome.Row(key: row.storedKey, entity: reader.entity, properties: mask))
    }
    if !refusedKeys.isEmpty { throw RefusedRows(keys: Array(refusedKeys.prefix(RefusedRows.most))) }
    request.updates = groups.values.sorted { $0.entity < $1.entity }
    request.author = update.author
    outcome.found = outcome.updated.count
  }

  func write(_ connection: some StoreConnection) throws -> BatchOutcome {
    _ = try connection.save(request)
    return outcome
  }
}

// MARK: - Batch delete

/// The effects of deleting rows of an entity, by the delete rules of the model.
package struct DeleteReach: Sendable {
  /// The entities of rows that may be deleted.
  package private(set) var entities: [Int]
  /// The references, by declaring entity, that become nil in remaining rows and increment their versions.
  package private(set) var unlinking: [RelationshipNumber] = []
  /// Whether remaining partners must be checked, because they may prevent the delete or need a minimum number of
  /// members.
  package private(set) var asksPartners = false
  /// Whether the delete affects no other rows.
  package private(set) var isAlone = true

  /// - Complexity: linear in the number of properties of the model, for each reached entity.
  package init(_ request: StoreRequest, _ model: Model) {
    entities = request.includesSubentities ? model.entities[request.entity].subtree : [request.entity]
    var next = 0
    while next < entities.count {
      let entity = model.entities[entities[next]]
      next += 1
      for case .relationship(let relationship) in entity.properties where relationship.home != .transient {
        add(relationship, model)
      }
      addOneWay(to: entity, model)
    }
  }

  private mutating func add(_ relationship: Relationship, _ model: Model) {
    let inverse = model.inverse(of: relationship)
    let isBeyond = relationship.home == .inverseColumn
    // Pairs are deleted with the row, and members hold a reference to it.
    if relationship.column == nil { isAlone = false }
    switch relationship.deleteAction {
    case .deletePartners:
      for number in model.entities[relationship.destination].subtree where !entities.contains(number) {
        entities.append(number)
      }
      isAlone = false
      if !isBeyond { asksPartners = true }
    case .refuse:
      asksPartners = true
    case .clearReferences:
      isAlone = false
      guard let inverse, !inverse.isRequired else { return asksPartners = true }
      if !unlinking.contains(inverse.number) { unlinking.append(inverse.number) }
    case .leaveReferences, .nothing: break
    }
    // An object that loses a member may prevent that, if it needs the member.
    guard !isBeyond, let inverse else { return }
    if inverse.isRequired || inverse.description.minimumCount != nil { asksPartners = true }
  }

  private mutating func addOneWay(to entity: Entity, _ model: Model) {
    let references = model.oneWayColumns(to: entity.index).compactMap(model.relationship)
    let pairs = model.oneWayPairs(to: entity.index)
    if !references.isEmpty || !pairs.isEmpty { isAlone = false }
    if references.contains(where: \.isRequired) { asksPartners = true }
    if pairs.contains(where: { $0.description.minimumCount != nil }) { asksPartners = true }
  }
}

// MARK: - Rows to delete

/// The rows of a ``BatchDelete`` and all further rows that its delete rules delete or change. They are found by
/// reading, for a store without a query language and for rules that no statement can express.
struct RowsToDelete<Connection: StoreConnection> {
  private let model: Model
  private let connection: Connection
  private var victims: [Int64: ReadRow] = [:]
  private var order: [ReadRow] = []
  private var found = 0
  private let request = SaveRequest()
  private var broken = ConstraintViolations()
  private var holders: [Int64: (row: ReadRow, mask: ColumnMask)] = [:]

  /// - Throws: ``ConstraintViolations`` if a remaining partner prevents the delete; ``StoreError``.
  /// - Complexity: linear in the number of deleted and changed rows, in time and memory.
  init(_ delete: BatchDelete, _ model: Model, _ connection: Connection) throws {
    self.model = model
    self.connection = connection
    request.author = delete.author
    var level: [ReadRow] = []
    try connection.fetch(delete.request) { level.append(try ReadRow($0, model)) }
    found = level.count
    while !level.isEmpty {
      for row in level { victims[row.storedKey] = row }
      order += level
      level = try nextLevel(after: level)
    }
    for (entity, rows) in grouped(order) {
      for case .relationship(let relationship) in entity.properties where relationship.home != .transient {
        try settle(relationship, entity, rows)
      }
      try settleOneWay(to: entity, rows)
    }
    if !broken.isEmpty { throw broken }
  }

  // MARK: Deleted rows

  private func nextLevel(after level: [ReadRow]) throws -> [ReadRow] {
    var next: [Int64: ReadRow] = [:]
    for (entity, rows) in grouped(level) {
      for case .relationship(let relationship) in entity.properties
      where relationship.deleteAction == .deletePartners && !relationship.isTransient {
        for (_, row) in try partners(of: rows, relationship) where victims[row.storedKey] == nil {
          next[row.storedKey] = row
        }
      }
    }
    return next.values.sorted { $0.storedKey < $1.storedKey }
  }

  /// The rows at the other end, each with its owner.
  private func partners(
    of rows: [ReadRow], _ relationship: Relationship
  ) throws -> [(owner: Int64, row: ReadRow)] {
    var found: [(owner: Int64, row: ReadRow)] = []
    guard relationship.column != nil else {
      try connection.members(of: number(relationship), owners: rows.map(\.storedKey)) {
        found.append(($0, try ReadRow($1, model)))
      }
      return found
    }
    var owners: [Int64: [Int64]] = [:]
    for row in rows { if let key = reference(row, relationship) { owners[key, default: []].append(row.storedKey) } }
    try connection.rows(of: relationship.destination, keys: owners.keys.sorted()) {
      let row = try ReadRow($0, model)
      found += (owners[row.storedKey] ?? []).map { ($0, row) }
    }
    return found
  }

  // MARK: Remaining rows

  /// Applies a relationship of deleted rows to the remaining partners.
  private mutating func settle(_ relationship: Relationship, _ entity: Entity, _ rows: [ReadRow]) throws {
    let inverse = model.inverse(of: relationship)
    switch relationship.deleteAction {
    case .refuse: try deny(relationship, rows)
    case .clearReferences: try unlink(of: rows, relationship, inverse)
    case .deletePartners, .leaveReferences, .nothing: break
    }
    guard let inverse else { return }
    let keys = rows.map(\.storedKey)
    if relationship.isJoined {
      if relationship.asksForPairs {
        request.denials.append(.init(relationship: number(relationship), owners: keys))
      }
      count(inverse, leaving: keys)
    } else if relationship.column != nil {
      count(inverse, owners: Set(rows.compactMap { reference($0, relationship) }).sorted())
    }
  }

  private mutating func deny(_ relationship: Relationship, _ rows: [ReadRow]) throws {
    for (owner, row) in try partners(of: rows, relationship) where victims[row.storedKey] == nil {
      broken.denials.append(.init(relationship: number(relationship), owner: owner, partner: row.storedKey))
    }
  }

  private mutating func unlink(of rows: [ReadRow], _ relationship: Relationship, _ inverse: Relationship?) throws {
    guard let inverse else { return }
    for (owner, row) in try partners(of: rows, relationship)
    where victims[row.storedKey] == nil && reference(row, inverse) == owner {
      if inverse.isRequired {
        broken.denials.append(.init(relationship: number(relationship), owner: owner, partner: row.storedKey))
        continue
      }
      var holder = holders[row.storedKey] ?? (row, ColumnMask(bits: 0))
      holder.row.set(inverse.index, .null)
      holder.mask.bits |= ColumnMask.bit(of: inverse.index)
      holders[row.storedKey] = holder
    }
  }

  /// Adds a count check for remaining rows. The members are counted inside the transaction.
  private mutating func count(_ relationship: Relationship, owners: [Int64] = [], leaving: [Int64] = []) {
    let description = relationship.description
    let isOne = relationship.isRequired
    guard isOne || description.minimumCount != nil else { return }
    request.counts.append(
      SaveRequest.CountChecks(
        relationship: number(relationship), owners: owners.filter { victims[$0] == nil }, leaving: leaving,
        least: isOne ? 1 : description.minimumCount ?? 0, most: description.maximumCount ?? .max,
        mayBeEmpty: relationship.isToMany && description.isOptional))
  }

  /// Handles one-way references to deleted rows.
  private mutating func settleOneWay(to entity: Entity, _ rows: [ReadRow]) throws {
    let keys = rows.map(\.storedKey)
    for reference in model.oneWayColumns(to: entity.index) {
      guard let relationship = model.relationship(reference) else { continue }
      guard relationship.isRequired else {
        request.clearedReferences.append(.init(relationship: reference, targets: keys))
        continue
      }
      let path = PropertyPath(variable: 0).appending(reference.property)
      let holders = StoreRequest(
        entity: reference.entity, predicate: .isIn(.path(path), keys.map { .integer($0) }, .integer))
      try connection.fetch(holders) { holder in
        guard victims[holder.key] == nil, let column = relationship.column else { return }
        broken.denials.append(
          .init(relationship: reference, owner: holder.key, partner: holder.integer(column)))
      }
    }
    for relationship in model.oneWayPairs(to: entity.index) { count(relationship, leaving: keys) }
  }

  // MARK: Writing

  /// - Throws: ``ConstraintViolations``, ``StoreError``; ``SaveConflict`` or ``NewPartners`` if another writer was
  ///   faster.
  func write(_ connection: Connection) throws -> BatchOutcome {
    for (entity, rows) in grouped(order) {
      request.deletes.append(
        .init(entity: entity.index, keys: rows.map(\.storedKey), versions: rows.map(\.storedVersion)))
    }
    let changed = holders.values.sorted { $0.row.storedKey < $1.row.storedKey }
    for (entity, holders) in Dictionary(grouping: changed, by: \.row.entity.index).sortedByKey {
      request.updates.append(.init(entity: entity, records: holders.map(\.row), masks: holders.map(\.mask)))
    }
    do {
      _ = try connection.save(request)
    } catch let error as StoreError where error.code == .danglingReference {
      throw NewPartners()
    } catch let broken as ConstraintViolations where !broken.denials.isEmpty {
      throw NewPartners()
    }
    return BatchOutcome(
      updated: changed.map { .init(key: $0.row.storedKey, entity: $0.row.entity.index, properties: $0.mask) },
      deleted: order.map { .init(key: $0.storedKey, entity: $0.entity.index) }, found: found)
  }

  private func grouped(_ rows: [ReadRow]) -> [(entity: Entity, rows: [ReadRow])] {
    Dictionary(grouping: rows, by: \.entity.index).sortedByKey.map { (model.entities[$0.key], $0.value) }
  }

  private func reference(_ row: ReadRow, _ relationship: Relationship) -> Int64? {
    if case .integer(let key) = row.value(relationship.index) { key } else { nil }
  }

  private func number(_ relationship: Relationship) -> RelationshipNumber {
    RelationshipNumber(entity: relationship.entity, property: relationship.index)
  }
}
