import TrellisModel
import TrellisStorage

/// The statements of a save, in an order in which they can be sent together. They depend on the request alone, so they
/// can be sent again.
///
/// Rows are locked first, in the order of their keys, so that two saves never wait for each other. Then rows are
/// inserted, changed and deleted: each foreign key holds after each statement, unless the model's references form a
/// cycle.
struct SaveStatements {
  /// What the answer to a statement means.
  enum Purpose {
    case other
    /// The rows are keys of rows that have changed since they were read. The entities are those of the keys.
    case stale(entities: [Int64: Int])
    /// The rows are owners and partners that deny a delete.
    case denials(RelationshipNumber, table: Int, isFirst: Bool)
    /// The rows are keys of rows that cascades delete.
    case cascaded
    /// The rows are owners with the number of their members.
    case counts(SaveRequest.CountChecks)
    /// The rows are those whose references were cleared, with their entities in hierarchies.
    case cleared(RelationshipNumber)
    /// The rows are those that got a position, by the number of the request's group.
    case placed(Int)
    /// The rows are pairs that were changed.
    case pairs(ChangeRecord.Kind, table: Int)
    /// The rows are those that were deleted.
    case deleted(entity: Int)
    /// The rows are the keys of those that were deleted, with their entities in hierarchies.
    case deletedKeys(entity: Int)
    /// The rows are the keys of those that a request has found, with their entities in hierarchies.
    case found(entity: Int)
    /// The rows are those whose references were cleared and whose versions rose, with their entities in hierarchies.
    case unlinked(RelationshipNumber)
    /// The rows are those that got new values, with their entities in hierarchies, and whether each is refused.
    case changed(entity: Int, ColumnMask)
    /// There is one row if the note had the expected bytes.
    case note(name: String)
  }

  struct Step {
    var statement: ServerStatement
    var purpose: Purpose
    /// The statement that fails instead of telling which row has changed. Nil if it follows from the other one.
    var decided: ServerStatement?
    /// The entity whose rows are written; nil if there is none.
    let entity: Int?
  }

  private(set) var steps: [Step] = []
  private let setup: PostgresSetup
  private let request: SaveRequest
  /// The history that records the changes. Nil if there is none.
  private let history: ServerHistory?
  /// The tables that cascades delete rows of, by the numbers of their root entities.
  private var cascadedRoots: Set<Int> = []
  /// Whether the answers tell which rows were deleted, also if no history records it.
  private(set) var returnsDeleted = false

  private var model: Model { setup.model }
  private var layout: TableLayout { setup.layout }
  private var names: SQLNames { setup.layout.names }

  /// - Throws: ``StoreError`` for a value that the server cannot hold, or a request that the model does not have.
  init(_ request: SaveRequest, _ setup: PostgresSetup, _ history: ServerHistory?) throws {
    self.setup = setup
    self.history = history
    self.request = request
    try checkNumbers()
    for note in request.notes {
      steps.append(
        Step(
          statement: NoteStatements(names).change(note), purpose: .note(name: note.name), decided: nil, entity: nil))
    }
    if needsDeferring { add("SET CONSTRAINTS ALL DEFERRED") }
    let changesOneRow = self.changesOneRow
    if !changesOneRow { try lockRows() }
    try findDenials()
    try findOwnersOfLeaving()
    if !request.cascades.isEmpty { try addCascades() }
    for group in request.inserts.sorted(by: { rank($0.entity) < rank($1.entity) }) { try insert(group) }
    for group in request.updates { if changesOneRow { try updateRow(group) } else { try update(group) } }
    for group in request.clearedReferences { try clear(group.relationship, .list(group.targets)) }
    for group in request.pairs { try write(group) }
    for number in request.places.indices { try writePlaces(number) }
    try deleteRows()
    try count()
  }

  /// Checks unique keys and deferred foreign keys while the transaction can still be rolled back.
  static let checkConstraints = ServerStatement("SET CONSTRAINTS ALL IMMEDIATE")

