import TrellisStorage
/// Where a store keeps the properties of a model: the tables of its entities, the column of each attribute and to-one,
/// and the tables of many-to-many relationships.
///
/// Tables and columns are found by their names, with the numbers of entities and the suffixes that Core Data adds to
/// names which clash in a hierarchy. Numbers in names may be those of a former model.
struct StoreLayout {
  /// An entity in the store.
  struct EntityPlace {
    /// The table of its hierarchy; nil if the store has none.
    var table: String?
    /// The number of the entity; nil if the store does not know it.
    var number: Int64?
    /// The column of each attribute; nil for one that the table does not have.
    var attributes: [String?] = []
    /// The place of each relationship.
    var relationships: [LinkPlace] = []
  }

  /// Where a relationship is kept.
  enum LinkPlace: Hashable {
    /// Nowhere: it is transient, or the store does not have it.
    case none
    /// In a column of the row, for a to-one. `order` is the column with the position among the partner's members.
    case column(String, order: String?)
    /// In the rows of the members, as the inverse to-one.
    case members
    /// In a column of the members' table, for a to-many without an inverse.
    case memberColumn(table: String, column: String)
    /// In a table of pairs. `order` is the column with the position of the member.
    case pairs(table: String, owner: String, member: String, order: String?)
  }

  /// The places, in the order of the translation's entities.
  private(set) var entities: [EntityPlace] = []
  /// Numbers of entities that a table has and the store does not name, with the entity that is meant.
  private(set) var guessedNumbers: [(entity: Int, number: Int64)] = []
  /// What the store has under its renaming identifier, as it was called before.
  private(set) var notes: [CoreDataNote] = []

  private let file: StoreFile
  private let translation: ModelTranslation
  /// The topmost ancestor of each entity, and the entity with its descendants.
  private var roots: [Int] = []
  private var subtrees: [[Int]] = []
  /// The number of properties of each hierarchy that claim a name, as their own or as their renaming identifier. Names
  /// are in capital letters.
  private var claims: [Int: [String: Int]] = [:]
  /// The tables that may have the pairs of a relationship, in the order of their names.
  private var pairTables: [(name: NumberedName, table: String)] = []

  /// - Throws: ``CoreDataError``.
  /// - Complexity: linear in the number of properties, with a query for each clash of names.
  init(_ file: StoreFile, _ translation: ModelTranslation) throws {
    self.file = file
    self.translation = translation
    entities = translation.entities.map { _ in EntityPlace() }
    findSubtrees()
    countClaims()
    pairTables = file.tables.sorted { $0.key < $1.key }.compactMap { name, table in
      NumberedName(name).flatMap { $0.isUnderscored ? (name: $0, table: table) : nil }
    }
    try placeEntities()
    for root in translation.entities.indices where translation.entities[root].parent == nil {
      try placeColumns(below: root)
    }
    for number in translation.entities.indices {
      for place in translation.entities[number].relationships.indices { try placeToMany(number, place) }
    }
  }

  /// The number of attributes and to-ones without a column, and of many-to-many relationships without a table.
  var missingColumns: Int {
    var count = 0
    for (number, entity) in translation.entities.enumerated() where entities[number].table != nil {
      for (place, attribute) in entity.attributes.enumerated()
      where !attribute.source.isTransient && entities[number].attributes[place] == nil { count += 1 }
      for (place, relationship) in entity.relationships.enumerated()
      where !relationship.source.isTransient && entities[number].relationships[place] == .none { count += 1 }
    }
    return count
  }

  // MARK: Entities

  /// The topmost ancestor.
  func root(of entity: Int) -> Int { roots[entity] }

  /// The entity and its descendants.
  func subtree(of entity: Int) -> [Int] { subtrees[entity] }

  private mutating func findSubtrees() {
    subtrees = translation.entities.map { _ in [] }
    for entity in translation.entities.indices {
      var current = entity
      subtrees[current].append(entity)
      while let parent = translation.entities[current].parent {
        current = parent
        subtrees[current].append(entity)
      }
      roots.append(current)
    }
  }

