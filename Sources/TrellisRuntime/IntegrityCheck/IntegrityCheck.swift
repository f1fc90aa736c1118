import TrellisModel
public import TrellisStorage

extension PersistentContainer {
  /// Checks the whole store for inconsistencies, and changes nothing.
  ///
  /// ```swift
  /// for finding in try container.check() { print(finding) }
  /// // Diary/17.images: It has 11 members, and may have 10. Remove members. [member-count]
  /// ```
  /// The check covers unreadable rows, required attributes and to-one relationships, the rules of attributes, numbers
  /// of members, dangling references, relationships with only one end set, positions in ordered to-manys without a
  /// reference to the owner, and unique keys. It also covers whether the
  /// files of external data exist with the content that was written to them, and what the store checks itself, which
  /// for SQLite is the structure of the file, its tables and indexes. Validation in hooks is not run.
  ///
  /// Other contexts and processes may continue to save. If the store supports pinning, all findings are of the same
  /// moment.
  ///
  /// - Parameter limit: The maximum number of findings. The check ends when it is reached.
  /// - Returns: the findings, in no particular order; empty if the store is consistent.
  /// - Throws: ``StoreError`` if the store cannot be read at all. Parts of it that cannot be read are findings.
  /// - Complexity: linear in the number of objects and relationships, O(*n* log *n*) for unique keys. Some hundred
  ///   objects are in memory at a time, with the keys of their partners.
  public func check(limit: Int = 1_000) throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    if limit <= 0 { return findings }
    do {
      try check { finding in
        findings.append(finding)
        if findings.count >= limit { throw Enough() }
      }
    } catch is Enough {}
    return findings
  }

  /// Checks the whole store like ``check(limit:)``, and passes on each finding immediately.
  ///
  /// - Parameter body: receives each finding. An error that it throws ends the check.
  /// - Throws: ``StoreError`` if the store cannot be read at all; errors of `body`.
  public func check(_ body: (StoreFinding) throws -> Void) throws {
    let connection = try core.connect()
    let isPinned = try pinIfPossible(connection)
    defer { if isPinned { connection.unpin() } }
    try connection.check(body)
    try withoutActuallyEscaping(body) {
      try GraphCheck(runtime: core.runtime, connection: connection, note: $0).run()
    }
  }

  private func pinIfPossible(_ connection: any StoreConnection) throws -> Bool {
    do {
      try connection.pin()
      return true
    } catch let error as StoreError where error.code == .unsupported {
      return false
    }
  }
}

/// Thrown to end a check when the limit of findings is reached.
private struct Enough: Error {}

// MARK: - Graph check

/// Checks every object of a store, page by page: the rows of a page are read first, then the rows that they refer to.
struct GraphCheck {
  /// The number of objects in a page.
  static let pageSize = 256

  let runtime: RuntimeModel
  let connection: any StoreConnection
  let note: (StoreFinding) throws -> Void

  func run() throws {
    var keys = KeyCheck(self)
    try keys.run()
    for entity in runtime.entities where !entity.entity.isAbstract {
      try tolerantly(entity, "objects") { try checkObjects(of: entity) }
    }
    for entity in runtime.entities {
      for key in entity.entity.uniqueKeys where key.entity == entity.number {
        try tolerantly(entity, "unique keys") { try UniqueKeyCheck(check: self, entity: entity, key: key).run() }
      }
    }
  }

  private func checkObjects(of entity: EntityInfo) throws {
    var last: Int64?
    repeat {
      let page = try RowPage(of: entity, after: last, self)
      // A damaged file may return keys out of order or repeatedly.
      let end = page.keys.max()
      last = page.isLast || (end ?? .min) <= (last ?? .min) ? nil : end
      try ExternalFileCheck(check: self, page: page).run()
      try tolerantly(entity, "references") { try ReferenceCheck(check: self, page: page).run() }
      for relationship in entity.allRelationships {
        try tolerantly(entity, "members of \(relationship.name)") {
          try MemberCheck(check: self, page: page, relationship: relationship)?.run()
        }
      }
    } while last != nil
  }

  /// Continues after data that cannot be read, because there may be more findings. The rest of `body` is skipped.
  private func tolerantly(_ entity: EntityInfo, _ what: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as StoreError where error.code == .damaged || error.code == .unreadableValue {
      try note(
        StoreFinding(
          .damaged, "Not all \(what) can be looked at: \(error.message)", repair: error.remedy, entity: entity.name))
    }
  }

