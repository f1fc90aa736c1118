package import TrellisModel

/// The stored links of a model: each relationship together with its inverse, once.
package struct LinkList: Sendable {
  /// A relationship that is stored, with its inverse.
  package struct Link: Sendable {
    /// The end that holds the link: the to-one with a column, or the first end of a join table.
    package let first: Relationship
    /// The other end; nil for a one-way relationship. The same as ``first`` if the relationship is its own inverse.
    package let second: Relationship?

    /// Whether each pair is stored in both directions.
    package var isSymmetric: Bool { first.isOwnInverse }
    /// Whether the rows of the first end's objects hold the link.
    package var isColumn: Bool { first.isColumn }
    /// The join table; nil if the link is in a column.
    package var joinTable: Int? { if case .joinTable(let table, _) = first.home { table } else { nil } }
    /// Whether the first end's list of partners has an order.
    var isFirstOrdered: Bool { first.isOrdered }
    /// Whether the second end's list of partners has an order of its own. A relationship that is its own inverse has the
    /// place among the members of each object with the pair in that direction.
    var isSecondOrdered: Bool { !isSymmetric && second?.isOrdered ?? false }
  }

  package let all: [Link]
  private let numbers: [RelationshipNumber: Int]

  /// - Complexity: linear in the number of relationships.
  init(_ model: Model) {
    var all: [Link] = []
    var numbers: [RelationshipNumber: Int] = [:]
    for entity in model.entities {
      for case .relationship(let relationship) in entity.properties where relationship.entity == entity.index {
        switch relationship.home {
        case .column, .joinTable(_, isFirst: true): break
        case .inverseColumn, .joinTable(_, isFirst: false), .transient: continue
        }
        // The inverse may be inherited by the destination, and is declared by one of its ancestors.
        let second = model.inverse(of: relationship)
        numbers[RelationshipNumber(entity: relationship.entity, property: relationship.index)] = all.count
        if let second, !relationship.isOwnInverse {
          numbers[RelationshipNumber(entity: second.entity, property: second.index)] = all.count
        }
        all.append(Link(first: relationship, second: second))
      }
    }
    self.all = all
    self.numbers = numbers
  }

  /// The link of a relationship, and whether the relationship is its second end; nil for a transient one.
  package func link(of relationship: Relationship) -> (number: Int, isSecond: Bool)? {
    guard
      let number = numbers[RelationshipNumber(entity: relationship.entity, property: relationship.index)]
    else { return nil }
    return (number, !all[number].first.isSame(as: relationship))
  }
}