  /// The steps of which the server itself decides whether they can be committed: one that would have to be looked at
  /// before fails instead. Nil if this program has to decide.
  var decidedByServer: [Step]? {
    var decided = steps
    for (number, step) in steps.enumerated() {
      switch step.purpose {
      case .other: break
      case .stale:
        let text = step.statement.text
        decided[number].purpose = .other
        if let statement = step.decided {
          decided[number].statement = statement
          continue
        }
        decided[number].statement = ServerStatement(
          "SELECT CASE WHEN count(*) = 0 THEN 0 ELSE ('rows that have changed since they were read: ' || count(*))::int END "
            + "FROM (\(text)) AS g", step.statement.parameters)
      default: return nil
      }
    }
    return decided
  }

  private mutating func add(
    _ text: String, _ parameters: ServerParameters = ServerParameters(), _ purpose: Purpose = .other,
    entity: Int? = nil
  ) {
    steps.append(Step(statement: ServerStatement(text, parameters), purpose: purpose, entity: entity))
  }

  /// The change of all rows of a request, by one statement.
  ///
  /// - Parameter request: the author of the change, and nothing else.
  init(_ update: UpdateStatement, _ request: SaveRequest, _ setup: PostgresSetup, _ history: ServerHistory?) {
    self.setup = setup
    self.history = history
    self.request = request
    steps.append(
      Step(
        statement: update.statement, purpose: .changed(entity: update.entity, update.mask), entity: update.entity))
  }

  private func rank(_ entity: Int) -> Int { layout.insertRanks[entity] }

  private func checkNumbers() throws(StoreError) {
    let entities =
      request.inserts.map(\.entity) + request.updates.map(\.entity) + request.deletes.map(\.entity)
      + request.places.map(\.entity) + request.clearedReferences.map(\.relationship.entity)
    guard entities.allSatisfy(model.entities.indices.contains),
      request.pairs.allSatisfy({ model.joinTables.indices.contains($0.table) })
    else { throw RequestFault.unknown }
  }

  /// Whether a row may be written before one that it refers to, or deleted before one that refers to it.
  private var needsDeferring: Bool {
    let written = request.inserts.map(\.entity) + request.deletes.map(\.entity)
    return !request.cascades.isEmpty || written.contains { setup.mayReferForward[$0] }
  }

  // MARK: Locks

  /// Locks the rows to change and finds those that have changed meanwhile; then locks the owners whose members are
  /// counted, so that others do not add members at the same time.
  private mutating func lockRows() throws {
    struct Change {
      let key: Int64
      let version: Int64
    }
    var changes: [Int: [Change]] = [:]
    var entities: [Int: [Int64: Int]] = [:]
    var isDelete: Set<Int> = []
    for group in request.updates {
      let root = model.entities[group.entity].root
      for record in group.records {
        changes[root, default: []].append(Change(key: record.storedKey, version: record.storedVersion))
        entities[root, default: [:]][record.storedKey] = group.entity
      }
    }
    for group in request.deletes {
      let root = model.entities[group.entity].root
      isDelete.insert(root)
      for (key, version) in zip(group.keys, group.versions) {
        changes[root, default: []].append(Change(key: key, version: version))
        entities[root, default: [:]][key] = group.entity
      }
    }
    for (root, found) in changes.sorted(by: { $0.key < $1.key }) {
      let sorted = found.sorted { $0.key < $1.key }
      var parameters = ServerParameters(sorted.map(\.key))
      parameters.add(sorted.map(\.version))
      // A row to delete must not get new references either.
      let lock = isDelete.contains(root) ? "FOR UPDATE" : "FOR NO KEY UPDATE"
      add(
        "SELECT v.key FROM unnest($1::bigint[], $2::bigint[]) AS v(key, version) LEFT JOIN LATERAL "
          + "(SELECT t.\(SQLName.version) AS version FROM \(layout.tables[root].name) AS t "
          + "WHERE t.\(SQLName.id) = v.key \(lock)) AS t ON TRUE WHERE t.version IS DISTINCT FROM v.version",
        parameters, .stale(entities: entities[root] ?? [:]))
    }
    var owners: [Int: Set<Int64>] = [:]
    for check in request.counts where !check.owners.isEmpty {
      guard model.entities.indices.contains(check.relationship.entity) else { throw RequestFault.unknown }
      owners[model.entities[check.relationship.entity].root, default: []].formUnion(check.owners)
    }
    for (root, keys) in owners.sorted(by: { $0.key < $1.key }) {
      add(
        "SELECT 1 FROM \(layout.tables[root].name) AS t WHERE t.\(SQLName.id) = ANY($1) ORDER BY t.\(SQLName.id) "
          + "FOR NO KEY UPDATE", ServerParameters(keys.sorted()))
    }
  }

