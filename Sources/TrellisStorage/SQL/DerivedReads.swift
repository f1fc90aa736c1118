package import TrellisModel

/// The rows that the expressions of an entity's stored derived attributes read, as a tree of places.
///
/// The first place is the object itself. Each other place is the rows that a relationship leads to from its parent.
package struct DerivedReads {
  struct Place {
    /// The place that the relationship leads from. Nil for the object itself.
    let parent: Int?
    let relationship: Relationship?
    let entity: Int
    /// The columns of the entity that the expressions read, or that lead from or to other places.
    var columns: Set<Int> = []
  }

  private(set) var places: [Place]
  private let model: Model
  private let names: SQLNames
  /// The place of each variable that is bound around the current node.
  private var variables: [Int: Int] = [0: 0]

  /// - Complexity: linear in the number of nodes, times the number of places.
  package init(_ operands: [Operand], of entity: Int, in model: Model, names: SQLNames = SQLNames()) {
    self.model = model
    self.names = names
    places = [Place(parent: nil, relationship: nil, entity: entity)]
    for operand in operands { add(.operand(operand)) }
  }

  private mutating func add(_ node: PredicateNode) {
    switch node {
    case .operand(.path(let path)), .operand(.count(let path)), .operand(.entity(let path)): follow(path)
    case .operand(.computed(.aggregate(_, let path, variable: let variable, _, _))),
      .operand(.computed(.countWhere(let path, variable: let variable, _))),
      .operand(.computed(.member(_, let path, variable: let variable, _))),
      .predicate(.quantified(_, let path, variable: let variable, _)):
      variables[variable] = follow(path)
    case .operand, .predicate: break
    }
    node.forEachPart { add($0) }
  }

  /// - Returns: the place at the end of the path, or the one with the attribute at its end.
  @discardableResult private mutating func follow(_ path: PropertyPath) -> Int {
    var place = variables[Int(path.variable)] ?? 0
    for step in path.steps {
      let properties = model.entities[places[place].entity].properties
      guard properties.indices.contains(step) else { break }
      switch properties[step] {
      case .attribute(let attribute): if let column = attribute.column { places[place].columns.insert(column) }
      case .relationship(let relationship): place = enter(relationship, from: place)
      }
    }
    return place
  }

  private mutating func enter(_ relationship: Relationship, from parent: Int) -> Int {
    if let known = places.firstIndex(where: {
      $0.parent == parent && $0.relationship?.index == relationship.index
    }) {
      return known
    }
    var place = Place(parent: parent, relationship: relationship, entity: relationship.destination)
    switch relationship.home {
    case .column(let column, let order): places[parent].columns.formUnion([column, order].compactMap(\.self))
    case .inverseColumn:
      if case .column(let column, let order)? = model.inverse(of: relationship)?.home {
        place.columns.formUnion([column, order].compactMap(\.self))
      }
    case .joinTable, .transient: break
    }
    places.append(place)
    return places.count - 1
  }

  // MARK: Watched tables

  /// A table whose changed rows lead to objects that read them.
  package struct Watch {
    /// The name of the table, not quoted.
    package let table: String
    /// The quoted names of the columns that say which row it is, and of those that the expressions read.
    package let keys: [String]
    package let columns: [String]
    /// A changed row is one of this place, or belongs to one of it, by the key in a quoted column.
    package let place: Int
    package let column: String
  }

  /// What changes the values of the expressions.
  package var watches: [Watch] {
    var watches: [Watch] = []
    for number in places.indices {
      let place = places[number]
      let entity = model.entities[place.entity]
      let columns = place.columns.map { names.column(entity.columns[$0].name) }
      var watched = (place: number, column: SQLName.id)
      if case .inverseColumn? = place.relationship?.home, let column = referring(number) {
        watched = (place.parent ?? 0, column)
      }
      watches.append(
        Watch(
          table: model.name(ofEntity: entity.root),
          keys: [SQLName.id] + (model.entities[entity.root].isInHierarchy ? [SQLName.entity] : []), columns: columns,
          place: watched.place, column: watched.column))
      guard let parent = place.parent, case .joinTable(let join, let isFirst)? = place.relationship?.home else {
        continue
      }
      let table = model.joinTables[join]
      watches.append(
        Watch(
          table: table.name, keys: [table.first.column, table.partnerColumn].map(names.column),
          columns: [table.first.orderColumn, table.second?.orderColumn].compactMap { $0.map(names.column) },
          place: parent, column: names.column(isFirst ? table.first.column : table.partnerColumn)))
    }
    return watches
  }

  // MARK: The objects that read a row

  /// A query for the keys of the objects that read the rows of a place with some keys.
  package func readers(of place: Int, keys: String) -> String {
    guard let parent = places[place].parent, let relationship = places[place].relationship else { return keys }
    let (table, mine, theirs): (String, String, String)
    switch relationship.home {
    case .column(let column, _):
      table = self.table(of: places[parent].entity)
      mine = SQLName.id
      theirs = self.column(column, of: places[parent].entity)
    case .inverseColumn:
      table = self.table(of: places[place].entity)
      mine = referring(place) ?? SQLName.id
      theirs = SQLName.id
    case .joinTable(let number, let isFirst):
      let join = model.joinTables[number]
      table = names.table(join.name)
      mine = names.column(isFirst ? join.first.column : join.partnerColumn)
      theirs = names.column(isFirst ? join.partnerColumn : join.first.column)
    case .transient: return keys
    }
    return readers(of: parent, keys: "SELECT r.\(mine) AS k FROM \(table) AS r WHERE r.\(theirs) IN (\(keys))")
  }

  /// The column of a place's rows that refers to its parent.
  private func referring(_ place: Int) -> String? {
    guard let relationship = places[place].relationship, let inverse = model.inverse(of: relationship) else {
      return nil
    }
    return inverse.column.map { column($0, of: places[place].entity) }
  }

  private func table(of entity: Int) -> String { names.table(model.name(ofEntity: model.entities[entity].root)) }

  private func column(_ column: Int, of entity: Int) -> String {
    names.column(model.entities[entity].columns[column].name)
  }
}
