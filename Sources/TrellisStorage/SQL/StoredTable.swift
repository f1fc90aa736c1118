package import TrellisModel

/// A table with rows of a model: that of a root entity, or a join table.
package struct StoredTable {
  /// The name in the model's terms, not quoted.
  package let name: String
  /// The columns, those that identify a row first.
  package let columns: [TableColumn]
  /// The number of columns that identify a row.
  package let keyCount: Int

  package var isJoin: Bool { keyCount > 1 }
  package var key: [String] { columns.prefix(keyCount).map(\.name) }
}

/// A column of a table.
package struct TableColumn {
  package enum Content {
    /// A key, a version, a reference or a position.
    case integer
    case entityName
    /// The values of an attribute, which no row has if it is a stored derived one.
    case attribute(Attribute)
  }

  /// The name in the model's terms, not quoted.
  package let name: String
  package let content: Content
  package var isRequired = true
  /// The root entity of the referenced rows; nil if there is no foreign key.
  package var target: Int?
  /// The entity and the property that the column belongs to; 0 for a column that every table has.
  package var entity = 0
  package var property = 0
}

extension Model {
  /// The tables of the model, those of root entities first.
  ///
  /// - Parameter hasDerived: whether stored derived attributes have columns in the tables.
  package func tables(hasDerived: Bool) -> [StoredTable] {
    entities.filter { $0.parent == nil }.map { table(of: $0, hasDerived: hasDerived) } + joinTables.map(table)
  }

  package func table(of root: Entity, hasDerived: Bool) -> StoredTable {
    var columns = [TableColumn(name: "_id", content: .integer), TableColumn(name: "_version", content: .integer)]
    if root.isInHierarchy { columns.append(TableColumn(name: "_entity", content: .entityName)) }
    return StoredTable(name: root.name, columns: columns + tableColumns(of: root, hasDerived: hasDerived), keyCount: 1)
  }

  /// A join table: both keys, then the position in each ordered end.
  package func table(of join: JoinTable) -> StoredTable {
    // Under every delete rule, a pair is deleted with either of its rows.
    let keys = [(join.first.column, join.first.entity), (join.partnerColumn, join.partnerEntity)].map {
      TableColumn(name: $0, content: .integer, target: entities[$1].root)
    }
    let orders = [join.first.orderColumn, join.second?.orderColumn].compactMap(\.self).map {
      TableColumn(name: $0, content: .integer, isRequired: false)
    }
    return StoredTable(name: join.name, columns: keys + orders, keyCount: 2)
  }

  /// The columns that a root entity's table has for properties, those of its descendants included.
  package func tableColumns(of root: Entity, hasDerived: Bool) -> [TableColumn] {
    var known: Set<String> = []
    var columns: [TableColumn] = []
    for number in root.subtree {
      let entity = entities[number]
      for column in entity.columns where known.insert(column.name).inserted {
        var (content, target) = (TableColumn.Content.integer, Int?.none)
        switch column.content {
        case .attribute(let property):
          if let attribute = entity.properties[property].attribute { content = .attribute(attribute) }
        case .reference(let property, let destination):
          let isLeftAlone = entity.properties[property].relationship?.isLeftAlone ?? true
          if !isLeftAlone { target = entities[destination].root }
        case .order: break
        }
        columns.append(
          TableColumn(
            name: column.name, content: content,
            // A row of another entity in the hierarchy has no value for a child's column.
            isRequired: number == root.index && !column.isOptional, target: target, entity: number,
            property: column.property))
      }
      guard hasDerived, hasStoredDerivations else { continue }
      for attribute in entity.storedDerivations {
        columns.append(
          TableColumn(
            name: derivedColumn(of: attribute), content: .attribute(attribute), isRequired: false, entity: number,
            property: attribute.index))
      }
    }
    return columns
  }

  /// The reason why the names of a root entity and its descendants cannot be names in a database, as a sentence. Nil if they
  /// can.
  ///
  /// Databases read a statement up to the first NUL. Names that begin with an underscore are reserved for Trellis's own
  /// tables.
  package func unfitName(of root: Entity) -> String? {
    for number in root.subtree {
      let entity = entities[number]
      if entity.name.utf8.first == UInt8(ascii: "_") {
        return "\(entity.name) begins as the names of the store's own tables"
      }
      for name in [entity.name] + entity.properties.map(\.name) where name.utf8.contains(0) {
        return "a name of \(entity.name) contains NUL"
      }
    }
    return nil
  }
}

/// The names of a join table's parts.
package enum JoinNames {
  /// The index that finds pairs from the second end.
  package static func reversedIndex(_ table: JoinTable) -> String { "_reverse.\(table.name.dropFirst())" }
}

// MARK: - Names of columns

extension Model {
  /// The name of the column with the values of a property; nil for a property without one.
  func columnName(_ property: Int, of entity: Entity) -> String? {
    if let attribute = entity.properties[property].attribute, attribute.description.storesDerivation {
      return derivedColumn(of: attribute)
    }
    return entity.properties[property].column.map { entity.columns[$0].name }
  }

  /// The name of the column with the values of a stored derived attribute.
  func derivedColumn(of attribute: Attribute) -> String {
    "_derived.\(name(ofEntity: attribute.entity)).\(attribute.name)"
  }
}

extension Index {
  /// Whether the index has the values of a stored derived attribute, so that it belongs to the plan of these.
  func isDerived(in entity: Entity) -> Bool {
    elements.contains { entity.properties[$0.property].attribute?.description.storesDerivation == true }
  }
}