  // MARK: Rules

  private mutating func findDenials() throws {
    for denial in request.denials {
      guard
        case .joinTable(let table, let isFirst)? = layout.relationship(
          denial.relationship.entity, denial.relationship.property)?.home
      else { throw RequestFault.unknown }
      let statements = try layout.memberStatements(denial.relationship)
      add(
        statements.keys, ServerParameters(denial.owners.distinct),
        .denials(denial.relationship, table: table, isFirst: isFirst))
    }
  }

  /// The setting of the transaction that holds the owners which lose a member, because their pairs will be gone when
  /// their members are counted.
  private static func leavingSetting(_ check: Int) -> String { "trellis.leaving\(check)" }

  /// A list of keys, as a text, that an earlier statement of the transaction has put into a setting.
  private static func text(in setting: String) -> String { "nullif(current_setting('\(setting)', true), '')" }

  private static func list(in setting: String) -> String { "\(text(in: setting))::bigint[]" }

  private mutating func findOwnersOfLeaving() throws {
    for (number, check) in request.counts.enumerated() where !check.leaving.isEmpty {
      guard let owners = try layout.memberStatements(check.relationship).owners else { continue }
      let table = layout.tables[check.relationship.entity].name
      add(
        "SELECT set_config('\(Self.leavingSetting(number))', (SELECT coalesce(array_agg(o.key), '{}')::text FROM "
          + "(SELECT t.\(SQLName.id) AS key FROM \(table) AS t WHERE t.\(SQLName.id) IN (\(owners)) "
          + "ORDER BY t.\(SQLName.id) FOR NO KEY UPDATE OF t) AS o), true)", ServerParameters(check.leaving))
    }
  }

  private mutating func count() throws {
    for (number, check) in request.counts.enumerated() {
      let statements = try layout.memberStatements(check.relationship)
      guard let text = statements.counts,
        let leaving = statements.counts(ofList: Self.text(in: Self.leavingSetting(number)))
      else { throw RequestFault.unknown }
      if !check.owners.isEmpty { add(text, ServerParameters(check.owners.distinct), .counts(check)) }
      if !check.leaving.isEmpty { add(leaving, ServerParameters(), .counts(check)) }
    }
  }

  // MARK: Cascades

  private static func cascadedSetting(_ root: Int) -> String { "trellis.cascaded\(root)" }

  /// Finds all rows that cascades delete, in one statement.
  private mutating func addCascades() throws {
    let closure = try CascadeClosure(from: request.cascades.map(\.relationship), layout)
    var parameters = ServerParameters()
    let spared = Set(request.keptFromCascades).union(request.deletes.flatMap(\.keys))
    let sparedMarker = parameters.add(spared.sorted())
    var starts: [String] = []
    for cascade in request.cascades {
      let owners = parameters.add(cascade.owners)
      if let members = try closure.members(of: cascade.relationship, { "\($0) = ANY(\(owners))" }) {
        starts.append(members)
      }
    }
    cascadedRoots = closure.roots
    var text =
      "WITH RECURSIVE v(r, key) AS (SELECT * FROM (\(starts.joined(separator: " UNION "))) AS s(r, key) "
      + "WHERE s.key <> ALL(\(sparedMarker))"
    if let further = try closure.further {
      text += " UNION SELECT n.r, n.key FROM v JOIN LATERAL \(further) AS n ON TRUE WHERE n.key <> ALL(\(sparedMarker))"
    }
    text +=
      "), f AS MATERIALIZED (SELECT DISTINCT \(closure.root(of: "v.r")) AS root, v.key FROM v), \(Self.keepsFound) "
      + "SELECT f.key FROM f WHERE \(Self.hasKeptFound)"
    add(text, parameters, .cascaded)
  }

