import CSQLite
import TrellisModel

@testable import TrellisStorage

/// What a store holds, by names.
struct StoreContents: Equatable {
  struct Row: Equatable {
    var entity: String
    var version: Int64
    /// By the name of the attribute.
    var values: [String: StoredValue]
  }

  private(set) var rows: [Int64: Row] = [:]
  /// The pairs of each link, by its first end as `Entry.tags`.
  private(set) var links: [String: Set<PlainPair>] = [:]

  static func name(_ relationship: Relationship, _ model: Model) -> String {
    "\(model.entities[relationship.entity].name).\(relationship.name)"
  }

  init(_ model: Model) {
    for entity in model.entities {
      for case .relationship(let end) in entity.properties where end.entity == entity.index {
        switch end.home {
        case .column, .joinTable(_, isFirst: true): links[Self.name(end, model)] = []
        case .inverseColumn, .joinTable, .transient: break
        }
      }
    }
  }

  mutating func add(_ key: Int64, _ version: Int64, _ entity: Entity, _ values: [StoredValue], _ model: Model) {
    var row = Row(entity: entity.name, version: version, values: [:])
    for property in entity.properties {
      switch property {
      case .attribute(let attribute):
        if let column = attribute.column { row.values[attribute.name] = values[column].inMemory }
      case .relationship(let relationship):
        guard case .column(let column, let order) = relationship.home else { continue }
        let place: Int64? = if let order, case .integer(let place) = values[order] { place } else { nil }
        if case .integer(let partner) = values[column] {
          links[Self.name(relationship, model), default: []].insert(PlainPair(key, partner, inverse: place))
        } else if place != nil {
          links[Self.name(relationship, model), default: []].insert(PlainPair(key, 0, inverse: place))
        }
      }
    }
    rows[key] = row
  }

  mutating func add(_ pair: PlainPair, of table: JoinTable, _ model: Model) {
    let end = model.entities[table.first.entity].properties[table.first.property]
    if let end = end.relationship { links[Self.name(end, model), default: []].insert(pair) }
  }

  mutating func change(_ key: Int64, _ body: (inout Row) -> Void) {
    if var row = rows[key] {
      body(&row)
      rows[key] = row
    }
  }

  /// Takes over what a model has of the contents of another one.
  mutating func copy(_ other: StoreContents, _ model: Model) {
    for (key, row) in other.rows {
      guard let entity = model.entity(named: row.entity) else { continue }
      let names = Set(entity.properties.map(\.name))
      rows[key] = Row(
        entity: row.entity, version: row.version, values: row.values.filter { names.contains($0.key) })
    }
    for name in links.keys { links[name] = other.links[name] }
  }

  // MARK: Memory

  init(_ state: MemoryState, _ model: Model) {
    self.init(model)
    for table in state.tables {
      table.forEach { _, row in
        add(row.key, row.version, model.entities[row.entity], row.values, model)
        return true
      }
    }
    for table in model.joinTables {
      state.forward[table.index].links.forEach { link, place in
        let inverse = state.backward[table.index].place(link.to, link.from)
        add(PlainPair(link.from, link.to, place: place, inverse: inverse), of: table, model)
        return true
      }
    }
  }

  // MARK: Stores

  /// - Parameter pairs: reads the pairs of a join table.
  init(_ store: any Store, _ model: Model, pairs: (JoinTable) throws -> [PlainPair]) throws {
    self.init(model)
    let connection = try store.connect()
    for root in model.entities where root.parent == nil {
      try connection.fetch(StoreRequest(entity: root.index)) { row in
        let entity = model.entities[row.entity]
        let values = entity.columns.enumerated().map { row.value($0, $1.storageClass) }
        add(row.key, row.version, entity, values, model)
      }
    }
    for table in model.joinTables {
      for pair in try pairs(table) { add(pair, of: table, model) }
    }
  }
}

extension StoredValue {
  /// Data of a file as bytes.
  fileprivate var inMemory: StoredValue {
    guard case .file(let file) = self else { return self }
    guard let bytes = try? file.origin?.bytes(of: file) else { return .text("missing file") }
    return .blob(bytes)
  }
}

extension Database {
  func pairs(of table: JoinTable) throws -> [PlainPair] {
    let places = [table.first.orderColumn, table.second?.orderColumn].map { $0.map(SQLName.quoted) ?? "NULL" }
    let columns = [table.first.column, table.partnerColumn].map(SQLName.quoted) + places
    return try numbers("SELECT \(columns.joined(separator: ", ")) FROM \(SQLName.quoted(table.name))", 4).map {
      PlainPair($0[0] ?? 0, $0[1] ?? 0, place: $0[2], inverse: $0[3])
    }
  }

  /// The integers of every row of an answer.
  func numbers(_ question: String, _ count: Int) throws -> [[Int64?]] {
    try texts(question, count).map { $0.map { $0.flatMap(Int64.init) } }
  }

  /// The texts of every row of an answer.
  func texts(_ question: String, _ count: Int) throws -> [[String?]] {
    let statement = try prepare(question)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var rows: [[String?]] = []
    while try step(statement.pointer, doing: "read") {
      rows.append((0..<count).map { text(of: statement.pointer, Int32($0)) })
    }
    return rows
  }
}
