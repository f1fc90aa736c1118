import TrellisModel
import TrellisStorage

/// The relationships by which a delete reaches further rows, each followed by those of its members.
struct CascadeClosure {
  private let layout: TableLayout
  private var numbers: [RelationshipNumber: Int] = [:]
  private var relationships: [Relationship] = []

  /// - Parameter starts: the relationships of the first owners.
  init(from starts: [RelationshipNumber], _ layout: TableLayout) throws {
    self.layout = layout
    var open = starts
    while let number = open.popLast() {
      guard let relationship = layout.relationship(number.entity, number.property) else { throw RequestFault.unknown }
      guard numbers[number] == nil else { continue }
      numbers[number] = relationships.count
      relationships.append(relationship)
      open += layout.model.furtherCascades(from: relationship.destination)
    }
    // An inherited relationship is found by the number of its declaration, too.
    for (place, relationship) in relationships.enumerated() { numbers[relationship.number] = place }
  }

  var model: Model { layout.model }
  var isEmpty: Bool { relationships.isEmpty }

  /// The root entities of the members.
  var roots: Set<Int> { Set(relationships.map { model.entities[$0.destination].root }) }

  /// Selects the root entity of the members of a relationship, from a column with its number.
  func root(of column: String) -> String {
    let roots = relationships.map { String(model.entities[$0.destination].root) }
    return "(ARRAY[\(roots.joined(separator: ", "))])[\(column) + 1]"
  }

  /// Selects the members of owners: the number of the relationship, and the key of the member.
  ///
  /// - Parameter owners: the condition that a column with the owner's key has to meet.
  /// - Returns: nil for a relationship that is not followed.
  func members(of number: RelationshipNumber, _ owners: (_ column: String) -> String) throws -> String? {
    guard let place = numbers[number] else { return nil }
    let (table, column) = try self.members(relationships[place])
    return "SELECT \(place), t.\(SQLName.id) FROM \(table) AS t WHERE \(owners("t.\(column)"))"
  }

  /// Selects the members of the members `v(r, key)`; nil if they have none.
  var further: String? {
    get throws {
      var origins: [Int: [Int]] = [:]
      for (place, relationship) in relationships.enumerated() {
        for further in model.furtherCascades(from: relationship.destination) {
          if let number = numbers[further] { origins[number, default: []].append(place) }
        }
      }
      let steps = try origins.sorted(by: { $0.key < $1.key }).map { number, origins in
        let (table, column) = try members(relationships[number])
        let list = origins.map(String.init).joined(separator: ", ")
        return
          "SELECT \(number) AS r, t.\(SQLName.id) AS key FROM \(table) AS t WHERE v.r IN (\(list)) AND t.\(column) = v.key"
      }
      return steps.isEmpty ? nil : "(\(steps.joined(separator: " UNION ALL ")))"
    }
  }

  private func members(_ relationship: Relationship) throws -> (table: String, column: String) {
    guard let number = model.inverse(of: relationship)?.column,
      let column = layout.column(number, of: relationship.destination)
    else { throw RequestFault.unknown }
    return (layout.tables[relationship.destination].name, column)
  }
}
