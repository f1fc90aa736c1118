package import TrellisSchema

/// Statements about data in files.
package enum ExternalStatements {
  /// The texts in rows that refer to files, a statement for each column that may have them.
  package static func references(_ model: Model) -> [String] {
    var statements: [String] = []
    for entity in model.entities {
      let table = SQLName.quoted(model.entities[entity.root].name)
      for column in entity.columns[entity.firstOwnColumn...] where entity.isExternal(column) {
        let name = SQLName.quoted(column.name)
        statements.append("SELECT DISTINCT \(name) FROM \(table) WHERE typeof(\(name)) = 'text'")
      }
    }
    return statements
  }
}
