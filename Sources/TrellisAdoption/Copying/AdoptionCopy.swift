import TrellisModel
import TrellisStorage

/// Copies the rows of a database into a store, in two passes: the first one reads everything and finds what has no place,
/// and the second one writes.
final class AdoptionCopy {
  private let source: any AdoptionSource
  private let adopted: AdoptedModel
  private let model: Model
  private let allowsLoss: Bool
  private let progress: (Int) throws -> Void

  private(set) var report = AdoptionReport()
  /// The keys of the rows of each table that others refer to.
  private var keys: [String: RowKeys] = [:]
  /// The key of the first row of each entity.
  private var firstKeys: [Int64] = []
  private var nextKey: Int64 = 1
  /// The rows of each table that are left out.
  private var excluded: [String: Set<RowIdentity>] = [:]
  /// What is left out of rows that stay, because the values of a unique key are those of another row.
  private var lost: [String: [RowIdentity: Set<UniqueKeyCheck.Part>]] = [:]
  private var rowCount = 0

  init(
    _ source: any AdoptionSource, _ adopted: AdoptedModel, _ model: Model, allowsLoss: Bool,
    progress: @escaping (Int) throws -> Void
  ) {
    self.source = source
    self.adopted = adopted
    self.model = model
    self.allowsLoss = allowsLoss
    self.progress = progress
  }

  /// Counts a row, and tells the number after each thousand.
  private func step() throws {
    rowCount += 1
    if rowCount % 1_000 == 0 { try progress(rowCount) }
  }

  // MARK: Checking

  /// Reads all rows, and gives them keys.
  ///
  /// - Throws: ``AdoptionError`` if something has no place, and no consent was given.
  func check() throws {
    let referenced = Set(
      adopted.entities.flatMap { $0.references.map(\.key.target) }
        + adopted.joins.flatMap { [$0.owner.target, $0.member.target] })
    for number in adopted.entities.indices {
      try check(number, isReferenced: referenced.contains(adopted.entities[number].table))
    }
    for join in adopted.joins { try check(join) }
    if report.leftCount > 0, !allowsLoss {
      throw AdoptionError(
        .misfits,
        "\(source.place) has what the model has no place for:\n\(report.lines(1_000))\n",
        remedy: "Nothing was made. Correct it there, or allow that it is left out (--allow-loss, allowingLoss: true).")
    }
    try excludeDependents()
    rowCount = 0
  }

  private func check(_ number: Int, isReferenced: Bool) throws {
    let reader = EntityReader(adopted.entities[number], model.entities[number])
    var known = RowKeys()
    firstKeys.append(nextKey)
    var next = nextKey
    var incomplete: [RowIdentity] = []
    let entity = adopted.entities[number]
    var uniqueKeys = adopted.description.entities[number].uniqueKeys.compactMap { UniqueKeyCheck($0, of: entity) }
    try source.rows(reader.query) { row in
      for place in uniqueKeys.indices { uniqueKeys[place].look(at: row) }
      if isReferenced { known.append(row.identity, key: next) }
      next += 1
      let faults = reader.faults(of: row)
      if !faults.isEmpty {
        for fault in faults { report.add(reader.finding(fault, row, allowsLoss: allowsLoss)) }
        if faults.contains(where: \.isRequired) { incomplete.append(row.identity) }
      }
      try step()
    }
    nextKey = next
    if isReferenced { keys[reader.table] = known }
    if !incomplete.isEmpty { excluded[reader.table, default: []].formUnion(incomplete) }
    for key in uniqueKeys where key.isAtRisk { try compare(key, reader) }
  }

  /// Finds rows with values of a unique key that an earlier row has as well.
  private func compare(_ key: UniqueKeyCheck, _ reader: EntityReader) throws {
    // Hashes take less memory than values, and two that are equal are rare.
    var seen: Set<Int> = []
    var suspects: Set<Int> = []
    try source.rows(reader.query) { row in
      guard let values = values(of: key, reader, row), !seen.insert(values.hashValue).inserted else { return }
      suspects.insert(values.hashValue)
    }
    guard !suspects.isEmpty else { return }
    seen = []
    var holders: [[UniqueKeyCheck.Value]: RowIdentity] = [:]
    try source.rows(reader.query) { row in
      guard let values = values(of: key, reader, row), suspects.contains(values.hashValue) else { return }
      guard let holder = holders[values] else { return holders[values] = row.identity }
      report.add(reader.finding(key, row.identity, holder, allowsLoss: allowsLoss))
      if let part = key.optionalPart {
        lost[reader.table, default: [:]][row.identity, default: []].insert(part)
      } else {
        excluded[reader.table, default: []].insert(row.identity)
      }
    }
  }

