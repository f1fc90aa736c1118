/// Names that a model cannot use in Swift. Other keywords of Swift work, in backticks.
public enum ReservedNames {
  /// Words that Swift takes for itself even in backticks, or that make a member unreachable.
  public static let swiftWords: Set<String> = ["init", "self", "Self", "Type", "Protocol", "Any"]

  /// Modules that generated code names in full, and the types of Trellis that users write most.
  public static let types: Set<String> = [
    "Swift", "Foundation", "Trellis", "ManagedObject", "ManagedObjectContext", "PersistentContainer", "FetchRequest",
    "ObjectModel",
  ]

  /// Types of the standard library that nearly every file names. An entity of such a name works, but hides the type.
  public static let shadowedTypes: Set<String> = [
    "String", "Int", "Bool", "Double", "Float", "Array", "Dictionary", "Optional", "Result", "Error", "Never", "Void",
  ]

  /// Members of managed objects, of their class, and of all generated classes.
  public static let members: Set<String> = [
    "objectID", "managedObjectContext", "isDeleted", "isInserted", "isUpdated", "isFault", "hasChanges", "snapshot",
    "committed", "description", "debugDescription", "hash", "hashValue", "changedProperties", "validate", "refresh",
    "delete", "load", "undelete", "rollback", "where", "all", "Snapshot", "Columns", "fetch", "replacedBy",
    "committedMembers", "formatArgument", "storedKey", "storedVersion", "writeRow", "writeColumns",
  ]

  /// Members that every generated enum has.
  public static let caseNames: Set<String> = ["allCases", "rawValue", "hashValue", "hash", "init", "self", "Type"]
}
