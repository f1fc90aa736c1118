import Synchronization
package import TrellisModel

/// The table and column names of each entity. Each database may have a subclass with what its statements read besides.
///
/// `@unchecked` is sound because all properties are constants of Sendable types, here and in subclasses.
package class TableLayout: @unchecked Sendable {
  package final let model: Model
  /// The tables, by entity number. The names of each are made when it is first used.
  package final let tables: LazyList<EntityTable>
  private final let order = AtomicLazyReference<InsertOrder>()
  /// Whether the names of tables stand for views of their former rows, which have no indexes and no order.
  package final let isPast: Bool
  /// The names of tables and columns in statements.
  package final let names: SQLNames
  package final let dialect: SQLDialect

  package init(_ model: Model, isPast: Bool = false, names: SQLNames, dialect: SQLDialect) {
    self.isPast = isPast
    self.model = model
    self.names = names
    self.dialect = dialect
    tables = LazyList(count: model.entities.count) { EntityTable(model.entities[$0], in: model, names) }
  }

  /// The insert rank of each entity: referenced rows have lower ranks, except in cycles.
  ///
  /// - Complexity: linear in the number of references on first use, then constant.
  package final var insertRanks: [Int] { (order.load() ?? order.storeIfNil(InsertOrder(model))).ranks }

  /// The relationship of a property number. Nil if there is none.
  package final func relationship(_ entity: Int, _ property: Int) -> Relationship? {
    guard model.entities.indices.contains(entity) else { return nil }
    let properties = model.entities[entity].properties
    return properties.indices.contains(property) ? properties[property].relationship : nil
  }

  /// The numbers of the columns for a mask's properties, in order. A reference's position column is included.
  package final func columns(of entity: Int, _ mask: ColumnMask) -> [Int] {
    model.entities[entity].columns.indices.filter { number in
      switch model.entities[entity].columns[number].content {
      case .attribute(let property), .order(let property): mask.contains(property)
      case .reference(let property, _): mask.contains(property)
      }
    }
  }

  /// The quoted name of an entity's column. Nil if there is none.
  package final func column(_ column: Int, of entity: Int) -> String? {
    let names = tables[entity].columns
    return names.indices.contains(column) ? names[column] : nil
  }
}

/// The part of a root entity's table that belongs to one entity.
///
/// This is a class, because every statement that runs passes it on.
package final class EntityTable: Sendable {
  package let entity: Int
  /// The quoted name of the table, which is the root entity's.
  package let name: String
  package let isInHierarchy: Bool
  /// The quoted names of the entity's columns, by column number.
  package let columns: [String]
  /// The columns to read for a row of the entity or of its subentities: the entity's columns, then those of the
  /// subentities.
  package let selectedColumns: [String]
  /// The positions of each subtree entity's columns in ``selectedColumns``.
  package let places: [Int: ContiguousArray<Int32>]
  /// The names of the subtree's entities, as the column ``SQLName/entity`` contains them.
  package let entityNames: [(name: String, number: Int)]
  /// The condition for rows of the subtree. Nil if the table has no other rows.
  package let subtreeTerm: (@Sendable (_ alias: String) -> String)?
  /// The condition for rows of exactly this entity. Nil if the table has no other rows.
  package let ownTerm: (@Sendable (_ alias: String) -> String)?

  init(_ entity: Entity, in model: Model, _ names: SQLNames) {
    self.entity = entity.index
    name = names.table(model.name(ofEntity: entity.root))
    isInHierarchy = entity.isInHierarchy
    columns = entity.columns.map { names.column($0.name) }
    (selectedColumns, places) = Self.selection(of: entity, columns, in: model, names)
    entityNames = entity.subtree.map { (model.name(ofEntity: $0), $0) }
    subtreeTerm = entity.parent == nil ? nil : Self.term(entity.subtree.map(model.name))
    ownTerm = entity.isInHierarchy ? Self.term([entity.name]) : nil
  }

  private static func selection(
    of entity: Entity, _ columns: [String], in model: Model, _ names: SQLNames
  ) -> (columns: [String], places: [Int: ContiguousArray<Int32>]) {
    // The entity's own columns are in order.
    guard entity.subtree.count > 1 else { return (columns, [:]) }
    var selected = columns
    var places: [Int: ContiguousArray<Int32>] = [:]
    var placeOfName: [String: Int32] = [:]
    for (place, column) in selected.enumerated() { placeOfName[column] = Int32(place) }
    for number in entity.subtree {
      let member = model.entities[number]
      var mine: ContiguousArray<Int32> = []
      for column in member.columns {
        let name = names.column(column.name)
        let place = placeOfName[name] ?? Int32(selected.count)
        if placeOfName.updateValue(place, forKey: name) == nil { selected.append(name) }
        mine.append(place)
      }
      places[number] = mine
    }
    return (selected, places)
  }

  private static func term(_ names: [String]) -> @Sendable (String) -> String {
    let literals = names.map(SQLName.literal)
    let test = literals.count == 1 ? " = \(literals[0])" : " IN (\(literals.separated(by: ", ")))"
    return { alias in "\(alias).\(SQLName.entity)\(test)" }
  }

  /// The columns to read for each row: the key, the row version, the entity (only in hierarchies), then the columns.
  package func selection(_ alias: String) -> String {
    var names = [SQLName.id, SQLName.version]
    if isInHierarchy { names.append(SQLName.entity) }
    names += selectedColumns
    return names.map { "\(alias).\($0)" }.separated(by: ", ")
  }

  /// The number of values before a row's own columns in ``selection(_:)``.
  package var leadingColumns: Int { isInHierarchy ? 3 : 2 }
}

