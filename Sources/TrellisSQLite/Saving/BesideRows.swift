internal import CSQLite
import TrellisSQL
import TrellisStorage

/// Join table rows, positions and cleared references: changes that do not change a row's version.
extension SQLiteConnection {
  func write(_ pairs: SaveRequest.Pairs) throws {
    guard layout.model.joinTables.indices.contains(pairs.table) else { throw PlanError.unknownEntity }
    let table = layout.model.joinTables[pairs.table]
    let texts = PairStatements(table)
    let entity = table.first.entity
    let removal = try statement(.deletePair, pairs.table) { texts.delete }
    for pair in pairs.removed {
      try writeRow(removal, entity: entity, values: 2) { Self.writeKeys(pair, to: $0) }
    }
    let count = Int32(2 + (texts.hasPlace ? 1 : 0) + (texts.hasInversePlace ? 1 : 0))
    let addition = try statement(.insertPair, pairs.table) { texts.insert }
    for pair in pairs.added {
      try writeRow(addition, entity: entity, values: count) { row in
        Self.writeKeys(pair, to: row)
        Self.writePlaces(pair, texts, to: row)
      }
    }
    if !pairs.moved.isEmpty, let text = texts.move {
      let move = try statement(.movePair, pairs.table) { text }
      for pair in pairs.moved {
        try writeRow(move, entity: entity, values: count) { row in
          Self.writePlaces(pair, texts, to: row)
          Self.writeKeys(pair, to: row)
        }
      }
    }
    database.statistics.run += pairs.removed.count + pairs.added.count + pairs.moved.count
  }

  private static func writeKeys(_ pair: SaveRequest.Pairs.Pair, to row: SQLiteRowWriter) {
    row.integer(pair.first)
    row.integer(pair.partner)
  }

  private static func writePlaces(
    _ pair: SaveRequest.Pairs.Pair, _ texts: PairStatements, to row: SQLiteRowWriter
  ) {
    if texts.hasPlace { row.write(pair.place.map { .integer($0) } ?? .null) }
    if texts.hasInversePlace { row.write(pair.inversePlace.map { .integer($0) } ?? .null) }
  }

  func write(_ places: SaveRequest.Places) throws {
    guard layout.tables.indices.contains(places.entity) else { throw PlanError.unknownEntity }
    let statement = try statement(.place, places.entity, UInt64(truncatingIfNeeded: places.column)) {
      layout.placeStatement(places.entity, column: places.column)
    }
    database.statistics.run += places.keys.count
    for (key, place) in zip(places.keys, places.places) {
      try writeRow(statement, entity: places.entity, values: 2) { row in
        row.integer(place)
        row.integer(key)
      }
    }
  }

  func write(_ references: SaveRequest.ClearedReferences) throws {
    let relationship = references.relationship
    guard layout.tables.indices.contains(relationship.entity) else { throw PlanError.unknownEntity }
    let statement = try statement(.clear, relationship.entity, UInt64(truncatingIfNeeded: relationship.property)) {
      layout.clearStatement(relationship)
    }
    try withKeys(references.targets, statement) {
      _ = try run(statement) { try database.step($0, doing: "clear references") }
    }
  }
}
