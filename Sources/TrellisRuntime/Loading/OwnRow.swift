import TrellisModel
import TrellisStorage

extension StoreRequest {
  /// Whether the request depends on anything but the values in each object's own row.
  ///
  /// - Parameter besideDeleted: whether there are unsaved deletes. If so, a reference can read as nil while the delete
  ///   of its object may still be denied.
  func looksAtOthers(of entity: Entity, besideDeleted: Bool = false) -> Bool {
    let row = OwnRow(entity, besideDeleted: besideDeleted)
    return sort.contains { row.isLeftBy(.operand($0.value)) } || predicate.map { row.isLeftBy(.predicate($0)) } == true
  }

  /// The part of the condition that asks only for stored attributes of each object's own row. No unsaved change of another
  /// object affects it. Nil if there is none.
  func conditionOfAttributes(of entity: Entity) -> QueryPredicate? {
    let row = OwnRow(entity, besideDeleted: true, asksForReferences: false)
    let terms = predicate.map(\.terms)?.filter { !row.isLeftBy(.predicate($0)) } ?? []
    return terms.isEmpty ? nil : .and(terms)
  }
}

extension QueryPredicate {
  /// The terms that all have to hold.
  fileprivate var terms: [QueryPredicate] { if case .and(let terms) = self { terms.flatMap(\.terms) } else { [self] } }
}

extension Entity {
  /// Whether an operand consists only of constants and values of the object's own row.
  func holdsAll(of operand: Operand) -> Bool { !OwnRow(self, besideDeleted: false).isLeftBy(.operand(operand)) }
}

/// The test whether an operand or predicate needs only the object's own row.
private struct OwnRow {
  private let entity: Entity
  private let besideDeleted: Bool
  /// Whether references are values of the row.
  private let asksForReferences: Bool

  init(_ entity: Entity, besideDeleted: Bool, asksForReferences: Bool = true) {
    self.entity = entity
    self.besideDeleted = besideDeleted
    self.asksForReferences = asksForReferences
  }

  /// Whether the value at a path is in the object's own row.
  func holds(_ path: PropertyPath) -> Bool {
    guard path.count > 0 else { return true }
    guard let step = path.onlyStep, entity.properties.indices.contains(step) else { return false }
    switch entity.properties[step] {
    case .attribute(let attribute): return attribute.column != nil
    case .relationship(let relationship):
      return asksForReferences && relationship.column != nil && !canReadNil(relationship)
    }
  }

  /// Whether a reference can read as nil although its row contains a key.
  private func canReadNil(_ relationship: Relationship) -> Bool {
    relationship.isLeftAlone || besideDeleted && relationship.partnerRule == .deny
  }

  /// Whether a predicate or an operand depends on anything but the object's own row.
  func isLeftBy(_ node: PredicateNode) -> Bool {
    switch node {
    case .operand(.path(let path)): !holds(path)
    case .operand(.entity(let path)): path.count > 0
    case .operand(.count), .operand(.computed(.aggregate)), .operand(.computed(.countWhere)),
      .operand(.computed(.member)), .predicate(.quantified):
      true
    case .operand, .predicate: node.hasPart(where: isLeftBy)
    }
  }
}
