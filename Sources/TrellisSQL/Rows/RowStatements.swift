import TrellisSchema
package import TrellisStorage

/// The statements that write rows.
extension TableLayout {
  /// Parameters: the key, then the entity's columns in order. In hierarchies the entity's name is part of the text.
  package func insertStatement(_ entity: Int) -> String { insertStatement(entity, version: "1") }

  /// Parameters: the key, the version, then the entity's columns in order.
  package func restoreStatement(_ entity: Int) -> String { insertStatement(entity, version: "?") }

  private func insertStatement(_ entity: Int, version: String) -> String {
    let table = tables[entity]
    var names = [SQLName.id, SQLName.version]
    var values = ["?", version]
    if table.isInHierarchy {
      names.append(SQLName.entity)
      values.append(SQLName.literal(model.entities[entity].name))
    }
    names += table.columns
    values += table.columns.map { _ in "?" }
    return "INSERT INTO \(table.name) (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
  }

  /// The numbers of the columns for a mask's properties, in order. A reference's position column is included.
  package func columns(of entity: Int, _ mask: ColumnMask) -> [Int] {
    model.entities[entity].columns.indices.filter { number in
      switch model.entities[entity].columns[number].content {
      case .attribute(let property), .order(let property): mask.contains(property)
      case .reference(let property, _): mask.contains(property)
      }
    }
  }

  /// Parameters: the columns of the mask's properties in order, then the key and the row version.
  package func updateStatement(_ entity: Int, _ mask: ColumnMask) -> String {
    let table = tables[entity]
    let assignments = columns(of: entity, mask).map { "\(table.columns[$0]) = ?" }
    let all = assignments + ["\(SQLName.version) = \(SQLName.version) + 1"]
    return "UPDATE \(table.name) SET \(all.joined(separator: ", ")) WHERE \(SQLName.id) = ? AND \(SQLName.version) = ?"
  }

  /// Parameters: the key and the row version.
  package func deleteStatement(_ entity: Int) -> String {
    "DELETE FROM \(tables[entity].name) WHERE \(SQLName.id) = ? AND \(SQLName.version) = ?"
  }

  /// Parameter: the list of keys.
  package func deleteListStatement(_ entity: Int) -> String {
    "DELETE FROM \(tables[entity].name) WHERE \(SQLName.id) IN \(ListParameter.values)"
  }

  /// Parameters: the position and the key. Nil if the entity has no such column. A row that another writer has removed
  /// from the list in the meantime gets no position.
  package func placeStatement(_ entity: Int, column: Int) -> String? {
    guard let place = self.column(column, of: entity) else { return nil }
    let reference = model.entities[entity].reference(placedBy: column).flatMap { self.column($0, of: entity) }
    let isMember = reference.map { " AND \($0) IS NOT NULL" } ?? ""
    return "UPDATE \(tables[entity].name) SET \(place) = ? WHERE \(SQLName.id) = ?\(isMember)"
  }

  /// Parameter: the list of deleted keys. Nil if the relationship has no column.
  package func clearStatement(_ relationship: RelationshipNumber) -> String? {
    guard case .column(let number, let order)? = self.relationship(relationship.entity, relationship.property)?.home,
      let column = column(number, of: relationship.entity)
    else { return nil }
    let place = order.flatMap { self.column($0, of: relationship.entity) }.map { ", \($0) = NULL" } ?? ""
    return "UPDATE \(tables[relationship.entity].name) SET \(column) = NULL\(place) "
      + "WHERE \(column) IN \(ListParameter.values)"
  }
}

/// A list of values in one parameter.
package enum ListParameter {
  static let values = "(SELECT value FROM trellis_values(?))"
  static func values(_ marker: String) -> String { "(SELECT value FROM trellis_values(\(marker)))" }
}