  private func rank(_ entity: Int) -> (Int64, String) {
    (entities[entity].number ?? .max, translation.entities[entity].source.name)
  }

  private mutating func placeEntities() throws {
    var numbers: [String: Int64] = [:]
    for (number, name) in file.entityNames { numbers[name] = min(numbers[name] ?? .max, number) }
    let names = Set(translation.entities.map(\.source.name))
    var identities: [String: Int] = [:]
    for entity in translation.entities { identities[entity.source.identity, default: 0] += 1 }
    for index in entities.indices {
      let source = translation.entities[index].source
      entities[index].number = numbers[source.name]
      entities[index].table = file.table(ofRoot: translation.entities[root(of: index)].source.name)
      // A store that was migrated in place may have the entity under its former name.
      guard !names.contains(source.identity), identities[source.identity] == 1 else { continue }
      if entities[index].number == nil, let number = numbers[source.identity] {
        entities[index].number = number
        notes.append(CoreDataNote(.changed, source.name, "is called \(source.identity) in the store"))
      }
      if root(of: index) == index, entities[index].table == nil, let table = file.table(ofRoot: source.identity) {
        for member in subtree(of: index) { entities[member].table = table }
      }
    }
    for index in entities.indices where entities[index].table == nil {
      entities[index].table = entities[root(of: index)].table
    }
    for root in entities.indices where translation.entities[root].parent == nil { try guessNumber(below: root) }
  }

  // MARK: Former names

  private mutating func countClaims() {
    for (index, entity) in translation.entities.enumerated() {
      let attributes = entity.source.attributes.map { [$0.name, $0.renamingIdentifier ?? $0.name] }
      let relationships = entity.source.relationships.map { [$0.name, $0.renamingIdentifier ?? $0.name] }
      for names in attributes + relationships {
        for name in Set(names.map { $0.uppercased() }) { claims[root(of: index), default: [:]][name, default: 0] += 1 }
      }
    }
  }

  /// The name of a property before it was renamed, if no other property of the hierarchy may be meant by it.
  private func formerName(_ name: String, _ identifier: String?, in entity: Int) -> String? {
    guard let identifier, identifier.uppercased() != name.uppercased(),
      claims[root(of: entity)]?[identifier.uppercased()] == 1
    else { return nil }
    return identifier
  }

  private mutating func noteFormerName(_ former: String, _ name: String, of entity: Int) {
    notes.append(
      CoreDataNote(
        .changed, "\(translation.entities[entity].source.name).\(name)", "is called \(former) in the store"))
  }

  /// Finds the number of the one entity of a hierarchy that the store does not name: the one number in the table that
  /// belongs to no other.
  private mutating func guessNumber(below root: Int) throws {
    let unnamed = subtree(of: root).filter { entities[$0].number == nil && !translation.entities[$0].source.isAbstract }
    guard unnamed.count == 1, let entity = unnamed.first, let table = entities[root].table,
      let column = try file.columns(of: table)["Z_ENT"]
    else { return }
    let known = Set(file.entityNames.keys)
    var unknown: Set<Int64> = []
    try file.rows(
      "SELECT DISTINCT \(SQLName.quoted(column)) FROM \(SQLName.quoted(table)) LIMIT 10000"
    ) { row in if let number = row.integer(0), !known.contains(number) { unknown.insert(number) } }
    guard unknown.count == 1, let number = unknown.first else { return }
    entities[entity].number = number
    guessedNumbers.append((entity, number))
  }

  // MARK: Columns

  /// Something that has a column with a name, in the rows of an entity and its descendants.
  private struct ColumnUser {
    let entity: Int
    let isAttribute: Bool
    let place: Int
  }

