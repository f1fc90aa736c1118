import TrellisQuery
import TrellisSchema

/// A row as an object for predicates and sort keys.
struct RowObject: QueryObject {
  let row: MemoryRow
  let snapshot: Snapshot

  var queryKey: Int64 { row.key }
  var queryEntityName: String { snapshot.layout.model.entities[row.entity].name }

  func queryValue(_ property: Int) -> StoredValue {
    guard let property = self.property(property) else { return .null }
    let relationship = property.relationship
    if let relationship, relationship.isLeftAlone, let column = relationship.column {
      // A reference to a deleted row reads as nil, so the row has to be looked up.
      return row.reference(column).flatMap { object($0, at: relationship) }.map { .integer($0.queryKey) } ?? .null
    }
    if let column = property.column { return row.value(column) }
    guard let relationship else { return .null }
    // The value of a to-many is the number of its members.
    if relationship.isToMany { return .integer(Int64(count(relationship))) }
    return links(relationship).first.map { .integer($0.key) } ?? .null
  }

  func queryPartner(_ property: Int) -> RowObject? {
    guard let relationship = self.property(property)?.relationship else { return nil }
    if let column = relationship.column {
      return row.reference(column).flatMap { object($0, at: relationship) }
    }
    return links(relationship).first.flatMap { object($0.key, at: relationship) }
  }

  func queryMembers(_ property: Int) -> [RowObject] {
    guard let relationship = self.property(property)?.relationship else { return [] }
    return links(relationship).compactMap { object($0.key, at: relationship) }
  }

  func queryOrderedMembers(_ property: Int) -> [RowObject] {
    guard let relationship = self.property(property)?.relationship else { return [] }
    return Members.inOrder(links(relationship), of: relationship).compactMap { object($0.key, at: relationship) }
  }

  func queryMemberCount(_ property: Int) -> Int {
    self.property(property)?.relationship.map(count) ?? 0
  }

  private func count(_ relationship: Relationship) -> Int { snapshot.membership(of: relationship)?.count(row.key) ?? 0 }

  private func property(_ number: Int) -> Property? {
    let properties = snapshot.layout.model.entities[row.entity].properties
    return properties.indices.contains(number) ? properties[number] : nil
  }

  private func links(_ relationship: Relationship) -> [(key: Int64, place: Int64?)] {
    snapshot.membership(of: relationship)?.targets(row.key) ?? []
  }

  private func object(_ key: Int64, at relationship: Relationship) -> RowObject? {
    let root = snapshot.layout.model.entities[relationship.destination].root
    return snapshot.state.row(root, key).map { RowObject(row: $0, snapshot: snapshot) }
  }
}

extension Snapshot {
  /// The index from an owner to its members. Nil for a relationship that is stored in the owner's row or is transient.
  func membership(of relationship: Relationship) -> LinkIndex? {
    switch relationship.home {
    case .joinTable(let table, isFirst: true): state.forward[table]
    case .joinTable(let table, isFirst: false): state.backward[table]
    case .inverseColumn:
      layout.model.inverse(of: relationship).flatMap(layout.reference).map { state.references[$0.index] }
    // Both partners have the reference, so the partner is found like the other end of any one-to-one.
    case .column where relationship.isOwnInverse:
      layout.reference(relationship).map { state.references[$0.index] }
    case .column, .transient: nil
    }
  }
}
