import TrellisModel

/// Makes entities of tables: first their names, then attributes, relationships, keys and rules.
struct SchemaTranslation {
  /// An entity in the making.
  struct Draft {
    let table: SourceTable
    var description: EntityDescription
    var plan: AdoptedEntity
    /// The names of its properties.
    var names = NameScope()
    /// The property that stands for a column in keys and indexes.
    var properties: [String: String] = [:]
  }

  let schema: SourceSchema
  let isExact: Bool
  var drafts: [Draft] = []
  var enums: [EnumDescription] = []
  var joins: [AdoptedJoin] = []
  var notes: [AdoptionNote] = []
  var typeNames = NameScope()
  /// The number of the draft of each table.
  var numbers: [String: Int] = [:]
  var joinTables: [(table: SourceTable, owner: SourceForeignKey, member: SourceForeignKey)] = []
  /// The enums of the database, by their names there.
  var knownEnums: [String: (name: String, cases: [StoredValue])] = [:]

  init(_ schema: SourceSchema, isExact: Bool) {
    self.schema = schema
    self.isExact = isExact
  }

  mutating func run() {
    nameEntities()
    for number in drafts.indices { addAttributes(number) }
    for number in drafts.indices { addReferences(number) }
    for join in joinTables { addJoin(join.table, join.owner, join.member) }
    for number in drafts.indices { addKeys(number) }
  }

  mutating func note(_ outcome: AdoptionNote.Outcome, _ table: String, _ message: String) {
    notes.append(AdoptionNote(outcome, table, message))
  }

  mutating func note(_ outcome: AdoptionNote.Outcome, _ table: String, _ column: String, _ message: String) {
    notes.append(AdoptionNote(outcome, "\(table).\(column)", message))
  }

  // MARK: Entities

  mutating func nameEntities() {
    var referenced: Set<String> = []
    for table in schema.tables { referenced.formUnion(table.foreignKeys.map(\.target)) }
    for table in schema.tables {
      if let ends = Self.ends(ofJoin: table, in: schema), !referenced.contains(table.name) {
        joinTables.append((table, ends.owner, ends.member))
        continue
      }
      let name = typeNames.takeUnused(Naming.entity(table.name), Naming.plainEntity(table.name))
      var entity = EntityDescription(name, doc: table.doc)
      if name != table.name { entity.userInfo = [UserInfoEntry("table", table.name)] }
      if Naming.isReservedType(name) {
        let swiftName = typeNames.takeUnused(name + "Entity")
        entity.swiftName = swiftName
        note(.changed, table.name, "is the class \(swiftName) in Swift, since \(name) has another meaning there")
      }
      numbers[table.name] = drafts.count
      drafts.append(Draft(table: table, description: entity, plan: AdoptedEntity(name: name, table: table.name)))
    }
  }

  /// The two references of a table that has nothing else, each pair once.
  static func ends(
    ofJoin table: SourceTable, in schema: SourceSchema
  ) -> (owner: SourceForeignKey, member: SourceForeignKey)? {
    guard table.columns.count == 2, table.foreignKeys.count == 2, table.isKey(table.columns.map(\.name)),
      table.columns.allSatisfy(\.isRequired)
    else { return nil }
    let ends = table.columns.compactMap { column in table.foreignKeys.first { $0.columns == [column.name] } }
    guard ends.count == 2, ends.allSatisfy({ fault(of: $0, in: schema) == nil }) else { return nil }
    // A unique column of a join table makes it a to-one.
    if table.columns.contains(where: { table.isKey([$0.name]) }) { return nil }
    return (ends[0], ends[1])
  }

  /// Why a reference is no relationship, as the end of a sentence.
  static func fault(of key: SourceForeignKey, in schema: SourceSchema) -> String? {
    guard let target = schema.tables.first(where: { $0.name == key.target }) else {
      return "refers to \(key.target), which is no table of the model"
    }
    guard !key.columns.isEmpty, key.columns.count == key.targetColumns.count,
      key.targetColumns.allSatisfy({ target.column($0) != nil })
    else { return "refers to columns of \(key.target) that are not there" }
    guard target.isKey(key.targetColumns) else {
      return "refers to \(key.target).\(key.targetColumns.joined(separator: ", ")), which is not unique"
    }
    return nil
  }

