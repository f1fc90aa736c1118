import Foundation
import TrellisModel
package import TrellisStorage

extension PostgresStore: HistoryStore {
  package func connect(asOf position: HistoryPosition) throws -> any StoreConnection {
    let connection = PostgresConnection(self)
    let history = try connection.recorded()
    guard !history.former.isEmpty else { throw HistoryError.noValues("the objects", name) }
    try connection.atOneMoment { try connection.checkShown(position, history) }
    return PastConnection(ServerPast(self, history, position))
  }
}

extension PostgresConnection: HistoryConnection {
  /// - Throws: ``StoreError`` with the code `unsupported` if there is no history.
  fileprivate func recorded() throws(StoreError) -> ServerHistory {
    if let history = store.history { return history }
    guard setup.model.hasHistory else { throw HistoryError.none(store.name) }
    throw StoreError(
      .historyExpired, "The history of \(store.name) is that of another server, and begins anew at this one.",
      remedy: "Open the store once for writing, and begin with all objects.")
  }

  private func positions(
    _ condition: String, _ history: ServerHistory, _ parameter: Int64? = nil
  ) throws -> HistoryPosition? {
    var parameters = ServerParameters()
    parameters.add(history.base)
    if let parameter { parameters.add(parameter) }
    var found: HistoryPosition?
    let text =
      "SELECT \"number\", \"time\" FROM \(layout.names.history) WHERE \(ServerHistory.isSettled)\(condition) LIMIT 1"
    try readAll(ServerStatement(text, parameters), doing: "read the history") { result, row in
      found = HistoryPosition(
        identity: history.identity, number: result.integer(row, 0), time: result.integer(row, 1), part: 0)
    }
    return found
  }

  package func waitUntilSettled() throws {
    let history = try recorded()
    var parameters = ServerParameters()
    parameters.add(history.base)
    // What is committed later need not be waited for.
    var last: Int64?
    let end = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < end {
      let condition = last.map { " AND \"number\" <= \($0)" } ?? ""
      var open: Int64?
      let text =
        "SELECT max(\"number\") FROM \(layout.names.history) WHERE NOT (\(ServerHistory.isSettled))\(condition)"
      try readAll(ServerStatement(text, parameters), doing: "read the history") { result, row in
        open = result.isNull(row, 0) ? nil : result.integer(row, 0)
      }
      guard let open else { return }
      last = last ?? open
      Thread.sleep(forTimeInterval: 0.002)
    }
    throw StoreError(
      .timedOut, "Transactions of others at \(store.name) stay open, so its history does not end.",
      remedy: "End them, or try again later.")
  }

  package func position(of moment: HistoryMoment) throws -> HistoryPosition {
    let history = try recorded()
    switch moment {
    case .now: return try positions(" ORDER BY \"number\" DESC", history) ?? beginning(history)
    case .time(let time):
      // The times of transactions are nearly in the order of their numbers, but not quite.
      let condition =
        " AND \"number\" < coalesce((SELECT min(\"number\") FROM \(layout.names.history) WHERE \"time\" > "
        + "to_timestamp($2::float8 / 1000000)), 9223372036854775807) ORDER BY \"number\" DESC"
      return try positions(condition, history, time) ?? beforeAll(history)
    case .before(let number):
      return try positions(" AND \"number\" < $2 ORDER BY \"number\" DESC", history, number) ?? beforeAll(history)
    }
  }

  /// The position before the first transaction that is kept, which is the first of all only if none was deleted.
  private func beforeAll(_ history: ServerHistory) throws -> HistoryPosition {
    guard try deletedUpTo() == 0 else { throw HistoryError.expired(store.name) }
    return beginning(history)
  }

  private func beginning(_ history: ServerHistory) -> HistoryPosition {
    HistoryPosition(identity: history.identity, number: 0, time: 0, part: 0)
  }

  /// The number before which transactions were deleted; 0 if none was.
  private func deletedUpTo() throws -> Int64 {
    var number: Int64 = 0
    let text = "SELECT \"value\"::bigint FROM \(layout.names.metadata) WHERE \"key\" = 'historyDeleted'"
    try readAll(ServerStatement(text), doing: "read the history") { result, row in number = result.integer(row, 0) }
    return number
  }

  private func check(_ position: HistoryPosition, _ history: ServerHistory) throws {
    guard position.identity == history.identity else { throw HistoryError.other(store.name) }
    let deleted = try deletedUpTo()
    if position.number == 0 {
      guard deleted == 0 else { throw HistoryError.expired(store.name) }
      return
    }
    guard let found = try positions(" AND \"number\" = $2", history, position.number) else {
      throw position.number < deleted ? HistoryError.expired(store.name) : HistoryError.other(store.name)
    }
    guard found.time == position.time else { throw HistoryError.other(store.name) }
  }

  package func history(
    after position: HistoryPosition?, atMost count: Int, _ body: (HistoryEntry) throws -> Void
  ) throws {
    let history = try recorded()
    guard count > 0 else { return }
    var entries: [(entry: HistoryEntry, model: Int64)] = []
    var matches: [Int64: ModelMatch?] = [:]
    if let model = history.model { matches[model] = Optional<ModelMatch>.none }
    try atOneMoment {
      if let position { try check(position, history) }
      entries = try readEntries(
        "\"number\" > $2 ORDER BY \"number\" LIMIT $3", [position?.number ?? 0, Int64(count)], history)
      for (_, model) in entries where matches[model] == nil { matches[model] = .some(try match(of: model)) }
    }
    for (var entry, model) in entries {
      entry.match = matches[model] ?? nil
      try body(entry)
    }
  }

