import TrellisModel
public import TrellisStorage

/// A row as it was in a former version of the model. It is read-only, and has the values of all attributes, also of
/// inherited ones; relationships are read when they are used.
public protocol FormerRow {
  /// The version of the model.
  associatedtype Version: FormerVersion
  /// The number of the entity in the version's model.
  @_spi(Generated) static var _entity: Int { get }
  /// Reads the values of a row.
  @_spi(Generated) init(_ row: borrowing RowReader, _ place: FormerPlace)
  /// Where the row is.
  @_spi(Generated) var _place: FormerPlace { get }
}

extension FormerRow {
  /// The key, which today's object of the row has, too.
  public var key: Int64 { _place.key }

  /// The name of the row's own entity, which may be a descendant of the one that was asked for.
  public var entityName: String { _place.batch.rows.model.entities[_place.entity].name }

  /// The row with the values of a descendant entity; nil if it is no row of it.
  ///
  /// - Throws: ``StoreError``.
  public func cast<Other: FormerRow>(to type: Other.Type) throws -> Other? where Other.Version == Version {
    let rows = _place.batch.rows
    guard rows.model.isEntity(_place.entity, within: type._entity) else { return nil }
    return try rows.rows(type, keys: [key]).first
  }
}

/// The place of a former row, by which its relationships are read.
@_spi(Generated) public struct FormerPlace {
  let key: Int64
  let entity: Int
  let batch: FormerBatch

  /// The partner in a to-one relationship.
  ///
  /// - Throws: ``StoreError``.
  public func one<Row: FormerRow>(_ property: Int, of entity: Int) throws -> Row? {
    try batch.partners(property, of: entity, as: Row.self)[key]?.first
  }

  /// The members of a to-many relationship, in their order.
  ///
  /// - Throws: ``StoreError``.
  public func many<Row: FormerRow>(_ property: Int, of entity: Int) throws -> [Row] {
    try batch.partners(property, of: entity, as: Row.self)[key] ?? []
  }

  /// The data of an attribute with `externalStorage`.
  ///
  /// - Throws: ``StoreError`` if its file cannot be read.
  public func load(_ value: ExternalData?) throws -> [UInt8]? {
    guard let value else { return nil }
    switch value.place {
    case .memory(let data): return [UInt8](data)
    case .file(let file):
      guard let origin = file.origin else {
        throw StoreError(
          .missingFile, "The data of a former row is in a file, and its folder is missing.",
          remedy: "Restore the folder of external data from a backup.")
      }
      return try origin.bytes(of: file)
    }
  }
}

// MARK: - Former batch

/// Rows that are read together. The partners of all of them are read when those of the first one are needed.
final class FormerBatch {
  let rows: FormerRows
  var keys: [Int64] = []
  private var partners: [RelationshipNumber: Any] = [:]

  init(_ rows: FormerRows) { self.rows = rows }

  func partners<Row: FormerRow>(_ property: Int, of entity: Int, as type: Row.Type) throws -> [Int64: [Row]] {
    let number = RelationshipNumber(entity: entity, property: property)
    if let known = partners[number] as? [Int64: [Row]] { return known }
    let read = try rows.partners(number, of: keys, as: type)
    partners[number] = read
    return read
  }
}

// MARK: - Former rows

/// Reads the rows of a store with a former model.
final class FormerRows {
  let model: Model
  private let store: any Store
  /// The number of rows that are in memory at a time.
  static let batchSize = 500

  init(_ store: any Store, _ model: Model) {
    self.store = store
    self.model = model
  }

  func count(_ entity: Int) throws -> Int { try store.connect().count(StoreRequest(entity: entity)) }

  /// Reads all rows of an entity and its descendants, by key.
  func forEachBatch<Row: FormerRow>(_ type: Row.Type, _ body: ([Row]) throws -> Void) throws {
    var batch = FormerBatch(self)
    var read: [Row] = []
    // The rows do not change meanwhile, because the migration has the write lock. What `body` reads needs another
    // connection.
    try store.connect().fetch(StoreRequest(entity: type._entity)) { row in
      read.append(try self.row(row, in: batch))
      guard read.count == Self.batchSize else { return }
      try body(read)
      read = []
      batch = FormerBatch(self)
    }
    if !read.isEmpty { try body(read) }
  }

  func rows<Row: FormerRow>(_ type: Row.Type, keys: [Int64]) throws -> [Row] {
    let batch = FormerBatch(self)
    var read: [Row] = []
    try store.connect().rows(of: type._entity, keys: keys) { read.append(try row($0, in: batch)) }
    return read
  }

  private func row<Row: FormerRow>(_ reader: RowReader, in batch: FormerBatch) throws -> Row {
    reader.problem = nil
    let row = Row(reader, FormerPlace(key: reader.key, entity: reader.entity, batch: batch))
    if let problem = reader.problem { throw unreadable(problem) }
    batch.keys.append(reader.key)
    return row
  }

  /// The partners of each owner.
  func partners<Row: FormerRow>(
    _ number: RelationshipNumber, of owners: [Int64], as type: Row.Type
  ) throws -> [Int64: [Row]] {
    guard let relationship = model.relationship(number) else { return [:] }
    let batch = FormerBatch(self)
    var found: [Int64: [Row]] = [:]
    guard case .column = relationship.home, !relationship.isOwnInverse else {
      try store.connect().members(of: number, owners: owners) { owner, row in
        found[owner, default: []].append(try self.row(row, in: batch))
      }
      return found
    }
    let path = PropertyPath(variable: 0).appending(number.property)
    let request = StoreRequest(
      entity: number.entity,
      predicate: .isIn(.path(PropertyPath(variable: 0)), owners.map { .integer($0) }, .integer))
    var references: [(owner: Int64, partner: Int64)] = []
    try store.connect().fetchValues(
      request, of: [ProjectedValue(PropertyPath(variable: 0), kind: .integer), ProjectedValue(path, kind: .integer)]
    ) { values in
      if case .integer(let owner) = values[0], case .integer(let partner) = values[1] {
        references.append((owner, partner))
      }
    }
    var rows: [Int64: Row] = [:]
    try store.connect().rows(of: relationship.destination, keys: Array(Set(references.map(\.partner)))) { row in
      rows[row.key] = try self.row(row, in: batch)
    }
    for (owner, partner) in references { if let row = rows[partner] { found[owner] = [row] } }
    return found
  }

  private func unreadable(_ problem: RowProblem) -> StoreError {
    let entity = model.entities.indices.contains(problem.entity) ? model.entities[problem.entity] : nil
    let columns = entity?.columns ?? []
    let column = columns.indices.contains(problem.column) ? ".\(columns[problem.column].name)" : ""
    return StoreError(
      .unreadableValue,
      "The row \(problem.key) of \(entity?.name ?? "the store")\(column) cannot be read: \(problem.what).",
      remedy: problem.remedy ?? "Restore the store from a backup, or repair the row with another tool.",
      entity: entity?.name)
  }
}