  /// The subset of keys that belong to objects of an entity or its subentities.
  func present(_ keys: [Int64], of entity: Int) throws -> Set<Int64> {
    var found: Set<Int64> = []
    var rest = Set(keys).sorted()[...]
    while !rest.isEmpty {
      let some = rest.prefix(4096)
      rest = rest.dropFirst(4096)
      let request = StoreRequest(
        entity: entity, predicate: .isIn(.path(PropertyPath(variable: 0)), some.map { .integer($0) }, .integer))
      try connection.fetchKeys(request) { key, _ in found.insert(key) }
    }
    return found
  }
}

// MARK: - Key check

/// Finds objects of different hierarchies with the same key. The keys of each hierarchy are read in order, page by
/// page, and compared as far as all hierarchies have been read.
struct KeyCheck {
  private static let pageSize = 4096

  private struct Source {
    let entity: EntityInfo
    var waiting: ArraySlice<Int64> = []
    var last: Int64?
    var isAtEnd = false
  }

  private let check: GraphCheck
  private var sources: [Source]

  init(_ check: GraphCheck) {
    self.check = check
    sources = check.runtime.entities.filter { $0.entity.parent == nil }.map { Source(entity: $0) }
  }

  mutating func run() throws {
    while true {
      for number in sources.indices where sources[number].waiting.isEmpty { try read(number) }
      // All keys up to this one have been read from every hierarchy.
      guard let bound = sources.compactMap(\.waiting.last).min() else { return }
      var holders: [Int64: Int] = [:]
      for number in sources.indices {
        while let key = sources[number].waiting.first, key <= bound {
          sources[number].waiting.removeFirst()
          if let other = holders.updateValue(number, forKey: key), other != number { try note(key, number, other) }
        }
      }
    }
  }

  private mutating func read(_ number: Int) throws {
    guard !sources[number].isAtEnd else { return }
    let key = Operand.path(PropertyPath(variable: 0))
    let behind = sources[number].last.map {
      QueryPredicate.comparison(Comparison(key, .greater, .value(.integer($0)), kind: .integer))
    }
    let request = StoreRequest(entity: sources[number].entity.number, predicate: behind, limit: Self.pageSize)
    var found: [Int64] = []
    let last = sources[number].last ?? .min
    do {
      // A damaged file may return keys out of order or repeatedly.
      try check.connection.fetchKeys(request) { key, _ in if key > last { found.append(key) } }
      found.sort()
    } catch let error as StoreError where error.code == .damaged || error.code == .unreadableValue {
      // Unreadable data is reported by the check of the objects themselves.
      sources[number].isAtEnd = true
      return
    }
    sources[number].isAtEnd = found.count < Self.pageSize
    sources[number].last = found.last
    sources[number].waiting = found[...]
  }

  private func note(_ key: Int64, _ number: Int, _ other: Int) throws {
    try check.note(
      StoreFinding(
        .notUnique, "An object of \(sources[other].entity.name) has the same key.",
        repair: "Copy one of the two into a new object, and delete it.", entity: sources[number].entity.name, key: key))
  }
}

// MARK: - Row page

/// Some objects of one entity in key order. The initializer checks each row on its own.
struct RowPage {
  /// A reference in a row.
  struct Reference {
    var holder: Int64
    var target: Int64
  }

  let entity: EntityInfo
  private(set) var keys: [Int64] = []
  /// The references by property number, for the to-one relationships that are stored in the row.
  private(set) var references: [Int: [Reference]] = [:]
  /// The files that contain the rows' external data.
  private(set) var files: [(key: Int64, property: String, file: ExternalFile)] = []
  /// Whether this is the last page of the entity.
  var isLast: Bool { keys.count < GraphCheck.pageSize }

  private var findings: [StoreFinding] = []

