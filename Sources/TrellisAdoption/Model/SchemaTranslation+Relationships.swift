import TrellisModel

extension SchemaTranslation {
  mutating func addReferences(_ number: Int) {
    let table = drafts[number].table
    let replaced = replacedColumns(of: table)
    var leading: [String: Int] = [:]
    for key in table.foreignKeys where isRelationship(key) { leading[key.target, default: 0] += 1 }
    for key in table.foreignKeys {
      guard isRelationship(key), let target = numbers[key.target] else {
        let why = Self.fault(of: key, in: schema) ?? "refers to \(key.target), which is a many-to-many"
        note(
          .changed, table.name, key.columns.joined(separator: ", "), why + "; it is an attribute and no relationship")
        continue
      }
      let isReplacing = key.columns.count == 1 && replaced.contains(key.columns[0])
      addReference(key, number, target, isReplacing: isReplacing, isOnly: leading[key.target] == 1)
    }
  }

  mutating func addReference(
    _ key: SourceForeignKey, _ number: Int, _ target: Int, isReplacing: Bool, isOnly: Bool
  ) {
    let table = drafts[number].table
    let isRequired = key.columns.allSatisfy { table.column($0)?.isRequired == true }
    let targetName = drafts[target].plan.name
    let last = key.columns.last ?? ""
    let fromColumn = Naming.toOne(last, to: targetName)
    let name =
      key.columns.count == 1
      ? drafts[number].names.takeUnused(fromColumn, fromColumn + targetName)
      : drafts[number].names.takeUnused(Naming.lowerCamel(targetName), fromColumn, fromColumn + targetName)
    let isSingle = isRequired && table.isKey(key.columns)
    let ownName = drafts[number].plan.name
    let plain = isSingle ? Naming.lowerCamel(ownName) : Naming.toMany(ownName)
    let precise = plain + "By" + Naming.capitalized(name)
    let back = isOnly ? drafts[target].names.takeUnused(plain, precise) : drafts[target].names.takeUnused(precise)
    var toOne = RelationshipDescription(name, to: targetName, inverse: back, optional: !isRequired)
    toOne.swiftName = swiftName(of: name, number, key.columns.joined(separator: ", "))
    if isReplacing {
      toOne.doc = table.column(last)?.doc
      if name != last { toOne.userInfo = [UserInfoEntry("column", last)] }
      drafts[number].properties[last] = name
      tellLostDeclarations(of: last, table)
    } else {
      note(
        .changed, table.name, key.columns.joined(separator: ", "),
        "is the relationship \(name), and stays beside it as "
          + (key.columns.count == 1 ? "an attribute" : "attributes"))
    }
    var toMany = RelationshipDescription(
      back, to: ownName, inverse: name, deleteRule: deleteRule(of: key, table, isRequired), toMany: !isSingle,
      optional: isSingle)
    toMany.swiftName = swiftName(
      of: back, target, "the inverse of \(table.name).\(key.columns.joined(separator: ", "))")
    drafts[number].description.relationships.append(toOne)
    drafts[target].description.relationships.append(toMany)
    drafts[number].plan.references.append(
      AdoptedEntity.Reference(name: name, key: key, isRequired: isRequired))
    if !["", "NO ACTION", "RESTRICT"].contains(key.onUpdate) {
      note(
        .ignored, table.name, key.columns.joined(separator: ", "),
        "has ON UPDATE \(key.onUpdate); objects have keys that never change")
    }
  }

  /// Tells what is declared of a column that a relationship stands for.
  mutating func tellLostDeclarations(of name: String, _ table: SourceTable) {
    guard let column = table.column(name) else { return }
    if let text = column.defaultValue, SQLExpression(text) != .literal(.null) {
      note(.leftOut, table.name, name, "has the default \(text), and relationships have none")
    }
    if column.generation != nil {
      note(.changed, table.name, name, "is computed, and is a relationship that is set here")
    }
  }

  mutating func deleteRule(of key: SourceForeignKey, _ table: SourceTable, _ isRequired: Bool) -> DeleteRule {
    switch key.onDelete.uppercased() {
    case "CASCADE": return .cascade
    case "SET NULL" where !isRequired: return .nullify
    case "SET NULL", "SET DEFAULT":
      note(
        .changed, table.name, key.columns.joined(separator: ", "),
        "has ON DELETE \(key.onDelete), which has no place here; the delete is denied")
      return .deny
    default: return .deny
    }
  }

  mutating func addJoin(_ table: SourceTable, _ owner: SourceForeignKey, _ member: SourceForeignKey) {
    guard let first = numbers[owner.target], let second = numbers[member.target] else { return }
    // Each end is called as the other column calls its objects.
    let toMembers = Naming.toMany(Naming.toOne(member.columns[0], to: drafts[second].plan.name))
    let toOwners = Naming.toMany(Naming.toOne(owner.columns[0], to: drafts[first].plan.name))
    let suffix = "In" + Naming.entity(table.name)
    let name = drafts[first].names.takeUnused(toMembers, toMembers + suffix)
    let back = drafts[second].names.takeUnused(toOwners, toOwners + suffix)
    var forth = RelationshipDescription(
      name, to: drafts[second].plan.name, inverse: back, toMany: true, doc: table.doc)
    forth.userInfo = [UserInfoEntry("table", table.name)]
    forth.swiftName = swiftName(of: name, first, name)
    var other = RelationshipDescription(
      back, to: drafts[first].plan.name, inverse: name, toMany: true)
    other.swiftName = swiftName(of: back, second, back)
    drafts[first].description.relationships.append(forth)
    drafts[second].description.relationships.append(other)
    joins.append(
      AdoptedJoin(
        table: table.name, owner: owner, member: member, entity: drafts[first].plan.name, relationship: name))
    for check in table.checks { note(.leftOut, table.name, "has the condition \(check), and is a many-to-many") }
    for column in table.columns where column.defaultValue != nil || column.doc != nil {
      note(.leftOut, table.name, column.name, "has a default or a comment, and is an end of a many-to-many")
    }
    if [owner, member].contains(where: { $0.onDelete.uppercased() != "CASCADE" }) {
      note(.changed, table.name, "denies the delete of rows in pairs; here the pairs go with either object")
    }
  }

  // MARK: Keys

  mutating func addKeys(_ number: Int) {
    let table = drafts[number].table
    let properties = drafts[number].properties
    var keys: [[String]] = []
    for columns in [table.primaryKey] + table.uniqueKeys where !columns.isEmpty {
      let names = columns.compactMap { properties[$0] }
      // A one-to-one is unique by itself.
      if names.count == 1, isOneToOne(names[0], number) { continue }
      guard names.count == columns.count, !keys.contains(where: { Set($0) == Set(names) }) else { continue }
      keys.append(names)
    }
    drafts[number].description.uniqueKeys = keys
    var indexes: [IndexDescription] = []
    for index in table.indexes {
      let elements = index.columns.compactMap { column in
        properties[column.name].map { IndexDescription.Element($0, descending: column.isDescending) }
      }
      let description = IndexDescription(elements)
      guard elements.count == index.columns.count, Set(elements.map(\.property)).count == elements.count,
        !indexes.contains(description)
      else { continue }
      indexes.append(description)
    }
    drafts[number].description.indexes = indexes
  }

  func isOneToOne(_ name: String, _ number: Int) -> Bool {
    guard let relationship = drafts[number].description.relationships.first(where: { $0.name == name }),
      let target = drafts.first(where: { $0.plan.name == relationship.destination })
    else { return false }
    return target.description.relationships.contains { $0.name == relationship.inverse && !$0.isToMany }
  }
}
