/// Names that generated code has for itself where a model's names stand beside them.
enum ReservedNames {
  /// Types that generated code writes without a module, and those that its own types contain.
  static let types: Set<String> = [
    "Swift", "Foundation", "Trellis",
    "AttributeDescription", "AttributePath", "AttributeRules", "ColumnMask", "ConditionBuilder", "ContextLink",
    "EntityColumns", "EntityDescription", "EntitySnapshot", "EnumDescription", "ExternalData", "FetchRequest",
    "FetchRequestDescription", "HookFailures",
    "IdentifiedObject", "IndexDescription", "ManagedObject", "ManagedObjectContext", "ModelDescription", "ModelEnum",
    "ObjectID", "ObjectModel", "OrderedToMany", "PropertyPath", "QueryCondition", "RelationshipDescription", "RowCopy",
    "RowCopyBase", "RowReader", "RowWriter", "StoredValue", "ToMany", "ToManyPath", "ToOnePath", "UnknownRawValue",
    "UserInfoEntry",
    "AllCases", "Columns", "Fields", "ID", "Hooks", "Object", "RawValue", "Snapshot", "Transients",
  ]

  /// Members of every generated class or of the classes and structs around it.
  static let members: Set<String> = [
    "all", "changedProperties", "committed", "committedMembers", "description", "hasChanges", "hash", "hashValue",
    "isDeleted", "isFault",
    "formatArgument", "isInserted", "isUpdated", "managedObjectContext", "objectID", "rollback", "snapshot",
    "storedKey", "storedVersion",
    "validate", "where",
  ]

  /// Members of every generated enum that a case cannot stand beside.
  static let cases: Set<String> = ["allCases", "hash", "hashValue", "none", "placeholder", "rawValue", "some"]
}