  /// - Parameter last: the greatest key of the previous page; nil for the first page.
  init(of entity: EntityInfo, after last: Int64?, _ check: GraphCheck) throws {
    self.entity = entity
    let key = Operand.path(PropertyPath(variable: 0))
    let behind = last.map { QueryPredicate.comparison(Comparison(key, .greater, .value(.integer($0)), kind: .integer)) }
    let request = StoreRequest(
      entity: entity.number, includesSubentities: false, predicate: behind, limit: GraphCheck.pageSize)
    let link = ContextLink()
    // An object without a generated class reads its values by the model of its context.
    link.remains = ContextRemains(runtime: check.runtime) { _ in }
    try check.connection.fetch(request) { row in take(row, link) }
    for finding in findings { try check.note(finding) }
    findings = []
  }

  private mutating func take(_ row: RowReader, _ link: ContextLink) {
    keys.append(row.key)
    takeReferences(row)
    takeFiles(row)
    if noteMissingAttributes(row) { return checkValues(row) }
    row.problem = nil
    let object = entity.type.init(row, in: link)
    guard let problem = row.problem else { return checkRules(object) }
    noteProblem(problem)
    checkValues(row, except: problem.column)
  }

  /// Checks each value of a row that cannot be read as a whole.
  ///
  /// - Parameter noted: The column whose problem is in the findings already; nil if no problem is.
  private mutating func checkValues(_ row: RowReader, except noted: Int? = nil) {
    for (number, column) in entity.entity.columns.enumerated() where number != noted && !row.isNull(number) {
      guard case .attribute(let property) = column.content,
        let attribute = entity.entity.properties[property].attribute
      else { continue }
      row.problem = nil
      let value = attribute.read(row, number)
      if let problem = row.problem {
        noteProblem(problem)
      } else if let checked = entity.checkedAttributes.first(where: { $0.index == property }) {
        checkRules(checked, value, row.key)
      }
    }
  }

  private mutating func takeFiles(_ row: RowReader) {
    for (number, column) in entity.entity.columns.enumerated() where entity.entity.isExternal(column) {
      guard !row.isNull(number), let file = row.file(number) else { continue }
      files.append((row.key, entity.entity.properties[column.property].name, file))
    }
  }

  private mutating func takeReferences(_ row: RowReader) {
    for relationship in entity.allRelationships {
      guard case .column(let column, let order) = relationship.home else { continue }
      if !row.isNull(column) {
        let reference = Reference(holder: row.key, target: row.integer(column))
        references[relationship.property, default: []].append(reference)
        continue
      }
      if relationship.isRequired {
        note(.missingValue, row.key, relationship.name, "It must be set, and is not.", "Set it, or delete the object.")
      }
      if let order, !row.isNull(order) {
        note(
          .stalePosition, row.key, relationship.name, "It is nil, and has a position in an ordered to-many.",
          "Set it to an object and save, then set it to nil and save.")
      }
    }
  }

  /// Returns whether required attributes are missing. If so, the row cannot be read.
  private mutating func noteMissingAttributes(_ row: RowReader) -> Bool {
    let before = findings.count
    for (number, column) in entity.entity.columns.enumerated() where !column.isOptional && row.isNull(number) {
      guard case .attribute(let property) = column.content else { continue }
      note(
        .missingValue, row.key, entity.entity.properties[property].name,
        "A required attribute has no value, so the object cannot be read.",
        "Give it a value with another tool, or delete the row.")
    }
    return findings.count > before
  }

  private mutating func checkRules(_ object: ManagedObject) {
    for attribute in entity.checkedAttributes { checkRules(attribute, object._value(attribute.index), object._key) }
    for group in entity.optionalGroups {
      guard let failure = group.failure(object._value) else { continue }
      note(
        .brokenRule, object._key, entity.entity.properties[failure.property].name, "The value \(failure.message).",
        "Set the composite to nil, or all of its fields.")
    }
  }

  private mutating func checkRules(_ attribute: CheckedAttribute, _ value: StoredValue, _ key: Int64) {
    for failure in attribute.failures(of: value) {
      note(
        .brokenRule, key, attribute.name, "The value \(failure.message).",
        "Set a value that keeps the rule, or change the rule in the model.")
    }
  }

  private mutating func noteProblem(_ problem: RowProblem) {
    let columns = entity.entity.columns
    let property = columns.indices.contains(problem.column) ? columns[problem.column].property : nil
    note(
      .unreadableValue, problem.key, property.map { entity.entity.properties[$0].name },
      "The value cannot be read: \(problem.what).", "Repair the value with another tool, or delete the row.")
  }