// MARK: - Insert order

/// An insert order of entities in which referenced rows come first.
///
/// Foreign keys are deferred, so every order is correct. In this one each foreign key is fulfilled at once, so that
/// SQLite neither counts open ones nor searches for rows that wait for a new key.
private final class InsertOrder: Sendable {
  /// The rank of each entity, by its number. Rows with a lower rank are inserted first.
  let ranks: [Int]

  /// - Complexity: linear in the number of references.
  init(_ model: Model) {
    let roots = model.roots
    // References point to tables, so only root entities have an order.
    var targets = [[Int]](repeating: [], count: roots.count)
    model.forEachReference { entity, destination in
      if roots[entity] != roots[destination] { targets[roots[entity]].append(roots[destination]) }
    }
    var visit = InsertVisit(targets.map(\.sortedWithoutRepeats))
    for entity in roots.indices where roots[entity] == entity { visit.visit(entity) }
    ranks = roots.map { visit.ranks[$0] }
  }
}

private struct InsertVisit {
  private let targets: [[Int]]
  private(set) var ranks: [Int]

  init(_ targets: [[Int]]) {
    self.targets = targets
    ranks = Array(repeating: -1, count: targets.count)
  }

  /// Visits depth first with an explicit stack, because the depth of a model has no limit. An entity has a rank while
  /// it is visited, so a cycle is cut where it closes.
  mutating func visit(_ start: Int) {
    guard ranks[start] < 0 else { return }
    ranks[start] = 0
    var open: [(entity: Int, next: Int)] = [(start, 0)]
    while let (entity, next) = open.popLast() {
      guard next < targets[entity].count else {
        if let parent = open.last?.entity { ranks[parent] = max(ranks[parent], ranks[entity] + 1) }
        continue
      }
      open.append((entity, next + 1))
      let target = targets[entity][next]
      if ranks[target] < 0 {
        ranks[target] = 0
        open.append((target, 0))
      } else {
        let isOpen = open.contains { $0.entity == target }
        if !isOpen { ranks[entity] = max(ranks[entity], ranks[target] + 1) }
      }
    }
  }
}

// MARK: - SQL names

/// The names of a model's tables and columns in statements. They are always quoted.
package struct SQLNames: Sendable {
  /// What precedes the name of a table: a schema and a point, or nothing.
  package let qualifier: String
  /// The maximum number of bytes of a name. A longer one is cut and ends with a digest of the whole.
  private let limit: Int
  /// The names of columns that the store keeps for itself.
  private let reserved: Set<String>
  /// What statements read in the place of tables.
  private var shown: [String: String] = [:]

  /// The names as the model has them.
  package init() { self.init(qualifier: "", limit: .max, reserved: []) }

  package init(qualifier: String, limit: Int, reserved: Set<String>) {
    self.qualifier = qualifier
    self.limit = limit
    self.reserved = reserved
  }

  package func table(_ name: String) -> String {
    if !shown.isEmpty, let rows = shown[name] { return rows }
    return qualifier + identifier(name)
  }

  /// Names for statements that only read.
  ///
  /// - Parameter rows: what is read in the place of each table, a query in parentheses.
  package func showing(_ rows: [String: String]) -> SQLNames {
    var names = self
    names.shown = rows
    return names
  }

  package func column(_ name: String) -> String {
    identifier(reserved.contains(name) ? "_column.\(name)" : name)
  }

  /// A name without a schema, such as that of an index.
  package func identifier(_ name: String) -> String { SQLName.quoted(fitted(name)) }

  /// The name within the limit. Different names stay different, and the same name stays the same.
  package func fitted(_ name: String) -> String {
    guard name.utf8.count > limit else { return name }
    let ending = "." + ContentDigest(of: Array(name.utf8)).text.prefix(16)
    var start = ""
    for scalar in name.unicodeScalars {
      guard start.utf8.count + UTF8.width(scalar) + ending.utf8.count <= limit else { break }
      start.unicodeScalars.append(scalar)
    }
    return start + ending
  }
}

// MARK: - SQL name

/// Quotes names and texts of a model for SQL. Values are never inserted into SQL: they are bound.
package enum SQLName {
  /// A name in double quotes.
  package static func quoted(_ name: String) -> String { enclosed(name, "\"") }

  /// A text literal, for entity names, which are fixed by the model.
  package static func literal(_ text: String) -> String { enclosed(text, "'") }

  private static func enclosed(_ text: String, _ quote: Unicode.Scalar) -> String {
    let mark = String(quote)
    // Compares scalars: a quote followed by a combining mark is another character, but still ends a name in SQL.
    guard text.unicodeScalars.contains(quote) else { return mark + text + mark }
    var result = mark
    for scalar in text.unicodeScalars {
      if scalar == quote { result.unicodeScalars.append(scalar) }
      result.unicodeScalars.append(scalar)
    }
    return result + mark
  }

  /// The columns that every table has.
  package static let id = "\"_id\""
  package static let version = "\"_version\""
  package static let entity = "\"_entity\""
  /// The table with the metadata of the store.
  package static let metadata = "\"_trellis\""
  /// The table with the models that the store has had.
  package static let models = "\"_models\""
}

extension Collection<String> {
  /// The texts in one, with a separator between them. The function of the standard library is not specialized, and takes
  /// 0.3 million instructions when a process first calls it, to look up conformances.
  package func separated(by separator: String) -> String {
    var text = ""
    for (place, part) in enumerated() {
      if place > 0 { text += separator }
      text += part
    }
    return text
  }
}
