import TrellisModel
import TrellisStorage

/// What a copy knows of the rows before it writes the first one: which rows are copied, with which keys, and those of
/// their references and values that differ from what the store has.
///
/// References to rows that do not exist and to-ones of two sides that contradict each other must be settled first,
/// because a row without a required partner is left out, and so are those that require it.
struct CopyPlan {
  let file: StoreFile
  let translation: ModelTranslation
  let layout: StoreLayout
  let model: Model
  let findings: FindingCollector
  /// The rows, by the number of the root entity.
  private(set) var rows: [Int: RowIndex] = [:]
  /// The settled references, by relationship: for each row of the hierarchy the place of its partner, or -1.
  private(set) var references: [RelationshipNumber: [Int32]] = [:]
  /// The values that differ from those of the store, by root entity, place of the row and column.
  private(set) var overrides: [Int: [Int: [Int: StoredValue]]] = [:]

  private let keepsIncompleteRows: Bool

  /// - Parameters:
  ///   - firstKey: The key of the first row in the copy.
  ///   - keepsIncompleteRows: Whether rows without a required partner are copied.
  /// - Throws: ``CoreDataError``.
  init(
    _ file: StoreFile, _ translation: ModelTranslation, _ layout: StoreLayout, _ model: Model,
    _ findings: FindingCollector, keepsIncompleteRows: Bool
  ) throws {
    self.file = file
    self.translation = translation
    self.layout = layout
    self.model = model
    self.findings = findings
    self.keepsIncompleteRows = keepsIncompleteRows
    for root in translation.entities.indices where translation.entities[root].parent == nil { try readRows(of: root) }
    try UnmatchedData(self).tell()
    giveKeys()
    try settleReferences()
    try settleUniqueKeys()
    leaveOutIncompleteRows()
  }

  /// The entity's name in Core Data.
  func sourceName(_ entity: Int) -> String { translation.entities[entity].source.name }

  /// The relationship's place in the store.
  func place(of relationship: Relationship) -> StoreLayout.LinkPlace {
    let number = translation.entities[relationship.entity].relationships.firstIndex {
      $0.description.name == relationship.name
    }
    return number.map { layout.entities[relationship.entity].relationships[$0] } ?? .none
  }

  /// The relationship's name in Core Data.
  func sourceName(of relationship: Relationship) -> String {
    translation.entities[relationship.entity].relationships.first { $0.description.name == relationship.name }?.source
      .name
      ?? relationship.name
  }

  // MARK: Rows

  private mutating func readRows(of root: Int) throws {
    var index = RowIndex(table: layout.entities[root].table)
    defer { rows[root] = index }
    guard let table = index.table else { return }
    let columns = try file.columns(of: table)
    guard let key = columns["Z_PK"], let entityColumn = columns["Z_ENT"] else {
      throw CoreDataError(
        .damaged, "\(file.url.path) is damaged: the table \(table) has no column Z_PK or Z_ENT.",
        remedy: "Restore the store from a backup.")
    }
    var numbers: [Int64: Int] = [:]
    for entity in layout.subtree(of: root) {
      if let number = layout.entities[entity].number { numbers[number] = entity }
    }
    for guess in layout.guessedNumbers where layout.root(of: guess.entity) == root {
      findings.note(
        .repaired, sourceName(guess.entity), nil, "has the number \(guess.number), which the store does not tell",
        key: guess.number)
    }
    let (pk, ent) = (SQLName.quoted(key), SQLName.quoted(entityColumn))
    var last: Int64?
    try file.rows("SELECT \(pk), \(ent) FROM \(SQLName.quoted(table)) ORDER BY \(pk)") { row in
      guard let primaryKey = row.integer(0), primaryKey != last else {
        findings.note(.leftOut, table, nil, "has no primary key of its own", key: row.integer(0) ?? 0)
        return
      }
      last = primaryKey
      guard let number = row.integer(1), let entity = numbers[number] else {
        let number = row.integer(1).map(String.init) ?? "none"
        findings.note(
          .leftOut, table, nil, "is of the entity \(number), which the model does not have", key: primaryKey)
        return
      }
      guard !translation.entities[entity].source.isAbstract else {
        findings.note(.leftOut, sourceName(entity), nil, "is a row of an abstract entity", key: primaryKey)
        return
      }
      index.append(primaryKey, entity: entity)
    }
  }