  /// Keeps the keys of rows to delete, `f(root, key)`, for later statements of the transaction.
  private static let keepsFound =
    "c AS MATERIALIZED (SELECT set_config('trellis.cascaded' || f.root, array_agg(f.key)::text, true) FROM f "
    + "GROUP BY f.root)"
  /// A condition that is always true, and lets the server run the part of the statement that keeps the keys.
  private static let hasKeptFound = "(SELECT count(*) FROM c) >= 0"

  // MARK: Deleting all

  /// The delete of all rows of a request, with the rows that cascades reach, by statements that do not depend on the number
  /// of rows.
  ///
  /// - Parameter request: the author of the delete, and nothing else.
  init(
    _ delete: DeleteStatement, _ request: SaveRequest, _ setup: PostgresSetup, _ history: ServerHistory?
  ) throws {
    self.setup = setup
    self.history = history
    self.request = request
    returnsDeleted = true
    if let alone = delete.alone(returning: { deletedColumns(of: $0, delete.entity) ?? "" }) {
      add(alone.text, alone.parameters, purposeOfDeleted(delete.entity), entity: delete.entity)
      return
    }
    let closure = try CascadeClosure(from: model.furtherCascades(from: delete.entity), layout)
    cascadedRoots = closure.roots.union([model.entities[delete.entity].root])
    add("SET CONSTRAINTS ALL DEFERRED")
    let found = try delete.found(followedBy: closure)
    add(
      "\(found.text), \(Self.keepsFound) SELECT \(delete.selection) WHERE \(Self.hasKeptFound)", found.parameters,
      .found(entity: delete.entity), entity: delete.entity)
    for reference in delete.reach.unlinking { try unlink(reference) }
    try deleteRows()
  }

  /// Clears a reference of rows that stay, which are other rows afterwards.
  private mutating func unlink(_ number: RelationshipNumber) throws {
    guard let relationship = layout.relationship(number.entity, number.property),
      case .column(let place, let order) = relationship.home, let column = layout.column(place, of: number.entity)
    else { throw RequestFault.unknown }
    let table = layout.tables[number.entity]
    let orderColumn = order.flatMap { layout.column($0, of: number.entity) }.map { ", \($0) = NULL" } ?? ""
    let victims = Self.list(in: Self.cascadedSetting(model.entities[relationship.destination].root))
    let own = Self.list(in: Self.cascadedSetting(model.entities[number.entity].root))
    // The rows are locked in the order of their keys, as by any save.
    add(
      "WITH h AS MATERIALIZED (SELECT t.\(SQLName.id) AS id FROM \(table.name) AS t WHERE t.\(column) = ANY(\(victims)) "
        + "AND t.\(SQLName.id) NOT IN (SELECT unnest(\(own))) ORDER BY t.\(SQLName.id) FOR NO KEY UPDATE) "
        + "UPDATE \(table.name) AS u SET \(column) = NULL\(orderColumn), \(SQLName.version) = u.\(SQLName.version) + 1 "
        + "FROM h WHERE u.\(SQLName.id) = h.id RETURNING u.\(SQLName.id)"
        + (table.isInHierarchy ? ", u.\(SQLName.entity)" : ""),
      ServerParameters(), .unlinked(number), entity: number.entity)
  }

  // MARK: Rows

  /// From this number of bytes or rows on, the rest of the rows comes in another statement.
  private static let mostBytes = 16_000_000
  private static let mostRows = 20_000

  private func columns(of entity: Int, _ numbers: [Int]) -> [(type: ServerType, isOptional: Bool)] {
    numbers.map { (setup.types[entity][$0], model.entities[entity].columns[$0].isOptional) }
  }

