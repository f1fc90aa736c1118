import TrellisModel
import TrellisStorage

/// Reads tables of a store into memory.
struct StateReading {
  private let connection: ServerConnection
  private let setup: PostgresSetup
  private let layout: Layout
  private let check: () throws(StoreError) -> Void
  private(set) var state: MemoryState
  /// The number of rows and pairs that were read.
  private(set) var count = 0

  /// - Parameters:
  ///   - setup: the tables of the model that the store has.
  ///   - check: called again and again, to end the reading.
  init(_ connection: ServerConnection, _ setup: PostgresSetup, check: @escaping () throws(StoreError) -> Void) {
    self.connection = connection
    self.setup = setup
    self.check = check
    layout = Layout(setup.model)
    state = MemoryState(layout)
  }

  var snapshot: Snapshot { Snapshot(state, layout) }

  private mutating func note() throws(StoreError) {
    count += 1
    if count % 1_000 == 0 { try check() }
  }

  /// Reads the rows of a root entity and of its descendants.
  mutating func read(_ root: Entity) throws {
    let table = setup.layout.tables[root.index]
    let statement = ServerStatement("SELECT \(table.selection("t")) FROM \(table.name) AS t")
    var reader: ServerRowReader?
    try connection.stream(statement) { try add($0, of: table, &reader) }
  }

  /// - Parameter reader: that of the results before this one.
  mutating func add(_ result: ServerResult, of table: EntityTable, _ reader: inout ServerRowReader?) throws {
    let shown = reader ?? ServerRowReader(result, table, store: setup.name)
    reader = shown
    for row in 0..<result.count {
      try shown.show(result, row)
      let entity = setup.model.entities[shown.entity]
      let values = entity.columns.enumerated().map { shown.value($0, $1.storageClass) }
      if let problem = shown.problem {
        throw StoreError(
          .unreadableValue, "A value of \(entity.name)/\(shown.key) in \(setup.name): \(problem.what).",
          remedy: problem.remedy ?? "Repair the row with another tool.")
      }
      state.replace(
        nil, by: MemoryRow(key: shown.key, version: shown.version, entity: shown.entity, values: values), layout)
      try note()
    }
  }

  /// Reads the pairs of a join table.
  mutating func read(_ table: JoinTable) throws {
    try connection.stream(ServerStatement(setup.schema.pairs(of: table))) { result in
      for row in 0..<result.count {
        let pair = SaveRequest.Pairs.Pair(result, row)
        state.setPair(
          table.index, first: pair.first, partner: pair.partner, place: pair.place, inversePlace: pair.inversePlace)
        try note()
      }
    }
  }
}
