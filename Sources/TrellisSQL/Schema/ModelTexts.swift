package import TrellisSchema

/// The texts about a model that a file carries.
package enum ModelTexts {
  /// What decides whether a file fits a model. Equal texts, equal storage.  // replaced at merge
  package static func signature(_ model: Model) -> String {
    var lines: [String] = []
    for entity in model.entities {
      lines.append("entity \(entity.name) parent \(entity.parent.map { model.entities[$0].name } ?? "-")")
      for column in entity.columns[entity.firstOwnColumn...] {
        lines.append("column \(entity.name) \(column.name) \(column.storageClass.rawValue) \(column.isOptional ? "?" : "!")")
      }
      for key in entity.uniqueKeys where key.entity == entity.index {
        lines.append("unique \(entity.name) \(key.properties.map { entity.properties[$0].name }.joined(separator: ","))")
      }
    }
    for table in model.joinTables {
      let orders = [table.first.orderColumn, table.second?.orderColumn].compactMap(\.self).joined(separator: ",")
      lines.append("join \(table.name) \(table.first.column) \(table.partnerColumn) \(orders)")
    }
    return lines.sorted().joined(separator: "\n")
  }

  /// What differs between two signatures, as sentences.  // replaced at merge
  package static func differences(from stored: String, to current: String) -> [String] {
    let old = Set(stored.split(separator: "\n")), new = Set(current.split(separator: "\n"))
    return old.subtracting(new).sorted().map { "only in the file: \($0)" }
      + new.subtracting(old).sorted().map { "only in the program: \($0)" }
  }

  /// The whole model as one text.  // replaced at merge
  package static func whole(_ model: Model) -> String { "\(model.name)\n\(signature(model))" }
}