  /// The parameters of rows, and the arrays that they are, such as `unnest($1::bigint[], …)`.
  private func source(_ keys: [Int64], _ rows: ServerRowWriter) -> (text: String, parameters: ServerParameters) {
    var parameters = ServerParameters(keys)
    var lists = ["$1::bigint[]"]
    for array in rows.arrays { lists.append("\(parameters.add(array))::\(array.type.name)[]") }
    let names = ["id"] + rows.arrays.indices.map { "c\($0)" }
    return ("unnest(\(lists.joined(separator: ", "))) AS v(\(names.joined(separator: ", ")))", parameters)
  }

  private mutating func insert(_ group: SaveRequest.Inserts) throws {
    let table = layout.tables[group.entity]
    let numbers = Array(model.entities[group.entity].columns.indices)
    var columns = [SQLName.id, SQLName.version]
    var values = ["v.id", group.formerVersions.isEmpty ? "1" : "v.c\(numbers.count)"]
    if table.isInHierarchy {
      columns.append(SQLName.entity)
      values.append(SQLName.literal(model.entities[group.entity].name))
    }
    columns += table.columns
    values += numbers.map { "v.c\($0)" }
    let versions: ((any StoredRecord) -> Int64)? =
      group.formerVersions.isEmpty ? nil : { group.version(of: $0.storedKey) }
    try write(group.records, of: group.entity, numbers, { $0.writeRow(to: $1) }, versions) { source in
      "INSERT INTO \(table.name) (\(columns.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) FROM \(source)"
    }
  }

  private mutating func update(_ group: SaveRequest.Updates) throws {
    let table = layout.tables[group.entity]
    var groups: [(mask: ColumnMask, records: [any StoredRecord])] = []
    var places: [ColumnMask: Int] = [:]
    for (record, mask) in zip(group.records, group.masks) {
      if let place = places[mask] {
        groups[place].records.append(record)
      } else {
        places[mask] = groups.count
        groups.append((mask, [record]))
      }
    }
    for (mask, records) in groups {
      let numbers = layout.columns(of: group.entity, mask)
      var assignments = numbers.enumerated().map { "\(table.columns[$1]) = v.c\($0)" }
      assignments.append("\(SQLName.version) = t.\(SQLName.version) + 1")
      try write(records, of: group.entity, numbers, { $0.writeColumns(of: mask, to: $1) }) { source in
        "UPDATE \(table.name) AS t SET \(assignments.joined(separator: ", ")) FROM \(source) WHERE t.\(SQLName.id) = v.id"
      }
    }
  }

  /// Whether one row is changed, and locked by the change itself, because no other row has to be locked before.
  private var changesOneRow: Bool {
    request.updates.count == 1 && request.updates[0].records.count == 1 && request.inserts.isEmpty
      && request.deletes.isEmpty && request.cascades.isEmpty && request.counts.isEmpty && request.denials.isEmpty
  }

  /// Changes a row if it has its version still. A search for one key is planned once, and a list of keys each time.
  private mutating func updateRow(_ group: SaveRequest.Updates) throws {
    guard let record = group.records.first, let mask = group.masks.first else { return }
    let (table, entity) = (layout.tables[group.entity], group.entity)
    let numbers = layout.columns(of: entity, mask)
    let rows = ServerRowWriter(columns(of: entity, numbers))
    try fill(rows, with: record, of: entity, numbers) { $0.writeColumns(of: mask, to: $1) }
    var parameters = ServerParameters()
    let key = parameters.add(record.storedKey)
    let version = parameters.add(record.storedVersion)
    var assignments: [String] = []
    for (number, array) in rows.arrays.enumerated() {
      let list = parameters.add(array)
      assignments.append("\(table.columns[numbers[number]]) = (\(list)::\(array.type.name)[])[1]")
    }
    assignments.append("\(SQLName.version) = t.\(SQLName.version) + 1")
    let change =
      "WITH u AS (UPDATE \(table.name) AS t SET \(assignments.joined(separator: ", ")) WHERE t.\(SQLName.id) = \(key) "
      + "AND t.\(SQLName.version) = \(version) RETURNING 1) SELECT "
    // A text without the number of rows would be converted when the statement is planned.
    let decided =
      "CASE WHEN EXISTS (SELECT FROM u) THEN 0 ELSE ('rows that have changed since they were read, of one: ' "
      + "|| (SELECT count(*) FROM u))::int END"
    steps.append(
      Step(
        statement: ServerStatement(change + "\(key) WHERE NOT EXISTS (SELECT FROM u)", parameters),
        purpose: .stale(entities: [record.storedKey: entity]), decided: ServerStatement(change + decided, parameters),
        entity: entity))
  }