  private mutating func note(
    _ code: StoreFinding.Code, _ key: Int64, _ property: String?, _ message: String, _ repair: String
  ) {
    findings.append(
      StoreFinding(
        code, message, repair: repair, entity: entity.name, key: key, properties: property.map { [$0] } ?? []))
  }
}

// MARK: - External file check

/// Reads the files with the external data of a page's rows, and reports those that are missing or have different
/// content.
struct ExternalFileCheck {
  let check: GraphCheck
  let page: RowPage

  func run() throws {
    for (key, property, file) in page.files {
      do {
        try file.origin?.check(file)
      } catch let error as StoreError {
        try check.note(
          StoreFinding(
            .externalFile, error.message, repair: error.remedy, entity: page.entity.name, key: key,
            properties: [property]))
      }
    }
  }
}

// MARK: - Relationship checks

/// Checks the members of a page's objects in a relationship that is not stored in the objects' own rows.
struct MemberCheck {
  private struct Member {
    var owner: Int64
    var key: Int64
  }

  private let check: GraphCheck
  private let page: RowPage
  private let relationship: Relationship

  /// Returns nil if there is nothing to check.
  init?(check: GraphCheck, page: RowPage, relationship: Relationship) {
    // Positions need no check: members with the same position, as after two processes have appended at once, are
    // ordered by key.
    let hasRules = relationship.isCounted || relationship.isJoined || !relationship.isToMany
    guard hasRules, !relationship.isColumn, !relationship.isTransient, !page.keys.isEmpty else { return nil }
    self.check = check
    self.page = page
    self.relationship = relationship
  }

  func run() throws {
    var members: [Member] = []
    try check.connection.memberKeys(of: relationship.number, owners: page.keys) { owner, key, _ in
      members.append(Member(owner: owner, key: key))
    }
    try checkCounts(members)
    if relationship.isJoined { try checkPairs(members) }
  }

  // MARK: Numbers

  private func checkCounts(_ members: [Member]) throws {
    guard relationship.isCounted || !relationship.isToMany else { return }
    var counts: [Int64: Int] = [:]
    for member in members { counts[member.owner, default: 0] += 1 }
    for owner in page.keys {
      let count = counts[owner] ?? 0
      if relationship.isToMany { try checkCount(count, owner) } else { try checkOnly(count, owner) }
    }
  }

  private func checkCount(_ count: Int, _ owner: Int64) throws {
    if let least = relationship.minimumCount, count < least, count > 0 || !relationship.isOptional {
      try note(.memberCount, owner, "It has \(count) members, and must have \(least).", "Add members.")
    }
    if let most = relationship.maximumCount, count > most {
      try note(.memberCount, owner, "It has \(count) members, and may have \(most).", "Remove members.")
    }
  }

  private func checkOnly(_ count: Int, _ owner: Int64) throws {
    if count > 1 {
      try note(.notUnique, owner, "\(count) objects have it for their only partner.", "Set all but one of them to nil.")
    }
    if count == 0 && relationship.isRequired {
      try note(.missingValue, owner, "It must be set, and is not.", "Set it, or delete the object.")
    }
  }

  // MARK: Pairs

  private func checkPairs(_ members: [Member]) throws {
    let present = try check.present(members.map(\.key), of: relationship.destination)
    let destination = check.runtime.info(relationship.destination).name
    for member in members where !present.contains(member.key) {
      try note(
        .danglingReference, member.owner, "\(destination)/\(member.key) is a member and is not there.",
        "Remove it from the members.")
    }
    if let inverse = check.runtime.inverse(of: relationship), inverse.isSame(as: relationship) {
      try checkSymmetry(members.filter { present.contains($0.key) }, destination)
    }
  }

  /// A relationship that is its own inverse must have each pair in both directions.
  private func checkSymmetry(_ members: [Member], _ destination: String) throws {
    var open: [Int64: Set<Int64>] = [:]
    for member in members { open[member.key, default: []].insert(member.owner) }
    try check.connection.memberKeys(of: relationship.number, owners: open.keys.sorted()) { owner, key, _ in
      open[owner]?.remove(key)
    }
    for (member, owners) in open.sortedByKey {
      for owner in owners.sorted() {
        try note(
          .missingInverse, owner, "\(destination)/\(member) is a member that does not have it for one.",
          "Remove it from the members, or add it again.")
      }
    }
  }