  /// The values of a unique key that a row has in the copy.
  private func values(of key: UniqueKeyCheck, _ reader: EntityReader, _ row: SourceRow) -> [UniqueKeyCheck.Value]? {
    if excluded[reader.table]?.contains(row.identity) == true { return nil }
    if let lost = lost[reader.table]?[row.identity], key.parts.contains(where: lost.contains) { return nil }
    return reader.values(of: key, in: row)
  }

  private func check(_ join: AdoptedJoin) throws {
    try source.rows(Self.query(join)) { row in
      for (place, key) in [join.owner, join.member].enumerated() where row.targets[place] == nil {
        report.add(
          AdoptionFinding(
            table: join.table, row: row.identity.description, column: key.columns[0],
            message: "leads to no row of \(key.target)"))
      }
    }
  }

  private static func query(_ join: AdoptedJoin) -> RowQuery {
    RowQuery(join.table, references: [join.owner, join.member])
  }

  /// Leaves out the rows that require one that is left out, until none is left.
  private func excludeDependents() throws {
    guard !excluded.isEmpty else { return }
    var isChanged = true
    while isChanged {
      isChanged = false
      for entity in adopted.entities {
        for reference in entity.references where reference.isRequired {
          guard excluded[reference.key.target] != nil else { continue }
          try source.rows(RowQuery(entity.table, references: [reference.key])) { row in
            guard let target = row.targets[0], excluded[reference.key.target]?.contains(target) == true,
              excluded[entity.table, default: []].insert(row.identity).inserted
            else { return }
            isChanged = true
            report.add(
              AdoptionFinding(
                table: entity.table, row: row.identity.description, column: nil,
                message: "requires a row of \(reference.key.target) that is left out"))
          }
        }
      }
    }
  }

  // MARK: Writing

  /// Writes all rows that are not left out.
  ///
  /// - Throws: ``AdoptionError``; ``StoreError``; errors of `progress`.
  func write(to writer: any BulkWriter) throws {
    for number in adopted.entities.indices { try write(number, to: writer) }
    for join in adopted.joins { try write(join, to: writer) }
    try progress(rowCount)
  }

  private func write(_ number: Int, to writer: any BulkWriter) throws {
    let reader = EntityReader(adopted.entities[number], model.entities[number])
    let values = ValueReader()
    let gone = excluded[reader.table] ?? []
    var next = firstKeys[number]
    var written = 0
    try source.rows(reader.query) { row in
      defer { next += 1 }
      if gone.contains(row.identity) { return }
      let stored = reader.stored(row, without: lost[reader.table]?[row.identity] ?? []) { place, goal in
        target(reader.references[place], goal, row, of: reader.table)
      }
      values.show(key: next, version: 1, entity: number, values: stored)
      try writer.add(values)
      written += 1
      try step()
    }
    report.rows.append(
      AdoptionReport.RowCount(entity: adopted.entities[number].name, table: reader.table, rows: written))
  }

  /// The key of the object that a reference leads to. A reference to a row that is left out is nil, and is reported.
  private func target(
    _ reference: AdoptedEntity.Reference, _ target: RowIdentity, _ row: SourceRow, of table: String
  ) -> StoredValue {
    guard excluded[reference.key.target]?.contains(target) != true else {
      report.add(
        AdoptionFinding(
          table: table, row: row.identity.description, column: reference.key.columns.joined(separator: ", "),
          message: "leads to a row of \(reference.key.target) that is left out"))
      return .null
    }
    return keys[reference.key.target]?.key(of: target).map { .integer($0) } ?? .null
  }

  private func write(_ join: AdoptedJoin, to writer: any BulkWriter) throws {
    guard let entity = model.entities.first(where: { $0.name == join.entity }),
      let relationship = entity.property(named: join.relationship)?.relationship,
      case .joinTable(let table, let isFirst) = relationship.home
    else { return }
    try source.rows(Self.query(join)) { row in
      guard let owner = key(join.owner, row.targets[0]), let member = key(join.member, row.targets[1]) else {
        return
      }
      try writer.add(
        SaveRequest.Pairs.Pair(first: isFirst ? owner : member, partner: isFirst ? member : owner), to: table)
      report.pairs += 1
      try step()
    }
  }

  private func key(_ reference: SourceForeignKey, _ target: RowIdentity?) -> Int64? {
    guard let target, excluded[reference.target]?.contains(target) != true else { return nil }
    return keys[reference.target]?.key(of: target)
  }
}
