/// The names that a model cannot use in Swift, because Swift or the generated code needs them. Other Swift keywords
/// work in backticks.
///
/// The checks on model files report these names with their position in the file; the generator rejects them in a
/// description from elsewhere. Both use this list, and `Tests/Packages/Consumer` compiles a model with every name that
/// the list permits.
package enum ReservedNames {
  /// Words that Swift reserves even in backticks, or that make a member unreachable.
  package static let swiftWords: Set<String> = ["init", "self", "Self", "Type", "Protocol", "Any"]

  /// Names that an entity, enum or `Codable` type cannot have.
  package static let types = modules.union(nestedTypes).union(literalTypes).union(classes)

  /// Modules. Generated code qualifies each type with its module, so that types of the model can share names with
  /// others.
  private static let modules: Set<String> = [
    "Swift", "Foundation", "Trellis", "TrellisModel", "TrellisStorage", "TrellisRuntime",
  ]

  /// Types nested in each generated class, which shadow types of the same name outside it.
  private static let nestedTypes: Set<String> = [
    "Columns", "FetchRequest", "Hooks", "ID", "LiveResults", "Object", "Snapshot",
  ]

  /// Types that the compiler looks up by name for every literal.
  private static let literalTypes: Set<String> = [
    "BooleanLiteralType", "ExtendedGraphemeClusterType", "FloatLiteralType", "IntegerLiteralType", "StringLiteralType",
    "UnicodeScalarType",
  ]

  /// Types that every app uses by name.
  private static let classes: Set<String> = [
    "ManagedObject", "ManagedObjectContext", "ObjectModel", "PersistentContainer",
  ]

  /// Types of the standard library that nearly every file uses. An entity with such a name works, but shadows the type.
  package static let shadowedTypes: Set<String> = [
    "String", "Int", "Bool", "Double", "Float", "Array", "Dictionary", "Optional", "Result", "Error", "Never", "Void",
  ]

  /// Members of managed objects, of their classes, and of all generated classes.
  package static let members: Set<String> = [
    "objectID", "managedObjectContext", "isDeleted", "isInserted", "isUpdated", "isFault", "hasChanges", "snapshot",
    "committed", "description", "debugDescription", "hash", "hashValue", "changedProperties", "validate", "refresh",
    "delete", "load", "undelete", "rollback", "where", "all", "fetch", "replacedBy", "committedMembers",
    "formatArgument", "storedKey", "storedVersion", "writeRow", "writeColumns",
  ]

  /// Members of every generated enum, with which a case would collide.
  package static let cases: Set<String> = [
    "AllCases", "RawValue", "allCases", "hash", "hashValue", "placeholder", "rawValue",
  ]

  /// Cases that would be ambiguous with those of `Optional` in an optional value.
  package static let optionalCases: Set<String> = ["none", "some"]
}

// MARK: - Nearest name

/// Finds the name that a misspelled one most likely stands for.
package enum NearestName {
  /// The number of bytes of a name that are compared.
  private static let lengthLimit = 255

  /// The candidate closest to the name; nil if every candidate differs in more than a third of the name's letters.
  package static func closest(to name: String, among candidates: some Sequence<String>) -> String? {
    let typed = Array(name.utf8.prefix(lengthLimit))
    var best: String?
    var least = max(1, typed.count / 3) + 1
    for candidate in candidates where abs(candidate.utf8.count - typed.count) < least {
      let distance = distance(typed, Array(candidate.utf8), below: least)
      if distance < least { (best, least) = (candidate, distance) }
    }
    return best
  }

  /// The edit distance: the number of letters to change, insert, delete or swap with a neighbor; `limit` if it is at
  /// least that. A difference in case counts as zero, so that the same word in another case is always the closest.
  package static func distance(_ left: [UInt8], _ right: [UInt8], below limit: Int) -> Int {
    var beforePrevious: [Int] = []
    var previous = Array(0...right.count)
    for row in left.indices {
      var current = [row + 1]
      for column in right.indices {
        let isSame = lowercase(left[row]) == lowercase(right[column])
        var cost = min(previous[column] + (isSame ? 0 : 1), previous[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, lowercase(left[row]) == lowercase(right[column - 1]),
          lowercase(left[row - 1]) == lowercase(right[column])
        {
          cost = min(cost, beforePrevious[column - 1] + 1)
        }
        current.append(cost)
      }
      if (current.min() ?? 0) >= limit { return limit }
      (beforePrevious, previous) = (previous, current)
    }
    return previous.last ?? limit
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
  }
}