  /// Finds the columns of the attributes and to-ones of a hierarchy. If several siblings have a property of one name,
  /// the columns are told apart by the rows that have values in them, and otherwise by their order.
  private mutating func placeColumns(below root: Int) throws {
    // Core Data names columns in the order of the entities' numbers.
    let members = subtree(of: root).sorted { rank($0) < rank($1) }
    for entity in members {
      entities[entity].attributes = translation.entities[entity].attributes.map { _ in nil }
      entities[entity].relationships = translation.entities[entity].relationships.map { _ in .none }
    }
    guard let table = entities[root].table else { return }
    let columns = try file.columns(of: table)
    var users: [String: [ColumnUser]] = [:]
    var order: [String] = []
    func note(_ name: String, _ user: ColumnUser) {
      if users[name] == nil { order.append(name) }
      users[name, default: []].append(user)
    }
    for entity in members {
      for (place, attribute) in translation.entities[entity].attributes.enumerated()
      where !attribute.source.isTransient {
        let source = attribute.source
        let former = attribute.path.count > 1 ? nil : formerName(source.name, source.renamingIdentifier, in: entity)
        let name = Self.name(Self.names(of: attribute.path), former, in: columns)
        if name.isFormer, let former { noteFormerName(former, source.name, of: entity) }
        note(name.column, ColumnUser(entity: entity, isAttribute: true, place: place))
      }
      for (place, relationship) in translation.entities[entity].relationships.enumerated()
      where !relationship.source.isToMany && !relationship.source.isTransient {
        let source = relationship.source
        let former = formerName(source.name, source.renamingIdentifier, in: entity)
        let name = Self.name(Self.names(of: [source.name]), former, in: columns)
        if name.isFormer, let former { noteFormerName(former, source.name, of: entity) }
        note(name.column, ColumnUser(entity: entity, isAttribute: false, place: place))
      }
    }
    // A name that ends in a number may be that of another property with a suffix.
    let taken = Set(order)
    for name in order {
      let users = users[name] ?? []
      let candidates = Self.candidates(name, count: users.count, columns, besides: taken)
      let found = try assign(users, candidates, table)
      for (user, column) in zip(users, found) {
        if user.isAttribute {
          entities[user.entity].attributes[user.place] = column
        } else if let column {
          let relationship = translation.entities[user.entity].relationships[user.place]
          let orderColumn = relationship.hasInverse ? try self.order(of: relationship, column, table) : nil
          entities[user.entity].relationships[user.place] = .column(column, order: orderColumn)
        }
      }
    }
  }

  /// The names that the column of a property may have, in capital letters, the likeliest first. A part of a composite has
  /// a path.
  private static func names(of path: [String]) -> [String] {
    let words = path.map { $0.uppercased() }
    return ["Z" + words.joined(separator: "_"), "Z" + words.joined(), "Z" + (words.last ?? "")]
  }

  /// The name of the column that is there: one of some names, or else that of a former name.
  private static func name(
    _ names: [String], _ former: String?, in columns: [String: String]
  ) -> (column: String, isFormer: Bool) {
    if let name = names.first(where: { columns[$0] != nil }) { return (name, false) }
    let hasSuffix = (1...9).contains { columns[names[0] + String($0)] != nil }
    if let former = former.map({ "Z" + $0.uppercased() }), !hasSuffix, columns[former] != nil { return (former, true) }
    return (names[0], false)
  }

  /// The columns with a name and its suffixes, in order.
  private static func candidates(
    _ name: String, count: Int, _ columns: [String: String], besides taken: Set<String>
  ) -> [String] {
    var found = columns[name].map { [$0] } ?? []
    var suffix = 1
    // Gaps may be left by former models.
    while suffix <= count + 8 {
      let suffixed = name + String(suffix)
      if !taken.contains(suffixed), let column = columns[suffixed] { found.append(column) }
      suffix += 1
    }
    return found
  }

  /// The column of each user of one name.
  private func assign(_ users: [ColumnUser], _ candidates: [String], _ table: String) throws -> [String?] {
    if users.count == 1 { return [candidates.first] }
    var open = candidates
    var found = [String?](repeating: nil, count: users.count)
    for column in candidates {
      let holders = try holders(of: column, in: table)
      guard !holders.isEmpty else { continue }
      let fitting = users.indices.filter { index in
        found[index] == nil
          && holders.isSubset(of: Set(subtree(of: users[index].entity).compactMap { entities[$0].number }))
      }
      guard fitting.count == 1, let index = fitting.first else { continue }
      found[index] = column
      open.removeAll { $0 == column }
    }
    for index in users.indices where found[index] == nil && !open.isEmpty { found[index] = open.removeFirst() }
    return found
  }

