import TrellisSchema
import TrellisStorage

/// Checks that the to-one relationships in a page's rows refer to existing objects, and that both ends of one-to-one
/// relationships agree.
struct ReferenceCheck {
  let check: GraphCheck
  let page: RowPage

  func run() throws {
    for relationship in page.entity.allRelationships {
      guard let references = page.references[relationship.property] else { continue }
      let inverse = check.runtime.inverse(of: relationship)
      // With this delete rule, dangling references are allowed.
      if inverse?.deleteRule == .noAction { continue }
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
  private func checkPartners(_ references: [RowPage.Reference], _ relationship: RelationshipInfo) throws {
    guard case .column(let column, _) = relationship.home, !references.isEmpty else { return }
    var partners: [Int64: Int64] = [:]
    try check.connection.rows(of: relationship.destination, keys: references.map(\.target)) { row in
      if !row.isNull(column) { partners[row.key] = row.integer(column) }
    }
    for reference in references where partners[reference.target] != reference.holder {
      try check.note(
        finding(
          .missingInverse, reference, relationship,
          "It leads to \(check.runtime.entities[relationship.destination].name)/\(reference.target), which does not lead back.",
          "Set it anew, or to nil."))
    }
  }

  private func noteDangling(_ reference: RowPage.Reference, _ relationship: RelationshipInfo) throws {
    let destination = check.runtime.entities[relationship.destination].name
    try check.note(
      finding(
        .danglingReference, reference, relationship,
        "It leads to \(destination)/\(reference.target), which is not there.",
        relationship.isRequired ? "Set it to another object, or delete this one." : "Set it to nil."))
  }

  private func finding(
    _ code: StoreFinding.Code, _ reference: RowPage.Reference, _ relationship: RelationshipInfo, _ message: String,
    _ repair: String
  ) -> StoreFinding {
    StoreFinding(
      code, message, repair: repair, entity: page.entity.name, key: reference.holder, properties: [relationship.name])
  }
}
