package import TrellisSchema

/// Statements about external storage.
package enum ExternalStatements {
  /// Statements that read the texts that refer to files, one for each column with external storage.
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