  private mutating func write(
    _ records: [any StoredRecord], of entity: Int, _ numbers: [Int],
    _ writeRecord: (any StoredRecord, RowWriter) -> Void, _ versions: ((any StoredRecord) -> Int64)? = nil,
    _ text: (_ source: String) -> String
  ) throws {
    var keys: [Int64] = []
    let columns = columns(of: entity, numbers) + (versions == nil ? [] : [(.bigint, false)])
    var rows = ServerRowWriter(columns)
    func finish(_ steps: inout SaveStatements) {
      if keys.isEmpty { return }
      let (source, parameters) = steps.source(keys, rows)
      steps.add(text(source), parameters, entity: entity)
    }
    for record in records {
      try fill(rows, with: record, of: entity, numbers) { record, row in
        writeRecord(record, row)
        if let versions { row.integer(versions(record)) }
      }
      keys.append(record.storedKey)
      if keys.count % 256 == 0, keys.count >= Self.mostRows || rows.byteCount >= Self.mostBytes {
        finish(&self)
        keys = []
        rows = ServerRowWriter(columns)
      }
    }
    finish(&self)
  }

  private func fill(
    _ rows: ServerRowWriter, with record: any StoredRecord, of entity: Int, _ numbers: [Int],
    _ writeRecord: (any StoredRecord, RowWriter) -> Void
  ) throws {
    guard record.storedKey > 0 else { throw Self.noKey }
    guard rows.add({ writeRecord(record, $0) }) else {
      throw StoreError(
        .internalError, "An object of \(model.entities[entity].name) wrote another number of values than it has.",
        remedy: "Generate the code again from the model.", entity: model.entities[entity].name)
    }
    if let problem = rows.problem { throw unstorable(entity, numbers[problem]) }
  }

  private static let noKey = StoreError(
    .internalError, "An object has no key that a store could keep.", remedy: "Make the object again in a new context.")

  private func unstorable(_ entity: Int, _ column: Int) -> StoreError {
    let declared = model.entities[entity]
    let name = declared.properties[declared.columns[column].property].name
    let what =
      switch setup.types[entity][column] {
      case .text: "a text with U+0000, or of more than 1,000,000,000 bytes"
      case .timestamp: "a date before 4714-11-24 BC"
      case .double: "a real that is not a number"
      case let type: "a value that is none of the type \(type.name)"
      }
    let orNil = declared.columns[column].isOptional ? "" : ", or nil, though it is required"
    return StoreError(
      .unstorableValue, "\(declared.name).\(name) has a value that PostgreSQL has no form for: \(what)\(orNil).",
      remedy: "Set another value before saving.", entity: declared.name, properties: [name])
  }

  // MARK: Beside rows

