/// Names of the private properties beside a class's row: `_memo` for the transient `memo`, `_diaryPlace` for the place beside `diary`.
enum PrivateNames {
  /// What generated classes and the class above all of them have with an underscore.
  private static let taken: Set<String> = [
    "_changes", "_committed", "_copyRow", "_copyTransients", "_description",
    "_didFetch", "_didInsert", "_didSave", "_finishInsert", "_noteFetch", "_validateDelete", "_validateInsert",
    "_validateUpdate", "_willDelete", "_willSave", "_entity",
    "_findPartner",
    "_isInserted",
    "_key", "_markAssigned", "_model", "_partner", "_place", "_read", "_reference", "_restore",
    "_restoreTransients", "_row", "_setPartner", "_setPlace",
    "_setReference",
    "_slowRead", "_slowWrite", "_value", "_willRead", "_willWrite",
  ]

  /// The function behind `snapshot` in a hierarchy, where each class needs another name for it.
  static func snapshot(of entity: String) -> String { "_\(Identifier(entity).lowerCamel.name)Snapshot" }
  /// The function behind `committed` in a hierarchy.
  static func committed(of entity: String) -> String { "_\(Identifier(entity).lowerCamel.name)Committed" }

  /// - Parameter lineage: the names of the class and of those above it.
  static func assign(to fields: [Field], lineage: [String]) {
    var names = taken.union(lineage.flatMap { [snapshot(of: $0), committed(of: $0)] })
    for field in fields {
      if field.isTransient {
        field.storage = free("_" + field.name.name, &names)
      } else if field.placeColumn != nil {
        field.storage = free("_\(field.name.name)Place", &names)
      }
    }
  }

  private static func free(_ name: String, _ names: inout Set<String>) -> String {
    var name = name
    while !names.insert(name).inserted { name += "_" }
    return name
  }
}
