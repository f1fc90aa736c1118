/// A trigger of a file, for other programs. Triggers in the file are not trusted, and do not run on connections of Trellis,
/// which have the same as temporary ones.
struct Trigger {
  let name: String
  let event: String
  /// The quoted name.
  let table: String
  /// What follows the name of the table: ` WHEN` and an expression, or nothing.
  var condition = ""
  let actions: [String]

  var part: CheckStatements.Part { CheckStatements.Part(feature: name, statement()) }

  func statement(isTemporary: Bool = false) -> String {
    let (kind, place) = isTemporary ? ("TEMP TRIGGER", "main.") : ("TRIGGER", "")
    let body = actions.map { "  \($0);\n" }.joined()
    return "CREATE \(kind) \(SQLName.quoted(name)) AFTER \(event) ON \(place)\(table)\(condition) BEGIN\n\(body)END"
  }
}

extension CheckStatements.Part {
  /// A part of a feature that a file may have besides its tables, such as the search index.
  init(feature name: String, _ statement: String, isIndex: Bool = true) {
    self.init(name: name, statement: statement, isIndex: isIndex, isDeclared: true)
  }
}