  /// Gives the rows rising keys: entity by entity in the order of their numbers, and in that of the primary keys.
  private mutating func giveKeys() {
    var counts = [Int64](repeating: 0, count: translation.entities.count)
    for index in rows.values { for entity in index.entities where entity >= 0 { counts[Int(entity)] += 1 } }
    let order = translation.entities.indices.sorted { left, right in
      (layout.entities[left].number ?? .max, sourceName(left)) < (
        layout.entities[right].number ?? .max, sourceName(right)
      )
    }
    var next = [Int64](repeating: 0, count: counts.count)
    var free: Int64 = 1
    for entity in order {
      next[entity] = free
      free += counts[entity]
    }
    for root in rows.keys {
      guard var index = rows[root] else { continue }
      for place in 0..<index.count {
        let entity = Int(index.entities[place])
        index.setKey(next[entity], at: place)
        next[entity] += 1
      }
      rows[root] = index
    }
    totalRows = Int(clamping: free - 1)
  }

  /// The number of rows, those that are left out included.
  private(set) var totalRows = 0

  // MARK: References

  /// The relationships with a column of their own that need to be settled before rows are written: required ones, and
  /// one-to-ones.
  private var settled: [Relationship] {
    model.entities.flatMap { entity in
      entity.properties.compactMap(\.relationship).filter { relationship in
        relationship.entity == entity.index && relationship.isColumn
          && (relationship.isRequired || isOneToOne(relationship))
      }
    }
  }

  private func isOneToOne(_ relationship: Relationship) -> Bool {
    model.inverse(of: relationship).map { !$0.isToMany } ?? false
  }

  private mutating func settleReferences() throws {
    for relationship in settled {
      let targets = try readTargets(of: relationship)
      guard isOneToOne(relationship), let inverse = model.inverse(of: relationship) else {
        references[relationship.number] = targets
        continue
      }
      if relationship.isOwnInverse {
        references[relationship.number] = settleOwnInverse(relationship, targets)
      } else {
        let others = hasColumn(inverse) ? try readTargets(of: inverse) : nil
        references[relationship.number] = settleOneToOne(relationship, targets, inverse, others)
      }
    }
  }

  private func hasColumn(_ relationship: Relationship) -> Bool {
    if case .column = place(of: relationship) { true } else { false }
  }

  /// The place of each row's partner; -1 for none. A reference that leads to no row of the right entity is told.
  private func readTargets(of relationship: Relationship) throws -> [Int32] {
    let root = model.entities[relationship.entity].root
    let targetRoot = model.entities[relationship.destination].root
    guard let index = rows[root], let targetIndex = rows[targetRoot] else { return [] }
    var targets = [Int32](repeating: -1, count: index.count)
    guard case .column(let column, _) = place(of: relationship), let table = index.table else { return targets }
    let columns = try file.columns(of: table)
    guard let key = columns["Z_PK"] else { return targets }
    let name = sourceName(of: relationship)
    try file.rows(
      "SELECT \(SQLName.quoted(key)), \(SQLName.quoted(column)) FROM \(SQLName.quoted(table)) "
        + "WHERE \(SQLName.quoted(column)) IS NOT NULL ORDER BY 1"
    ) { row in
      guard let primaryKey = row.integer(0), let place = index.place(of: primaryKey), index.isIncluded(place),
        model.isEntity(Int(index.entities[place]), within: relationship.entity)
      else { return }
      guard let target = row.integer(1).flatMap({ targetIndex.place(of: $0) }), targetIndex.isIncluded(target),
        model.isEntity(Int(targetIndex.entities[target]), within: relationship.destination)
      else {
        findings.note(
          .repaired, sourceName(Int(index.entities[place])), name, "leads to a row that is not there, and is nil",
          key: primaryKey)
        return
      }
      targets[place] = Int32(truncatingIfNeeded: target)
    }
    return targets
  }