  /// The numbers of the entities whose rows have a value in a column.
  private func holders(of column: String, in table: String) throws -> Set<Int64> {
    guard let entityColumn = try file.columns(of: table)["Z_ENT"] else { return [] }
    var found: Set<Int64> = []
    try file.rows(
      "SELECT DISTINCT \(SQLName.quoted(entityColumn)) FROM \(SQLName.quoted(table)) "
        + "WHERE \(SQLName.quoted(column)) IS NOT NULL"
    ) { row in if let number = row.integer(0) { found.insert(number) } }
    return found
  }

  /// The column with the position of a row among the members of its to-one's partner.
  private func order(of relationship: TranslatedRelationship, _ column: String, _ table: String) throws -> String? {
    let inverse = translation.entities[relationship.destination].relationships.first {
      $0.source.name == relationship.source.inverse
    }
    guard inverse?.source.isOrdered == true else { return nil }
    let columns = try file.columns(of: table)
    // The suffix of a clashing name is that of the reference.
    return columns["Z_FOK_" + column.uppercased().dropFirst()]
      ?? columns["Z_FOK_" + relationship.source.name.uppercased()]
  }

  // MARK: To-many relationships

  private mutating func placeToMany(_ entity: Int, _ place: Int) throws {
    let relationship = translation.entities[entity].relationships[place]
    guard relationship.source.isToMany, !relationship.source.isTransient else { return }
    let inverse = relationship.source.inverse.flatMap { name in
      translation.entities[relationship.destination].relationships.first { $0.source.name == name }
    }
    if let inverse, !inverse.source.isToMany {
      entities[entity].relationships[place] = .members
    } else {
      entities[entity].relationships[place] = try pairs(entity, relationship, inverse)
    }
  }

  /// The table of a many-to-many relationship, or the column of a to-many without an inverse.
  private mutating func pairs(
    _ entity: Int, _ relationship: TranslatedRelationship, _ inverse: TranslatedRelationship?
  ) throws -> LinkPlace {
    let names = (relationship.source.name, inverse?.source.name)
    let place = try pairs(entity, relationship, names.0, inverse, names.1)
    guard place == .none else { return place }
    let former = formerName(relationship.source.name, relationship.source.renamingIdentifier, in: entity)
    let formerInverse = inverse.flatMap { inverse in
      formerName(inverse.source.name, inverse.source.renamingIdentifier, in: relationship.destination)
    }
    guard former != nil || formerInverse != nil else { return .none }
    let found = try pairs(entity, relationship, former ?? names.0, inverse, formerInverse ?? names.1)
    if found != .none, let former { noteFormerName(former, names.0, of: entity) }
    return found
  }

  private func pairs(
    _ entity: Int, _ relationship: TranslatedRelationship, _ name: String, _ inverse: TranslatedRelationship?,
    _ inverseName: String?
  ) throws -> LinkPlace {
    var best: (score: Int, place: LinkPlace) = (0, .none)
    for (parsed, table) in pairTables
    where parsed.hasStem(name) || inverseName.map({ parsed.hasStem($0) }) ?? false {
      let columns = try file.columns(of: table)
      guard let found = PairColumns(columns, entity, relationship, (name, inverseName), self) else { continue }
      let isOfThese = [entities[entity].number, entities[relationship.destination].number].contains(parsed.number)
      let score = found.score + (isOfThese ? 1 : 0)
      if score > best.score {
        best = (score, .pairs(table: table, owner: found.owner, member: found.member, order: found.order))
      }
    }
    if case .none = best.place, inverse == nil, let table = entities[relationship.destination].table {
      let columns = try file.columns(of: table)
      let column = columns.keys.sorted().first { column in
        // `Z2ITEMS` is a reference; `Z2_ITEMS` would be the number of a partner's entity.
        NumberedName(column).map { $0.hasStem(name) && !$0.hasUnderscoreBehind } ?? false
      }
      if let column = column.flatMap({ columns[$0] }) { return .memberColumn(table: table, column: column) }
    }
    return best.place
  }
}