  private mutating func write(_ pairs: SaveRequest.Pairs) throws {
    let table = model.joinTables[pairs.table]
    let name = names.table(table.name)
    let (first, partner) = (names.column(table.first.column), names.column(table.partnerColumn))
    let place = table.first.orderColumn.map(names.column)
    let inversePlace = table.second?.orderColumn.map(names.column)
    func keys(_ pairs: [SaveRequest.Pairs.Pair]) -> ServerParameters {
      var parameters = ServerParameters(pairs.map(\.first))
      parameters.add(pairs.map(\.partner))
      return parameters
    }
    func places(_ pairs: [SaveRequest.Pairs.Pair]) -> (columns: [String], parameters: ServerParameters) {
      var parameters = keys(pairs)
      for (column, value) in [(place, \SaveRequest.Pairs.Pair.place), (inversePlace, \.inversePlace)]
      where column != nil {
        var list = ServerArray(of: .bigint)
        for pair in pairs { if let value = pair[keyPath: value] { list.append(value) } else { list.appendNull() } }
        parameters.add(list)
      }
      return ([place, inversePlace].compactMap(\.self), parameters)
    }
    func source(_ columns: Int) -> String {
      let lists = (1...(columns + 2)).map { "$\($0)::bigint[]" }.joined(separator: ", ")
      let names = ["first", "partner", "p0", "p1"].prefix(columns + 2).joined(separator: ", ")
      return "unnest(\(lists)) AS v(\(names))"
    }
    let entity = table.first.entity
    if !pairs.removed.isEmpty {
      add(
        "DELETE FROM \(name) AS j USING \(source(0)) WHERE j.\(first) = v.first AND j.\(partner) = v.partner"
          + returning("j.\(first), j.\(partner)"), keys(pairs.removed), recorded(.pairsRemoved, table), entity: entity)
    }
    if !pairs.added.isEmpty {
      let (columns, parameters) = places(pairs.added)
      let values = ["v.first", "v.partner"] + columns.indices.map { "v.p\($0)" }
      // A pair that another writer has inserted in the meantime is equivalent. Two saves insert in one order.
      add(
        "INSERT INTO \(name) (\(([first, partner] + columns).joined(separator: ", "))) "
          + "SELECT \(values.joined(separator: ", ")) FROM \(source(columns.count)) ORDER BY v.first, v.partner "
          + "ON CONFLICT DO NOTHING" + returning("\(first), \(partner)"), parameters, recorded(.pairsAdded, table),
        entity: entity)
    }
    if !pairs.moved.isEmpty {
      let (columns, parameters) = places(pairs.moved)
      if columns.isEmpty { return }
      let assignments = columns.enumerated().map { "\($1) = coalesce(v.p\($0), j.\($1))" }.joined(separator: ", ")
      add(
        "UPDATE \(name) AS j SET \(assignments) FROM \(source(columns.count)) "
          + "WHERE j.\(first) = v.first AND j.\(partner) = v.partner" + returning("j.\(first), j.\(partner)"),
        parameters, recorded(.pairsMoved, table), entity: entity)
    }
  }

  /// What another writer has done already is no change, so the statements tell what they have changed.
  private func returning(_ columns: String) -> String { history == nil ? "" : " RETURNING \(columns)" }

  private func recorded(_ kind: ChangeRecord.Kind, _ table: JoinTable) -> Purpose {
    history == nil ? .other : .pairs(kind, table: table.index)
  }

  private mutating func writePlaces(_ number: Int) throws {
    let places = request.places[number]
    guard let column = layout.column(places.column, of: places.entity) else { throw RequestFault.unknown }
    let reference = model.entities[places.entity].reference(placedBy: places.column).flatMap {
      layout.column($0, of: places.entity)
    }
    var parameters = ServerParameters(places.keys)
    parameters.add(places.places)
    // A row that another writer has removed from the list in the meantime gets no position.
    let isMember = reference.map { " AND t.\($0) IS NOT NULL" } ?? ""
    add(
      "UPDATE \(layout.tables[places.entity].name) AS t SET \(column) = v.place "
        + "FROM unnest($1::bigint[], $2::bigint[]) AS v(id, place) WHERE t.\(SQLName.id) = v.id\(isMember)"
        + returning("t.\(SQLName.id)"), parameters, history == nil ? .other : .placed(number), entity: places.entity)
  }

  /// The keys of a statement: a parameter, or what a cascade has found.
  private enum Keys {
    case list([Int64])
    case cascaded(root: Int)
    /// Both together.
    case both([Int64], root: Int)
  }