  package func entry(number: Int64) throws -> HistoryEntry? {
    try readEntries("\"number\" = $2", [number], try recorded()).first?.entry
  }

  private func readEntries(
    _ condition: String, _ values: [Int64], _ history: ServerHistory
  ) throws -> [(entry: HistoryEntry, model: Int64)] {
    var parameters = ServerParameters()
    parameters.add(history.base)
    for value in values { parameters.add(value) }
    let text =
      "SELECT \"number\", \"time\", \"origin\", \"model\", \"author\", \"changes\" FROM \(layout.names.history) "
      + "WHERE \(ServerHistory.isSettled) AND \(condition)"
    var entries: [(entry: HistoryEntry, model: Int64)] = []
    try readAll(ServerStatement(text, parameters), doing: "read the history") { result, row in
      let position = HistoryPosition(
        identity: history.identity, number: result.integer(row, 0), time: result.integer(row, 1), part: 0)
      let entry = HistoryEntry(
        position: position, origin: result.integer(row, 2), author: result.text(row, 4),
        record: [UInt8](result.bytes(row, 5)), match: nil, store: store.name)
      entries.append((entry, result.integer(row, 3)))
    }
    return entries
  }

  /// The way from a model of the store to the program's; nil if it is the same.
  private func match(of number: Int64) throws -> ModelMatch? {
    var parameters = ServerParameters()
    parameters.add(number)
    var found: (checksum: String, json: String)?
    let text = "SELECT \"checksum\", \"json\" FROM \(layout.names.models) WHERE \"number\" = $1"
    try readAll(ServerStatement(text, parameters), doing: "read the history") { result, row in
      if let checksum = result.text(row, 0), let json = result.text(row, 1) { found = (checksum, json) }
    }
    guard let found else {
      throw StoreError(
        .damaged, "\(store.name) is damaged: its history refers to a model that it does not have.",
        remedy: "Restore the database from a backup.")
    }
    let model = try StoredModelReading.model(found.json, checksum: found.checksum, of: store.name)
    return TextBytes.areEqual(model.checksum, setup.model.checksum) ? nil : ModelMatch(from: model, to: setup.model)
  }

  /// Rows that transactions replaced before which another one is in progress are the present ones.
  package func versions(of entity: Int, key: Int64, _ body: (_ until: Int64?, RowReader) throws -> Void) throws {
    guard setup.model.entities.indices.contains(entity) else { throw RequestFault.unknown }
    let root = setup.model.entities[entity].root
    let history = try recorded()
    guard let former = history.former.table(of: setup.model.entities[root].name) else {
      throw HistoryError.noValues(setup.model.entities[entity].name, store.name)
    }
    let table = layout.tables[root]
    var parameters = ServerParameters()
    parameters.add(key)
    parameters.add(history.base)
    let statement = ServerStatement(FormerRows(setup).versions(former, table.selection("t")), parameters)
    try atOneMoment {
      var reader: ServerRowReader?
      var isPresent = true
      try readAll(statement, doing: "read former rows") { result, row in
        guard isPresent else { return }
        isPresent = result.integer(row, 2) == 1
        let shown = reader ?? ServerRowReader(result, table, base: 3, store: store.name)
        reader = shown
        if result.integer(row, 1) == 1 {
          try shown.show(result, row)
        } else {
          (shown.key, shown.version) = (key, 0)
        }
        try body(isPresent ? result.integer(row, 0) : nil, shown)
      }
      if isPresent { try rows(of: root, keys: [key]) { try body(nil, $0) } }
    }
  }

  /// Checks that the former rows as of a position are there.
  fileprivate func checkShown(_ position: HistoryPosition, _ history: ServerHistory) throws {
    try check(position, history)
    var first: Int64?
    let text = "SELECT \"value\"::bigint FROM \(layout.names.metadata) WHERE \"key\" = 'historyValues'"
    try readAll(ServerStatement(text), doing: "read the history") { result, row in first = result.integer(row, 0) }
    guard let first, first <= position.number else { throw HistoryError.expired(store.name) }
  }

  package func deleteHistory(before position: HistoryPosition) throws -> Int {
    let history = try recorded()
    guard position.identity == history.identity else { throw HistoryError.other(store.name) }
    return try HistoryPurge(store.pool, setup, history).delete(before: position.number)
  }
}

// MARK: - The past

/// A store whose tables have their rows as of a transaction. It shares the connections of the store.
private final class ServerPast: PastMoment {
  private let store: PostgresStore
  private let history: ServerHistory
  private let position: HistoryPosition
  private let connection: PostgresConnection

  init(_ store: PostgresStore, _ history: ServerHistory, _ position: HistoryPosition) {
    self.store = store
    self.history = history
    self.position = position
    let statements = FormerRows(store.setup)
    var shown: [String: String] = [:]
    let model = store.setup.model
    for name in model.entities.filter({ $0.parent == nil }).map(\.name) + model.joinTables.map(\.name) {
      shown[name] =
        history.former.table(of: name).map { statements.rows(of: $0, asOf: position.number) }
        ?? SQLName.quoted(HistoryError.missingPrefix + name)
    }
    connection = PostgresConnection(PostgresStore(store, store.setup.showing(shown)))
  }

  var name: String { store.name }

  var trace: StatementTrace? {
    get { connection.trace }
    set { connection.trace = newValue }
  }

  /// Each read checks that the former rows were not deleted.
  func reading<Result>(_ body: (any StoreConnection) throws -> Result) throws -> Result {
    if connection.isPinned { return try body(connection) }
    return try connection.atOneMoment {
      try connection.checkShown(position, history)
      return try body(connection)
    }
  }
}
