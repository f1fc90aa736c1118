import TrellisSchema

extension SchemaStatements {
  /// The reason why the model's names cannot be table and column names, as a sentence. Nil if they can.
  ///
  /// SQLite ignores case in ASCII names, and reserves names that begin with `sqlite_`.
  ///
  /// - Complexity: linear in the number of columns.
  package var nameClash: String? {
    var tables: [String: String] = [:]
    for entity in model.entities where entity.parent == nil {
      if entity.name.asciiLowercased.hasPrefix("sqlite_") {
        return "\(entity.name) is a name that SQLite keeps for itself"
      }
      if let unfit = unfitName(entity) { return unfit }
      if let other = tables.updateValue(entity.name, forKey: entity.name.asciiLowercased) {
        return "the entities \(other) and \(entity.name) differ in case only"
      }
      if let clash = columnClash(entity) { return clash }
    }
    return nil
  }

  /// SQLite reads a statement up to the first NUL. Names that begin with an underscore are reserved for Trellis's own
  /// tables.
  private func unfitName(_ root: Entity) -> String? {
    for number in root.subtree {
      let entity = model.entities[number]
      if entity.name.utf8.first == UInt8(ascii: "_") {
        return "\(entity.name) begins as the names of the store's own tables"
      }
      for name in [entity.name] + entity.properties.map(\.name) where name.utf8.contains(0) {
        return "a name of \(entity.name) contains NUL"
      }
    }
    return nil
  }

  private func columnClash(_ root: Entity) -> String? {
    var columns: [String: String] = ["_id": "_id", "_version": "_version", "_entity": "_entity"]
    var known: Set<String> = []
    for number in root.subtree {
      for column in model.entities[number].columns where known.insert(column.name).inserted {
        if let other = columns.updateValue(column.name, forKey: column.name.asciiLowercased) {
          return "the properties \(other) and \(column.name) of \(root.name) differ in case only"
        }
      }
    }
    return nil
  }
}

extension String {
  fileprivate var asciiLowercased: String {
    String(decoding: utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 + 0x20 : $0 }, as: UTF8.self)
  }
}