  private func note(_ code: StoreFinding.Code, _ owner: Int64, _ message: String, _ repair: String) throws {
    try check.note(
      StoreFinding(
        code, message, repair: repair, entity: page.entity.name, key: owner, properties: [relationship.name]))
  }
}

// MARK: - Reference check

/// Checks that the to-one relationships in a page's rows refer to existing objects, and that both ends of one-to-one
/// relationships agree.
struct ReferenceCheck {
  let check: GraphCheck
  let page: RowPage

  func run() throws {
    for relationship in page.entity.allRelationships {
      guard let references = page.references[relationship.property] else { continue }
      let inverse = check.runtime.inverse(of: relationship)
      if relationship.isLeftAlone { continue }
      let present = try check.present(references.map(\.target), of: relationship.destination)
      for reference in references where !present.contains(reference.target) {
        try noteDangling(reference, relationship)
      }
      if let inverse, inverse.isSame(as: relationship) {
        try checkPartners(references.filter { present.contains($0.target) }, relationship)
      }
    }
  }

  /// A one-to-one relationship that is its own inverse is stored in the rows of both partners.
  private func checkPartners(_ references: [RowPage.Reference], _ relationship: Relationship) throws {
    guard case .column(let column, _) = relationship.home, !references.isEmpty else { return }
    var partners: [Int64: Int64] = [:]
    try check.connection.rows(of: relationship.destination, keys: references.map(\.target)) { row in
      if !row.isNull(column) { partners[row.key] = row.integer(column) }
    }
    for reference in references where partners[reference.target] != reference.holder {
      try check.note(
        finding(
          .missingInverse, reference, relationship,
          "It leads to \(check.runtime.info(relationship.destination).name)/\(reference.target), which does not lead back.",
          "Set it anew, or to nil."))
    }
  }

  private func noteDangling(_ reference: RowPage.Reference, _ relationship: Relationship) throws {
    let destination = check.runtime.info(relationship.destination).name
    try check.note(
      finding(
        .danglingReference, reference, relationship,
        "It leads to \(destination)/\(reference.target), which is not there.",
        relationship.isRequired ? "Set it to another object, or delete this one." : "Set it to nil."))
  }

  private func finding(
    _ code: StoreFinding.Code, _ reference: RowPage.Reference, _ relationship: Relationship, _ message: String,
    _ repair: String
  ) -> StoreFinding {
    StoreFinding(
      code, message, repair: repair, entity: page.entity.name, key: reference.holder, properties: [relationship.name])
  }
}

// MARK: - Unique key check

/// Finds objects with the same unique key: in the sort order of the key, they are adjacent.
struct UniqueKeyCheck {
  let check: GraphCheck
  let entity: EntityInfo
  let key: UniqueKey

  func run() throws {
    let columns = key.properties.compactMap { entity.entity.properties[$0].column }
    guard !columns.isEmpty, columns.count == key.properties.count else { return }
    var last: (key: Int64, values: [StoredValue])?
    var shared: [(key: Int64, other: Int64)] = []
    try check.connection.fetch(request) { row in
      let values = columns.map { row.value($0, entity.entity.columns[$0].storageClass) }
      // A unique key with a nil value is not enforced.
      if let last, last.values == values, !values.contains(where: \.isNull) { shared.append((row.key, last.key)) }
      last = (row.key, values)
      if shared.count >= GraphCheck.pageSize { try noteAll(&shared) }
    }
    try noteAll(&shared)
  }

  private var request: StoreRequest {
    let sort = key.properties.map { property in
      SortKey(
        PropertyPath(variable: 0).appending(property),
        kind: entity.entity.properties[property].attribute?.valueKind ?? .integer)
    }
    return StoreRequest(entity: entity.number, sort: sort)
  }

  private func noteAll(_ shared: inout [(key: Int64, other: Int64)]) throws {
    for (key, other) in shared { try note(key, other) }
    shared = []
  }

  private func note(_ key: Int64, _ other: Int64) throws {
    try check.note(
      StoreFinding(
        .notUnique, "The object \(other) has the same values here.",
        repair: "Give one of them another value, or delete it.", entity: entity.name, key: key,
        properties: self.key.properties.map { entity.entity.properties[$0].name }))
  }
}
