import TrellisForeignFiles
import TrellisModel
import TrellisStorage

/// Writes the rows of a planned copy, entity by entity.
struct RowCopy {
  private let plan: CopyPlan
  private let writer: any BulkWriter
  private let progress: (Int) throws -> Void
  private let reader = ValueReader()
  private let blobs: ExternalBlobs
  private let memberCounts: MemberCounts
  /// The number of copied rows of each entity.
  private(set) var counts: [Int]
  private var total = 0

  /// - Parameter progress: receives the number of written rows, after each thousand.
  init(
    _ plan: CopyPlan, to writer: any BulkWriter, counting memberCounts: MemberCounts,
    progress: @escaping (Int) throws -> Void
  ) {
    self.plan = plan
    self.writer = writer
    self.memberCounts = memberCounts
    self.progress = progress
    blobs = ExternalBlobs(besides: plan.file.url)
    counts = Array(repeating: 0, count: plan.model.entities.count)
  }

  /// - Throws: ``CoreDataError``; ``StoreError``; errors of `progress`.
  /// - Complexity: linear in the rows of a hierarchy, times its entities.
  mutating func run() throws {
    for entity in plan.model.entities where !entity.isAbstract { try copyRows(of: entity) }
  }

  /// Where the value of a column comes from.
  private enum Source {
    case attribute(Int, ValueDecoder, CheckedAttribute?, name: String)
    /// A reference that is looked up when it is read.
    case reference(Int, Relationship, name: String)
    /// A reference that was settled before.
    case settled([Int32], root: Int, name: String)
    /// The position among the members of a partner, by the place of the row.
    case order([Int64])
    /// The presence of a composite that may be nil: it has a value if one of these columns of its fields has one.
    case presence([Int])
    case null
  }

  private mutating func copyRows(of entity: Entity) throws {
    guard let index = plan.rows[entity.root], let table = index.table,
      let number = plan.layout.entities[entity.index].number
    else { return }
    let columns = try plan.file.columns(of: table)
    guard let key = columns["Z_PK"], let entityColumn = columns["Z_ENT"] else { return }
    var selected = [key, columns["Z_OPT"]].map { $0.map(SQLName.quoted) ?? "1" }
    var sources: [Source] = []
    for column in entity.columns { sources.append(try source(of: column, in: entity, &selected)) }
    let groups = groups(of: entity, sources)
    for group in groups { if let place = group.presence { sources[place] = .presence(group.columns) } }
    /// For each column, those of the innermost composite that may be nil and has it as a field.
    let around = sources.indices.map { place in groups.last { $0.fields.contains(place) }?.columns }
    let references = self.references(of: entity)
    let overrides = plan.overrides[entity.root] ?? [:]
    let name = plan.sourceName(entity.index)
    var last: Int64?
    try plan.file.rows(
      "SELECT \(selected.joined(separator: ", ")) FROM \(SQLName.quoted(table)) "
        + "WHERE \(SQLName.quoted(entityColumn)) = ?1 ORDER BY \(SQLName.quoted(key))", [number]
    ) { row in
      // A key that comes again is told by the plan.
      guard let primaryKey = row.integer(0), primaryKey != last, let place = index.place(of: primaryKey),
        Int(index.entities[place]) == entity.index
      else { return }
      last = primaryKey
      var values: [StoredValue] = []
      values.reserveCapacity(sources.count)
      for (source, group) in zip(sources, around) {
        let isAbsent = group.map { $0.allSatisfy(row.isNull) } ?? false
        values.append(isAbsent ? .null : value(source, row, place, primaryKey, name))
      }
      for (column, value) in overrides[place] ?? [:] where values.indices.contains(column) { values[column] = value }
      for reference in references {
        if case .integer(let owner) = values[reference.column] {
          if let relationship = reference.counted { memberCounts.add(to: owner, of: relationship) }
        } else if let order = reference.order {
          values[order] = .null
        }
      }
      // Core Data counts from 1 as well.
      let version = max(1, row.integer(1) ?? 1)
      reader.show(key: index.keys[place], version: version, entity: entity.index, values: values)
      try writer.add(reader)
      counts[entity.index] += 1
      total += 1
      if total % 1_000 == 0 { try progress(total) }
    }
  }

  /// The composites of an entity that may be nil, outer ones first: the columns of the presence and of the fields, and the
  /// columns of the store with the fields' values. Core Data has no presence of its own.
  private func groups(
    of entity: Entity, _ sources: [Source]
  ) -> [(presence: Int?, fields: Set<Int>, columns: [Int])] {
    entity.optionalGroups.map { group in
      let fields = group.fields.compactMap { entity.properties[$0].column }
      let columns = fields.compactMap {
        if case .attribute(let column, _, _, name: _) = sources[$0] { column } else { nil }
      }
      return (entity.properties[group.presence].column, Set(fields), columns)
    }
  }

