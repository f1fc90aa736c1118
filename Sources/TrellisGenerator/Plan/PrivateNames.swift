/// The names of private properties of a class: `_memo` for the transient `memo`, `_diaryPlace` for the position of
/// `diary`.
enum PrivateNames {
  /// Names with an underscore that generated classes or their common base class use.
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

  /// The function that implements `snapshot` in a hierarchy, where each class needs a different name.
  static func snapshot(of entity: String) -> String { "_\(Identifier(entity).lowerCamel.name)Snapshot" }
  /// The function that implements `committed` in a hierarchy.
  static func committed(of entity: String) -> String { "_\(Identifier(entity).lowerCamel.name)Committed" }

  /// - Parameter lineage: the names of the class and its parent classes.
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