  // MARK: Attributes

  /// The columns whose values are in a relationship alone.
  func replacedColumns(of table: SourceTable) -> Set<String> {
    var uses: [String: Int] = [:]
    for key in table.foreignKeys { for column in Set(key.columns) { uses[column, default: 0] += 1 } }
    let replaced = table.foreignKeys.filter { key in
      key.columns.count == 1 && uses[key.columns[0]] == 1 && isRelationship(key)
    }
    return Set(replaced.flatMap(\.columns))
  }

  func isRelationship(_ key: SourceForeignKey) -> Bool {
    numbers[key.target] != nil && Self.fault(of: key, in: schema) == nil
  }

  mutating func addAttributes(_ number: Int) {
    let table = drafts[number].table
    let replaced = replacedColumns(of: table)
    let conditions = readChecks(of: table, replaced)
    for column in table.columns where !replaced.contains(column.name) {
      addAttribute(column, conditions.filter { $0.column == column.name }, number)
    }
  }

  /// The conditions of single columns. Conditions without a counterpart are reported.
  mutating func readChecks(of table: SourceTable, _ replaced: Set<String>) -> [ColumnCondition] {
    var conditions: [ColumnCondition] = []
    for check in table.checks {
      if let found = ColumnCondition.all(of: check, in: table), !found.contains(where: { replaced.contains($0.column) })
      {
        conditions += found
      } else {
        note(.leftOut, table.name, "has the condition \(check); write it as a hook validateInsert and validateUpdate")
      }
    }
    return conditions
  }

  mutating func addAttribute(_ column: SourceColumn, _ conditions: [ColumnCondition], _ number: Int) {
    let table = drafts[number].table
    var type = ColumnType(column, isExact: isExact, isKey: table.primaryKey.contains(column.name))
    let name = drafts[number].names.takeUnused(Naming.property(column.name))
    drafts[number].properties[column.name] = name
    for case .allowed(_, let values, let collation) in conditions {
      let folding = collation.map { TextFolding(collation: $0) } ?? column.folding
      restrict(&type, to: values, folding, column, number, name)
    }
    if let allowed = column.allowed { restrict(&type, to: allowed, number) }
    let isRequired = column.isRequired || conditions.contains { if case .required = $0 { true } else { false } }
    var attribute = AttributeDescription(name, type.type, optional: !isRequired, doc: column.doc)
    attribute.swiftName = swiftName(of: name, number, column.name)
    var info: [UserInfoEntry] = []
    if name != column.name { info.append(UserInfoEntry("column", column.name)) }
    if type.type == .decimal, column.declaredType.contains("(") {
      info.append(UserInfoEntry("type", column.declaredType))
    }
    attribute.userInfo = info
    if let length = type.maximumLength { attribute.rules.maximumLength = length }
    for condition in conditions { add(condition, to: &attribute, type, column, table.name) }
    drop(emptyRangesOf: &attribute, table.name, column.name)
    if let text = column.defaultValue { addDefault(text, to: &attribute, type, column, table.name) }
    for remark in type.remarks { note(.changed, table.name, column.name, remark) }
    if let expression = column.generation {
      note(
        .changed, table.name, column.name,
        "is computed" + (expression.isEmpty ? "" : " as \(expression)")
          + "; here it is set, and has the computed values; write it as \"derived\" instead")
    }
    drafts[number].description.attributes.append(attribute)
    drafts[number].plan.attributes.append(
      AdoptedEntity.Attribute(name: name, column: column.name, form: type.form, isRequired: isRequired))
  }

  /// Another name for Swift if the name has a meaning in every class.
  mutating func swiftName(of name: String, _ number: Int, _ column: String) -> String? {
    guard Naming.isReservedMember(name) else { return nil }
    let other = Naming.lowerCamel(drafts[number].plan.name) + Naming.capitalized(name)
    let swiftName = drafts[number].names.takeUnused(other)
    note(
      .changed, drafts[number].table.name, column,
      "is called \(swiftName) in Swift, since every class has \(name.withArticle)")
    return swiftName
  }
}
