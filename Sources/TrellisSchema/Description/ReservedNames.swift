/// The names that a model cannot use in Swift, since Swift or generated code needs them. Other keywords of Swift work, in
/// backticks.
///
/// The checks on model files refuse them with a place in the file; the generator refuses them in a description that comes from
/// elsewhere. Both ask this list, and `Tests/Packages/Consumer` compiles a model with every name that the list lets pass.
package enum ReservedNames {
  /// Words that Swift takes for itself even in backticks, or that make a member unreachable.
  package static let swiftWords: Set<String> = ["init", "self", "Self", "Type", "Protocol", "Any"]

  /// Names that no entity, enum or Codable type can have.
  package static let types = modules.union(nestedTypes).union(literalTypes).union(classes)

  /// Modules: generated code writes each type with its module, so that types of the model may have the names of others.
  private static let modules: Set<String> = [
    "Swift", "Foundation", "Trellis", "TrellisSchema", "TrellisQuery", "TrellisStorage", "TrellisRuntime",
  ]

  /// Types inside of each generated class, which hide those around it.
  private static let nestedTypes: Set<String> = [
    "Columns", "FetchRequest", "Hooks", "ID", "LiveResults", "Object", "Snapshot",
  ]

  /// Types that the compiler looks up by these names for every literal.
  private static let literalTypes: Set<String> = [
    "BooleanLiteralType", "ExtendedGraphemeClusterType", "FloatLiteralType", "IntegerLiteralType", "StringLiteralType",
    "UnicodeScalarType",
  ]

  /// What every program writes.
  private static let classes: Set<String> = [
    "ManagedObject", "ManagedObjectContext", "ObjectModel", "PersistentContainer",
  ]

  /// Types of the standard library that nearly every file names. An entity of such a name works, but hides the type.
  package static let shadowedTypes: Set<String> = [
    "String", "Int", "Bool", "Double", "Float", "Array", "Dictionary", "Optional", "Result", "Error", "Never", "Void",
  ]

  /// Members of managed objects, of their class, and of all generated classes.
  package static let members: Set<String> = [
    "objectID", "managedObjectContext", "isDeleted", "isInserted", "isUpdated", "isFault", "hasChanges", "snapshot",
    "committed", "description", "debugDescription", "hash", "hashValue", "changedProperties", "validate", "refresh",
    "delete", "load", "undelete", "rollback", "where", "all", "fetch", "replacedBy", "committedMembers",
    "formatArgument", "storedKey", "storedVersion", "writeRow", "writeColumns",
  ]

  /// Members of every generated enum, which a case cannot stand beside.
  package static let cases: Set<String> = [
    "AllCases", "RawValue", "allCases", "hash", "hashValue", "placeholder", "rawValue",
  ]

  /// Cases that an optional value would confuse with those of `Optional`.
  package static let optionalCases: Set<String> = ["none", "some"]
}