  /// The pairs of a one-to-one: those that both columns have, then those of the column that the copy has as well, then
  /// those of the other column, each as far as both partners are still free.
  private func settleOneToOne(
    _ relationship: Relationship, _ targets: [Int32], _ inverse: Relationship, _ others: [Int32]?
  ) -> [Int32] {
    let root = model.entities[relationship.entity].root
    let targetRoot = model.entities[relationship.destination].root
    guard let index = rows[root], let targetIndex = rows[targetRoot] else { return targets }
    var result = [Int32](repeating: -1, count: targets.count)
    var isTaken = [Bool](repeating: false, count: targetIndex.count)
    for (place, target) in targets.enumerated() where target >= 0 {
      guard let others, Int(others[Int(target)]) == place else { continue }
      result[place] = target
      isTaken[Int(target)] = true
    }
    for (place, target) in targets.enumerated() where target >= 0 && result[place] < 0 {
      let isFree = !isTaken[Int(target)]
      if isFree {
        result[place] = target
        isTaken[Int(target)] = true
      }
      guard others != nil || !isFree else { continue }
      findings.note(
        .repaired, sourceName(Int(index.entities[place])), sourceName(of: relationship),
        isFree ? Self.oneSide : Self.contradiction, key: index.primaryKeys[place])
    }
    for (target, place) in (others ?? []).enumerated() where place >= 0 && result[Int(place)] != Int32(target) {
      let isFree = !isTaken[target] && result[Int(place)] < 0
      // The other column of a pair that was just settled has been told.
      if !isFree, isTaken[target], result.indices.contains(Int(place)), targets[Int(place)] == Int32(target) {
        continue
      }
      if isFree {
        result[Int(place)] = Int32(target)
        isTaken[target] = true
      }
      findings.note(
        .repaired, sourceName(Int(targetIndex.entities[target])), sourceName(of: inverse),
        isFree ? Self.oneSide : Self.contradiction, key: targetIndex.primaryKeys[target])
    }
    return result
  }

  private static let oneSide = "is set at one side only, and is now set at both"
  private static let contradiction = "contradicts the other side, and is nil"

  /// The pairs of a one-to-one that is its own inverse, each in both rows.
  private func settleOwnInverse(_ relationship: Relationship, _ targets: [Int32]) -> [Int32] {
    guard let index = rows[model.entities[relationship.entity].root] else { return targets }
    var result = [Int32](repeating: -1, count: targets.count)
    for (place, target) in targets.enumerated()
    where target >= 0 && Int(target) < targets.count && Int(targets[Int(target)]) == place {
      result[place] = target
    }
    for (place, target) in targets.enumerated() where target >= 0 && result[place] != target {
      let isFree = result[place] < 0 && result[Int(target)] < 0
      if isFree {
        result[place] = target
        result[Int(target)] = Int32(place)
      }
      findings.note(
        .repaired, sourceName(Int(index.entities[place])), sourceName(of: relationship),
        isFree ? Self.oneSide : Self.contradiction, key: index.primaryKeys[place])
    }
    return result
  }

  // MARK: Incomplete rows

  /// Leaves out the rows whose required partner is missing, until none is left that requires one of these.
  private mutating func leaveOutIncompleteRows() {
    let required = model.entities.flatMap { entity in
      entity.properties.compactMap(\.relationship).filter { relationship in
        relationship.entity == entity.index && relationship.isRequired && !relationship.isTransient
          && (references[relationship.number] != nil || partners(of: relationship) != nil)
      }
    }
    var isChanged = true
    while isChanged {
      isChanged = false
      for relationship in required {
        let incomplete = incompleteRows(relationship)
        if keepsIncompleteRows { continue }
        for place in incomplete { rows[model.entities[relationship.entity].root]?.exclude(place) }
        isChanged = isChanged || !incomplete.isEmpty
      }
    }
  }

  /// The places of the rows without a partner in a required relationship, which are told.
  private func incompleteRows(_ relationship: Relationship) -> [Int] {
    guard let index = rows[model.entities[relationship.entity].root],
      let targetIndex = rows[model.entities[relationship.destination].root]
    else { return [] }
    var incomplete: [Int] = []
    for (place, target) in (references[relationship.number] ?? partners(of: relationship) ?? []).enumerated() {
      guard index.isIncluded(place), model.isEntity(Int(index.entities[place]), within: relationship.entity) else {
        continue
      }
      if target >= 0, targetIndex.isIncluded(Int(target)) { continue }
      let (entity, name) = (sourceName(Int(index.entities[place])), sourceName(of: relationship))
      if keepsIncompleteRows {
        findings.note(.kept, entity, name, "is required and leads nowhere", key: index.primaryKeys[place])
      } else {
        findings.note(.leftOut, entity, nil, "has no \(name), which is required", key: index.primaryKeys[place])
      }
      incomplete.append(place)
    }
    return incomplete
  }

