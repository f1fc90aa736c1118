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
  /// of members, dangling references, relationships with only one end set, and unique keys. It also covers whether the
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

extension RelationshipInfo {
  /// The relationship's identification by the number of the entity that declares it.
  var number: RelationshipNumber { RelationshipNumber(entity: entity, property: property) }
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
    try check.connection.fetch(request) { row in take(row, link) }
    for finding in findings { try check.note(finding) }
    findings = []
  }

  private mutating func take(_ row: RowReader, _ link: ContextLink) {
    keys.append(row.key)
    takeReferences(row)
    if noteMissingAttributes(row) { return }
    takeFiles(row)
    row.problem = nil
    let object = entity.type.init(row, in: link)
    if let problem = row.problem { noteProblem(problem) } else { checkRules(object) }
  }

  private mutating func takeFiles(_ row: RowReader) {
    for (number, column) in entity.entity.columns.enumerated() where entity.entity.isExternal(column) {
      guard !row.isNull(number), let file = row.file(number) else { continue }
      files.append((row.key, entity.entity.properties[column.property].name, file))
    }
  }

  private mutating func takeReferences(_ row: RowReader) {
    for relationship in entity.allRelationships {
      guard case .column(let column, _) = relationship.home else { continue }
      if !row.isNull(column) {
        let reference = Reference(holder: row.key, target: row.integer(column))
        references[relationship.property, default: []].append(reference)
      } else if relationship.isRequired {
        note(.missingValue, row.key, relationship.name, "It must be set, and is not.", "Set it, or delete the object.")
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
    for attribute in entity.checkedAttributes {
      for failure in attribute.failures(of: object._value(attribute.index)) {
        note(
          .brokenRule, object._key, attribute.name, "The value \(failure.message).",
          "Set a value that keeps the rule, or change the rule in the model.")
      }
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
