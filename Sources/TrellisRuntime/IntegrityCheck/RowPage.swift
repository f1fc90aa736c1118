import TrellisQuery
import TrellisSchema
import TrellisStorage

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
