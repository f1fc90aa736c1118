import TrellisModel
import TrellisStorage

/// Writes rows and pairs in memory to empty tables, with their keys and versions.
struct StateWriting {
  private let connection: ServerConnection
  private let setup: PostgresSetup
  private let state: MemoryState
  /// Called after each statement with the number of rows that it has written.
  private let didWrite: (Int) throws(StoreError) -> Void

  init(
    _ connection: ServerConnection, _ setup: PostgresSetup, _ state: MemoryState,
    didWrite: @escaping (Int) throws(StoreError) -> Void
  ) {
    self.connection = connection
    self.setup = setup
    self.state = state
    self.didWrite = didWrite
  }

  private var names: SQLNames { setup.layout.names }

  /// From this number of bytes or rows on, the rest of the rows comes in another statement.
  private static let mostBytes = 16_000_000
  private static let mostRows = 20_000

  /// Writes the rows of a root entity and of its descendants.
  ///
  /// - Throws: ``StoreError`` with the code `unstorableValue` for a value that the server cannot hold; ``ServerError``.
  func write(_ root: Entity) throws {
    let columns = setup.schema.columns(of: root)
    let places = setup.model.entities.map { entity in
      entity.root == root.index ? columns.map { column in entity.columns.firstIndex { $0.name == column.name } } : []
    }
    let all = setup.model.table(of: root, hasDerived: false).columns
    let leading = all.count - columns.count
    let types = all.map(\.type)
    let list = all.map { names.column($0.name) }
    let text = Self.insertion(names.table(root.name), list, types)
    var rows = ServerColumns(types)
    try state.tables[root.index].forEach { _, row in
      rows.append(row.key, to: 0)
      rows.append(row.version, to: 1)
      if root.isInHierarchy { _ = rows.append(.text(setup.model.entities[row.entity].name), to: 2) }
      for (number, place) in places[row.entity].enumerated()
      where !rows.append(place.map(row.value) ?? .null, to: leading + number) {
        throw unstorable(row, columns[number])
      }
      rows.endRow()
      if rows.count >= Self.mostRows || rows.count % 256 == 0 && rows.byteCount >= Self.mostBytes {
        try send(text, &rows)
      }
      return true
    }
    try send(text, &rows)
  }

  /// Writes the pairs of a join table.
  func write(_ table: JoinTable) throws {
    let places = [table.first.orderColumn, table.second?.orderColumn]
    let list = setup.model.table(of: table).columns.map { names.column($0.name) }
    let types = [ServerType](repeating: .bigint, count: list.count)
    let text = Self.insertion(names.table(table.name), list, types)
    var rows = ServerColumns(types)
    var failure: (any Error)?
    state.forEachPair(of: table.index) { pair in
      rows.append(pair.first, to: 0)
      rows.append(pair.partner, to: 1)
      var column = 2
      for (name, place) in zip(places, [pair.place, pair.inversePlace]) where name != nil {
        _ = rows.append(place.map { .integer($0) } ?? .null, to: column)
        column += 1
      }
      rows.endRow()
      guard rows.count >= Self.mostRows else { return true }
      do { try send(text, &rows) } catch { failure = error }
      return failure == nil
    }
    if let failure { throw failure }
    try send(text, &rows)
  }

  private static func insertion(_ table: String, _ columns: [String], _ types: [ServerType]) -> String {
    let lists = types.enumerated().map { "$\($0 + 1)::\($1.name)[]" }.joined(separator: ", ")
    return "INSERT INTO \(table) (\(columns.joined(separator: ", "))) SELECT * FROM unnest(\(lists))"
  }

  private func send(_ text: String, _ rows: inout ServerColumns) throws {
    if rows.count == 0 { return }
    try connection.run(ServerStatement(text, rows.parameters))
    try didWrite(rows.count)
    rows.removeAll()
  }

  private func unstorable(_ row: MemoryRow, _ column: TableColumn) -> StoreError {
    let entity = setup.model.entities[row.entity]
    let name = setup.model.entities[column.entity].properties[column.property].name
    return StoreError(
      .unstorableValue,
      "\(setup.name) cannot be migrated: \(entity.name).\(name) of \(entity.name)/\(row.key) would get a value that "
        + "PostgreSQL does not keep in a column of the type \(column.type.name). Nothing was changed.",
      remedy: "Change the value with the former program, or the type in the model.", entity: entity.name,
      properties: [name])
  }
}

/// Rows as an array for each column.
private struct ServerColumns {
  private var arrays: [ServerArray]
  private let types: [ServerType]
  private(set) var count = 0

  init(_ types: [ServerType]) {
    self.types = types
    arrays = types.map { ServerArray(of: $0) }
  }

  mutating func append(_ key: Int64, to column: Int) { arrays[column].append(key) }

  /// - Returns: false if the column's type cannot hold the value.
  mutating func append(_ value: StoredValue, to column: Int) -> Bool { arrays[column].append(value) }

  mutating func endRow() { count += 1 }

  mutating func removeAll() {
    arrays = types.map { ServerArray(of: $0) }
    count = 0
  }

  var byteCount: Int { arrays.reduce(0) { $0 + $1.byteCount } }

  var parameters: ServerParameters {
    var parameters = ServerParameters()
    for array in arrays { parameters.add(array) }
    return parameters
  }
}