  /// A column with a reference, and what depends on whether there is one.
  private struct ReferenceColumn {
    let column: Int
    /// The column with the position among the partner's members.
    let order: Int?
    /// The to-many of the partner, if its members are counted.
    let counted: RelationshipNumber?
  }

  private func references(of entity: Entity) -> [ReferenceColumn] {
    entity.columns.enumerated().compactMap { place, column in
      guard case .reference(let number, _) = column.content, let relationship = entity.properties[number].relationship
      else { return nil }
      let order = entity.columns.firstIndex { if case .order(number) = $0.content { true } else { false } }
      let inverse = plan.model.inverse(of: relationship).flatMap { $0.isToMany && $0.isCounted ? $0.number : nil }
      return order == nil && inverse == nil ? nil : ReferenceColumn(column: place, order: order, counted: inverse)
    }
  }

  private func source(of column: Column, in entity: Entity, _ selected: inout [String]) throws -> Source {
    switch column.content {
    case .attribute(let number):
      guard let attribute = entity.properties[number].attribute, let source = plan.source(of: attribute) else {
        return .null
      }
      selected.append(source.column.map(SQLName.quoted) ?? "NULL")
      return .attribute(
        selected.count - 1, ValueDecoder(source.attribute, blobs), CheckedAttribute(attribute),
        name: source.attribute.path.joined(separator: "."))
    case .reference(let number, _):
      guard let relationship = entity.properties[number].relationship else { return .null }
      if let settled = plan.references[relationship.number] {
        return .settled(
          settled, root: plan.model.entities[relationship.destination].root, name: plan.sourceName(of: relationship))
      }
      guard case .column(let column, _) = plan.place(of: relationship) else { return .null }
      selected.append(SQLName.quoted(column))
      return .reference(selected.count - 1, relationship, name: plan.sourceName(of: relationship))
    case .order(let number):
      guard let relationship = entity.properties[number].relationship,
        case .column(let column, let order) = plan.place(of: relationship)
      else { return .null }
      return .order(try positions(column, order, root: entity.root))
    }
  }

  /// The position of each row among the members of its partner, in the order that the store has. Rows without one
  /// follow the others.
  private func positions(_ column: String, _ order: String?, root: Int) throws -> [Int64] {
    guard let index = plan.rows[root], let table = index.table, let key = try plan.file.columns(of: table)["Z_PK"]
    else {
      return []
    }
    var positions = [Int64](repeating: 0, count: index.count)
    let (pk, reference) = (SQLName.quoted(key), SQLName.quoted(column))
    let place = order.map(SQLName.quoted) ?? "NULL"
    var (owner, last): (Int64?, Int64) = (nil, 0)
    try plan.file.rows(
      "SELECT \(pk), \(reference) FROM \(SQLName.quoted(table)) WHERE \(reference) IS NOT NULL "
        + "ORDER BY \(reference), \(place) IS NULL, \(place), \(pk)"
    ) { row in
      guard let primaryKey = row.integer(0), let member = index.place(of: primaryKey) else { return }
      if row.integer(1) != owner { (owner, last) = (row.integer(1), 0) }
      last += Self.gap
      positions[member] = last
    }
    return positions
  }

  /// The distance between positions, which leaves room for insertions.
  static let gap: Int64 = 1024

  // MARK: Values

  private static let dangling = "leads to a row that is not there, and is nil"

  private func value(
    _ source: Source, _ row: ForeignRow, _ place: Int, _ primaryKey: Int64, _ entity: String
  ) -> StoredValue {
    switch source {
    case .null: return .null
    case .presence(let columns): return columns.allSatisfy(row.isNull) ? .null : .integer(1)
    case .attribute(let column, let decoder, let rules, let name):
      let result = decoder.decode(row.value(column))
      for finding in result.findings {
        plan.findings.note(finding.outcome, entity, name, finding.message, key: primaryKey)
      }
      for failure in rules?.failures(of: result.value) ?? [] {
        plan.findings.note(.kept, entity, name, "breaks a rule: it \(failure.message)", key: primaryKey)
      }
      return result.value
    case .settled(let targets, let root, let name):
      guard targets.indices.contains(place), targets[place] >= 0, let index = plan.rows[root] else { return .null }
      guard index.isIncluded(Int(targets[place])) else {
        plan.findings.note(.repaired, entity, name, Self.dangling, key: primaryKey)
        return .null
      }
      return .integer(index.keys[Int(targets[place])])
    case .order(let positions):
      return positions.indices.contains(place) && positions[place] > 0 ? .integer(positions[place]) : .null
    case .reference(let column, let relationship, let name):
      if row.isNull(column) { return .null }
      let targets = plan.rows[plan.model.entities[relationship.destination].root]
      guard let targets, let target = row.integer(column).flatMap({ targets.place(of: $0) }),
        targets.isIncluded(target),
        plan.model.isEntity(Int(targets.entities[target]), within: relationship.destination)
      else {
        plan.findings.note(.repaired, entity, name, Self.dangling, key: primaryKey)
        return .null
      }
      return .integer(targets.keys[target])
    }
  }
}