  /// The partners of a required one-to-one that is kept at its other end.
  private func partners(of relationship: Relationship) -> [Int32]? {
    guard relationship.home == .inverseColumn, let inverse = model.inverse(of: relationship), !inverse.isToMany,
      let targets = references[inverse.number], let index = rows[model.entities[relationship.entity].root]
    else { return nil }
    var partners = [Int32](repeating: -1, count: index.count)
    for (place, target) in targets.enumerated() where target >= 0 { partners[Int(target)] = Int32(place) }
    return partners
  }

  // MARK: Unique keys

  private mutating func settleUniqueKeys() throws {
    for entity in model.entities {
      for key in entity.uniqueKeys where key.entity == entity.index { try settle(key, of: entity) }
    }
  }

  /// Lets the first row keep the values of a unique key. Of each other one, the first optional attribute of the key
  /// becomes nil, or else the first text gets a number, or else the row is left out.
  private mutating func settle(_ key: UniqueKey, of entity: Entity) throws {
    guard let table = rows[entity.root]?.table else { return }
    let attributes = key.properties.compactMap { entity.properties[$0].attribute }
    let sources = attributes.compactMap { source(of: $0) }
    guard attributes.count == key.properties.count, sources.count == attributes.count, !attributes.isEmpty else {
      return
    }
    let blobs = ExternalBlobs(besides: file.url)
    let decoders = sources.map { ValueDecoder($0.attribute, blobs) }
    let columns = try file.columns(of: table)
    guard let primaryKey = columns["Z_PK"] else { return }
    let list = sources.map { $0.column.map(SQLName.quoted) ?? "NULL" }
    var seen: Set<[StoredValue]> = []
    var changes: [(place: Int, column: Int, value: StoredValue?)] = []
    let index = rows[entity.root] ?? RowIndex(table: nil)
    let earlier = overrides[entity.root] ?? [:]
    try file.rows(
      "SELECT \(SQLName.quoted(primaryKey)), \(list.joined(separator: ", ")) "
        + "FROM \(SQLName.quoted(table)) ORDER BY 1"
    ) { row in
      guard let number = row.integer(0), let place = index.place(of: number), index.isIncluded(place),
        model.isEntity(Int(index.entities[place]), within: entity.index)
      else { return }
      var values = decoders.enumerated().map { $1.decode(row.value($0 + 1)).value }
      for (number, attribute) in attributes.enumerated() {
        if let column = attribute.column, let value = earlier[place]?[column] { values[number] = value }
      }
      if values.contains(where: \.isNull) || seen.insert(values).inserted { return }
      let name = sourceName(Int(index.entities[place]))
      let keyName = sources.map { $0.attribute.path.joined(separator: ".") }.joined(separator: ", ")
      if let number = attributes.firstIndex(where: \.isOptional), let column = attributes[number].column {
        changes.append((place, column, .null))
        findings.note(
          .repaired, name, keyName, "was not unique; it is nil in all rows but the first", key: index.primaryKeys[place]
        )
      } else if let number = attributes.firstIndex(where: { $0.type == .string }),
        let column = attributes[number].column,
        case .text(let text) = values[number]
      {
        var suffix = 2
        repeat {
          values[number] = .text("\(text) \(suffix)")
          suffix += 1
        } while !seen.insert(values).inserted
        changes.append((place, column, values[number]))
        findings.note(
          .repaired, name, keyName, "was not unique; rows but the first have a number behind it",
          key: index.primaryKeys[place])
      } else {
        changes.append((place, 0, nil))
        findings.note(
          .leftOut, name, nil, "has a \(keyName) that another row has, and must be unique",
          key: index.primaryKeys[place])
      }
    }
    for change in changes {
      if let value = change.value {
        overrides[entity.root, default: [:]][change.place, default: [:]][change.column] = value
      } else {
        rows[entity.root]?.exclude(change.place)
      }
    }
  }

  /// The attribute in Core Data, and its column.
  func source(of attribute: Attribute) -> (attribute: TranslatedAttribute, column: String?)? {
    let entity = translation.entities[attribute.entity]
    guard let place = entity.attributes.firstIndex(where: { $0.description.name == attribute.name }) else { return nil }
    return (entity.attributes[place], layout.entities[attribute.entity].attributes[place])
  }
}