// MARK: - Numbered names

/// A name with the number of an entity: `Z_3TAGS`, `Z_3TAGS1`, `Z3_TAG`.
struct NumberedName {
  let number: Int64
  /// Whether there is an underscore between the first letter and the number.
  let isUnderscored: Bool
  /// Whether there is an underscore behind the number.
  let hasUnderscoreBehind: Bool
  private let stem: Substring

  /// - Parameter name: In capital letters.
  init?(_ name: String) {
    guard name.hasPrefix("Z") else { return nil }
    var rest = name.dropFirst()
    isUnderscored = rest.hasPrefix("_")
    if isUnderscored { rest.removeFirst() }
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty, let number = Int64(digits) else { return nil }
    self.number = number
    rest = rest.dropFirst(digits.count)
    hasUnderscoreBehind = rest.hasPrefix("_")
    stem = hasUnderscoreBehind ? rest.dropFirst() : rest
    if stem.isEmpty { return nil }
  }

  /// Whether the rest of the name is that of a property, perhaps with the suffix of a clash.
  func hasStem(_ property: String) -> Bool { suffix(of: property) != nil }

  /// The number behind the name of a property: 0 for none; nil if the rest is another name.
  func suffix(of property: String) -> Int? {
    let name = property.uppercased()
    if stem == name { return 0 }
    guard stem.hasPrefix(name) else { return nil }
    let rest = stem.dropFirst(name.count)
    return rest.allSatisfy({ $0.isASCII && $0.isNumber }) ? Int(rest) : nil
  }
}

/// The columns of a table of pairs, as far as they fit a relationship.
private struct PairColumns {
  let owner: String
  let member: String
  let order: String?
  /// How well the numbers in the names fit.
  private(set) var score = 1

  init?(
    _ columns: [String: String], _ entity: Int, _ relationship: TranslatedRelationship,
    _ names: (relationship: String, inverse: String?), _ layout: StoreLayout
  ) {
    let keys = columns.keys.filter { !$0.hasPrefix("Z_FOK_") }.compactMap { name in
      NumberedName(name).map { (name: name, parsed: $0) }
    }.filter(\.parsed.isUnderscored).sorted { $0.name < $1.name }
    guard keys.count == 2 else { return nil }
    let relationshipName = names.relationship
    let ownNumber = layout.entities[entity].number
    let memberNumber = layout.entities[relationship.destination].number
    // The column of the members has the name of the relationship and the number of their entity.
    func fit(_ owner: Int, _ member: Int) -> Int? {
      guard keys[member].parsed.hasStem(relationshipName),
        names.inverse.map({ keys[owner].parsed.hasStem($0) }) ?? true
      else { return nil }
      var score = 2
      if keys[member].parsed.number == memberNumber { score += 4 }
      if keys[owner].parsed.number == ownNumber { score += 4 }
      // Without a suffix, the name is the first that the table got: that of the relationship itself.
      if keys[member].parsed.suffix(of: relationshipName) == 0 { score += 1 }
      return score
    }
    let (forward, backward) = (fit(0, 1), fit(1, 0))
    guard let score = [forward, backward].compactMap({ $0 }).max() else { return nil }
    let (owner, member) = forward == score ? (0, 1) : (1, 0)
    guard let ownerName = columns[keys[owner].name], let memberName = columns[keys[member].name] else { return nil }
    self.owner = ownerName
    self.member = memberName
    self.score = score
    guard relationship.source.isOrdered else {
      order = nil
      return
    }
    // `Z_FOK_3TAGS` beside `Z_3TAGS`.
    let exact = columns["Z_FOK_" + keys[member].name.dropFirst(2)]
    let similar = columns.keys.sorted().first { name in
      name.hasPrefix("Z_FOK_") && NumberedName("Z_" + name.dropFirst(6))?.hasStem(relationshipName) == true
    }
    order = exact ?? similar.flatMap { columns[$0] }
  }
}
