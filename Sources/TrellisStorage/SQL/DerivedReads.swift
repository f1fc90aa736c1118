import TrellisModel

/// The rows that the expressions of an entity's stored derived attributes read, as a tree of places.
///
/// The first place is the object itself. Each other place is the rows that a relationship leads to from its parent.
struct DerivedReads {
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
  /// The place of each variable that is bound around the current node.
  private var variables: [Int: Int] = [0: 0]

  /// - Complexity: linear in the number of nodes, times the number of places.
  init(_ operands: [Operand], of entity: Int, in model: Model) {
    self.model = model
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

  // MARK: The objects that read a row

  /// A query for the keys of the objects that read a changed row of a place.
  ///
  /// - Parameter row: `old` or `new`, as in a trigger.
  func readers(of place: Int, row: String) -> String {
    if case .inverseColumn? = places[place].relationship?.home, let column = referring(place) {
      return readers(of: places[place].parent ?? 0, keys: "SELECT \(row).\(column)")
    }
    return readers(of: place, keys: "SELECT \(row).\(SQLName.id)")
  }

  /// A query for the keys of the objects that read the rows of a place with some keys.
  func readers(of place: Int, keys: String) -> String {
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
      table = SQLName.quoted(join.name)
      mine = SQLName.quoted(isFirst ? join.first.column : join.partnerColumn)
      theirs = SQLName.quoted(isFirst ? join.partnerColumn : join.first.column)
    case .transient: return keys
    }
    return readers(of: parent, keys: "SELECT r.\(mine) FROM \(table) AS r WHERE r.\(theirs) IN (\(keys))")
  }

  /// The column of a place's rows that refers to its parent.
  private func referring(_ place: Int) -> String? {
    guard let relationship = places[place].relationship, let inverse = model.inverse(of: relationship) else {
      return nil
    }
    return inverse.column.map { column($0, of: places[place].entity) }
  }

  private func table(of entity: Int) -> String { SQLName.quoted(model.name(ofEntity: model.entities[entity].root)) }

  private func column(_ column: Int, of entity: Int) -> String {
    SQLName.quoted(model.entities[entity].columns[column].name)
  }
}
