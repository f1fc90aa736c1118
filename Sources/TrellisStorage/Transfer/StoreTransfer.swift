package import TrellisModel

/// Receives the rows and pairs of another store as they are: with their keys, versions and positions.
package protocol BulkWriter: AnyObject {
  /// Adds a row. Rows come in any order: a row may refer to one that comes later.
  ///
  /// - Throws: ``StoreError`` if the row has a value that cannot be read or stored, or a key that another row has.
  func add(_ row: RowReader) throws
  /// Adds a row of a join table.
  ///
  /// - Throws: ``StoreError``.
  func add(_ pair: SaveRequest.Pairs.Pair, to table: Int) throws
}

/// A connection whose rows can be copied to another store as they are.
package protocol TransferSource: StoreConnection {
  /// Reads all rows of a join table, ordered by both keys.
  ///
  /// - Throws: ``StoreError``, or errors of `body`.
  func pairs(of table: Int, _ body: (SaveRequest.Pairs.Pair) throws -> Void) throws
  /// What the store notes besides its rows.
  ///
  /// - Throws: ``StoreError``.
  func lineage() throws -> StoreLineage
}

extension TransferSource {
  /// Passes all rows and pairs to a writer, entity by entity in the order of the model, and the rows of an entity in the
  /// order of their keys. A caller that wants the contents of one moment pins the connection.
  ///
  /// - Parameter progress: receives the number of rows and pairs that were passed, after each thousand and at the end.
  /// - Throws: ``StoreError``, or errors of the writer.
  /// - Complexity: linear in the number of rows and pairs. One row is in memory at a time.
  package func transfer(
    _ model: Model, to writer: any BulkWriter, progress: (_ count: Int) -> Void = { _ in }
  ) throws {
    var count = 0
    func step() {
      count += 1
      if count % 1_000 == 0 { progress(count) }
    }
    for root in model.entities where root.parent == nil {
      try fetch(StoreRequest(entity: root.index)) { row in
        try writer.add(row)
        step()
      }
    }
    for table in model.joinTables {
      try pairs(of: table.index) { pair in
        try writer.add(pair, to: table.index)
        step()
      }
    }
    progress(count)
  }
}

/// What a store notes besides its rows.
package struct StoreLineage: Sendable {
  /// A number above every key that a row has or had.
  package var nextKey: Int64
  /// The models that the store had before its current one, the oldest first.
  package var former: [FormerModel]

  /// A model that the store had.
  package struct FormerModel: Hashable, Sendable {
    package var checksum: String
    package var version: String?
    /// The moment when the next model replaced it, in microseconds since 1970; nil if it is not known.
    package var replaced: Int64?
    /// The description as a text of JSON.
    package var json: String

    package init(checksum: String, version: String?, replaced: Int64?, json: String) {
      self.checksum = checksum
      self.version = version
      self.replaced = replaced
      self.json = json
    }
  }

  package init(nextKey: Int64, former: [FormerModel] = []) {
    self.nextKey = nextKey
    self.former = former
  }
}

extension RowReader {
  /// Writes the values of all columns, in order.
  ///
  /// - Parameter entity: the entity of the row.
  package final func write(_ entity: Entity, to writer: RowWriter) {
    for (number, column) in entity.columns.enumerated() {
      guard !isNull(number) else {
        writer.null()
        continue
      }
      switch column.storageClass {
      case .integer: writer.integer(integer(number))
      case .real: writer.real(real(number))
      case .text: writer.text(text(number))
      case .blob:
        if entity.isExternal(column) { writer.external(external(number)) } else { writer.blob(bytes(number)) }
      }
    }
  }

  /// The first value that could not be read, as an error.
  package final func unreadableValue(in model: Model, of store: String) -> StoreError? {
    guard let problem, model.entities.indices.contains(problem.entity) else { return nil }
    let entity = model.entities[problem.entity]
    guard entity.columns.indices.contains(problem.column) else { return nil }
    let name = entity.properties[entity.columns[problem.column].property].name
    return StoreError(
      .unreadableValue, "\(store) has an unreadable value in \(entity.name)#\(problem.key).\(name): \(problem.what).",
      remedy: problem.remedy ?? "Set the value again with another tool, or restore the file from a backup.",
      entity: entity.name, properties: [name])
  }
}