  /// A condition that a column is one of some keys, with its parameters.
  private static func isOneOf(_ column: String, _ keys: Keys) -> (text: String, parameters: ServerParameters) {
    switch keys {
    case .list(let keys): ("\(column) = ANY($1)", ServerParameters(keys))
    case .cascaded(let root): ("\(column) = ANY(\(list(in: cascadedSetting(root))))", ServerParameters())
    case .both(let keys, let root):
      ("(\(column) = ANY($1) OR \(column) = ANY(\(list(in: cascadedSetting(root)))))", ServerParameters(keys))
    }
  }

  private mutating func clear(_ relationship: RelationshipNumber, _ keys: Keys) throws {
    guard case .column(let number, let order)? = layout.relationship(relationship.entity, relationship.property)?.home,
      let column = layout.column(number, of: relationship.entity)
    else { throw RequestFault.unknown }
    let place = order.flatMap { layout.column($0, of: relationship.entity) }.map { ", \($0) = NULL" } ?? ""
    let (condition, parameters) = Self.isOneOf(column, keys)
    add(
      "UPDATE \(layout.tables[relationship.entity].name) SET \(column) = NULL\(place) WHERE \(condition)"
        + returning(SQLName.id + (layout.tables[relationship.entity].isInHierarchy ? ", \(SQLName.entity)" : "")),
      parameters, history == nil ? .other : .cleared(relationship), entity: relationship.entity)
  }

  // MARK: Deleting

  /// Deletes rows with their pairs: those that refer to others come first.
  private mutating func deleteRows() throws {
    var keys: [Int: [Int64]] = [:]
    for group in request.deletes { keys[model.entities[group.entity].root, default: []] += group.keys }
    let roots = Set(keys.keys).union(cascadedRoots).sorted { (rank($0), $0) > (rank($1), $1) }
    let deleted: [(root: Int, keys: Keys)] = roots.map { root in
      switch (keys[root], cascadedRoots.contains(root)) {
      case (let keys?, true): (root, .both(keys, root: root))
      case (let keys?, false): (root, .list(keys))
      case (nil, _): (root, .cascaded(root: root))
      }
    }
    for root in cascadedRoots.sorted() {
      for reference in model.oneWayColumns(to: root) { try clear(reference, .cascaded(root: root)) }
    }
    for (root, selected) in deleted {
      for table in model.joinTables {
        let ends = [
          (table.first.entity, table.first.column), (table.second?.entity ?? table.partnerEntity, table.partnerColumn),
        ]
        for (entity, column) in ends where model.entities[entity].root == root {
          let (condition, parameters) = Self.isOneOf(names.column(column), selected)
          add("DELETE FROM \(names.table(table.name)) WHERE \(condition)", parameters, entity: entity)
        }
      }
    }
    for (root, selected) in deleted {
      let (condition, parameters) = Self.isOneOf(SQLName.id, selected)
      let returned = deletedColumns(of: "t", root).map { " RETURNING \($0)" } ?? ""
      add(
        "DELETE FROM \(layout.tables[root].name) AS t WHERE \(condition)\(returned)", parameters,
        purposeOfDeleted(root), entity: root)
    }
  }

  /// Whether a history keeps values of deleted rows of an entity and its descendants.
  private func keepsValues(_ entity: Int) -> Bool {
    history.map { history in model.entities[entity].subtree.contains { !history.kept[$0].isEmpty } } ?? false
  }

  /// The columns that a delete of rows of an entity returns. Nil if it returns none.
  private func deletedColumns(of alias: String, _ entity: Int) -> String? {
    let table = layout.tables[entity]
    if keepsValues(entity) { return table.selection(alias) }
    guard history != nil || returnsDeleted else { return nil }
    return "\(alias).\(SQLName.id)" + (table.isInHierarchy ? ", \(alias).\(SQLName.entity)" : "")
  }

  private func purposeOfDeleted(_ entity: Int) -> Purpose {
    if keepsValues(entity) { return .deleted(entity: entity) }
    return history != nil || returnsDeleted ? .deletedKeys(entity: entity) : .other
  }
}
