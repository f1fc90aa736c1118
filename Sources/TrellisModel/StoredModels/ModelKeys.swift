/// The keys of the objects in a model file.
package enum ModelKeys {
  package static let model = [
    "$schema", "model", "version", "doc", "userInfo", "enums", "scalars", "codableTypes", "codableVersions",
    "composites", "entities",
    "removed", "foundationPredicates", "migrates", "history", "keepHistory",
  ]
  package static let historyLimit = ["days", "transactions"]
  package static let enumeration = ["type", "cases", "unknown", "doc"]
  package static let enumCase = ["name", "value", "renamedFrom", "doc"]
  package static let composite = ["attributes", "doc"]
  package static let entity = [
    "doc", "parent", "abstract", "attributes", "relationships", "unique", "indexes", "fetchRequests", "hooks",
    "swiftName", "renamedFrom", "removed", "userInfo", "json", "history", "sync",
  ]
  package static let attribute = [
    "type", "optional", "default", "transient", "min", "max", "minLength", "maxLength", "pattern", "externalStorage",
    "searchable", "keepInHistory", "doc", "renamedFrom", "backfill", "convert", "userInfo", "swiftName", "json",
    "derived", "stored", "sync",
  ]
  package static let compositeAttribute = [
    "type", "optional", "fields", "doc", "renamedFrom", "userInfo", "swiftName",
  ]
  /// What an entity may say of a field of a composite.
  package static let field = [
    "default", "searchable", "keepInHistory", "renamedFrom", "backfill", "convert", "json", "doc", "sync",
  ]
  package static let relationship = [
    "destination", "inverse", "deleteRule", "toMany", "ordered", "minCount", "maxCount", "optional", "transient", "doc",
    "renamedFrom", "convert", "userInfo", "swiftName", "json", "sync",
  ]
  package static let sync = ["conflict"]
  package static let fetchRequest = ["predicate", "sort", "limit", "offset", "prefetch", "doc"]
  package static let entityJSON = ["key", "style", "entity", "as"]
  package static let attributeJSON = ["path", "date", "take", "null", "empty"]
  package static let relationshipJSON = ["path", "reference", "take", "members", "null", "empty"]
}

// MARK: - Words

/// The raw type of an enum.
package enum RawTypeWord: String, CaseIterable {
  case string, int
}

/// What a read does with a raw value that no case has.
package enum UnknownWord: String, CaseIterable {
  case preserve, reject
}

/// What a migration may do with stored values that do not fit.
package enum ConversionWord: String, CaseIterable {
  case lossy
}

/// What is recorded about changes, besides true and false.
package enum HistoryWord: String, CaseIterable {
  case values
}

/// What a null of JSON does.
package enum NullWord: String, CaseIterable {
  case keep
}

/// What an empty text of JSON is.
package enum EmptyWord: String, CaseIterable {
  case null
}
