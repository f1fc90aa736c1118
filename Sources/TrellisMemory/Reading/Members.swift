import TrellisSchema
import TrellisStorage

/// The members of a relationship, for many owners.
struct Members {
  let snapshot: Snapshot
  let relationship: Relationship
  let index: LinkIndex
  private let root: Int

  init(_ number: RelationshipNumber, _ snapshot: Snapshot) throws {
    let model = snapshot.layout.model
    guard model.entities.indices.contains(number.entity),
      model.entities[number.entity].properties.indices.contains(number.property),
      let relationship = model.entities[number.entity].properties[number.property].relationship,
      let index = snapshot.membership(of: relationship)
    else {
      throw StoreError(
        .internalError, "Members were asked for of a property that has none outside the row.",
        remedy: "Ask for a relationship that lies at its other end or in a join table.")
    }
    self.snapshot = snapshot
    self.relationship = relationship
    self.index = index
    root = model.entities[relationship.destination].root
  }

  /// Visits the members of each owner in their order: by position, then by key.
  func forEach(_ owners: [Int64], _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void) throws {
    var seen: Set<Int64> = []
    for owner in owners where seen.insert(owner).inserted {
      for member in Self.inOrder(index.targets(owner), of: relationship) {
        try body(owner, member.key, member.place ?? 0)
      }
    }
  }

  func row(_ key: Int64) -> MemoryRow? { snapshot.state.row(root, key) }

  static func inOrder(
    _ members: [(key: Int64, place: Int64?)], of relationship: Relationship
  ) -> [(key: Int64, place: Int64?)] {
    guard relationship.isOrdered else { return members.map { ($0.key, nil) } }
    // A member without a position comes first, as null does in every sort.
    return members.sorted { a, b in
      a.place == b.place ? a.key < b.key : (a.place ?? .min) < (b.place ?? .min)
    }
  }
}
