import TrellisModel
package import TrellisStorage

extension PostgresStore: HistoryStore {
  package func connect(asOf position: HistoryPosition) throws -> any StoreConnection {
    throw StoreError(
      .unsupported, "\(name) keeps no former values, so it cannot be shown as it was.",
      remedy: "Keep the objects in a SQLite file, or in columns of their own.")
  }
}

extension PostgresConnection: HistoryConnection {
  /// - Throws: ``StoreError`` with the code `unsupported` if there is no history.
  private func recorded() throws(StoreError) -> ServerHistory {
    guard let history = store.history else { throw HistoryError.none(store.name) }
    return history
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

  package func position(of moment: HistoryMoment) throws -> HistoryPosition {
    let history = try recorded()
    switch moment {
    case .now: return try positions(" ORDER BY \"number\" DESC", history) ?? beginning(history)
    case .time(let time):
      // The times of transactions are nearly in the order of their numbers, but not quite.
      let condition =
        " AND \"number\" < coalesce((SELECT min(\"number\") FROM \(layout.names.history) WHERE \"time\" > "
        + "to_timestamp($2::float8 / 1000000)), 9223372036854775807) ORDER BY \"number\" DESC"
      if let found = try positions(condition, history, time) { return found }
      guard try deletedUpTo() == 0 else { throw HistoryError.expired(store.name) }
      return beginning(history)
    }
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

  package func versions(of entity: Int, key: Int64, _ body: (_ until: Int64?, RowReader) throws -> Void) throws {
    guard setup.model.entities.indices.contains(entity) else { throw RequestFault.unknown }
    throw HistoryError.noValues(setup.model.entities[entity].name, store.name)
  }

  package func deleteHistory(before position: HistoryPosition) throws -> Int {
    let history = try recorded()
    guard position.identity == history.identity else { throw HistoryError.other(store.name) }
    return try HistoryPurge(store.pool, layout.names, history).delete(before: position.number)
  }
}
