import TrellisModel

/// A Swift identifier, in backticks if it is a keyword.
struct Identifier: Hashable {
  /// The name without backticks.
  let name: String

  init(_ name: String) { self.name = name }

  /// The name in a declaration or on its own.
  var spelled: String { Keywords.all.contains(name) ? "`\(name)`" : name }

  /// The name as an argument label in a call. Only `inout` needs backticks there.
  var argument: String { name == "inout" ? "`inout`" : name }

  /// The name as a parameter label. Few keywords need backticks there.
  var label: String { Keywords.notLabels.contains(name) ? "`\(name)`" : name }

  /// The name after a dot, where most keywords are ordinary names.
  var member: String { Keywords.special.contains(name) ? "`\(name)`" : name }

  /// The name on its own, qualified with `self` if one of the other names would shadow it.
  func member(besides others: String...) -> String {
    others.contains(name) ? "self.\(member)" : spelled
  }

  /// The name with its first word in lowercase: `Diary` gives `diary`, `URLStore` gives `urlStore`.
  var lowerCamel: Identifier {
    let scalars = Array(name.unicodeScalars)
    let capitals = scalars.prefix { $0.properties.isUppercase }.count
    // The last of several capitals begins the next word, unless no lowercase letter follows.
    let startsWord = capitals > 1 && capitals < scalars.count && scalars[capitals].properties.isLowercase
    let count = startsWord ? capitals - 1 : capitals
    var lowered = ""
    for (place, scalar) in scalars.enumerated() {
      lowered += place < count ? scalar.properties.lowercaseMapping : String(scalar)
    }
    return Identifier(lowered)
  }

  /// Whether Swift accepts the name, at most with backticks. Names of models consist of ASCII letters, digits and
  /// underscores.
  var isUsable: Bool {
    guard let first = name.utf8.first, !Keywords.special.contains(name), name != "_" else { return false }
    return Self.isLetter(first) && name.utf8.allSatisfy { Self.isLetter($0) || ($0 >= 0x30 && $0 <= 0x39) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (byte >= 0x41 && byte <= 0x5A) || (byte >= 0x61 && byte <= 0x7A) || byte == 0x5F
  }
}

// MARK: - Keywords

/// Swift keywords, by the positions in which generated code uses names.
enum Keywords {
  /// Keywords that need backticks in a declaration or on their own, including contextual keywords that can begin an
  /// expression.
  static let all: Set<String> = [
    "Any", "Protocol", "Self", "Type", "actor", "any", "as", "associatedtype", "async", "await", "borrow", "break",
    "case",
    "catch", "class", "consume", "continue", "copy", "default", "defer", "deinit", "didSet", "discard", "do", "each",
    "else",
    "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "get", "guard", "if", "import", "in",
    "init",
    "inout", "internal", "is", "let", "macro", "nil", "nonisolated", "operator", "package", "precedencegroup",
    "private",
    "protocol", "public", "repeat", "rethrows", "return", "self", "set", "some", "static", "struct", "subscript",
    "super",
    "switch", "then", "throw", "throws", "true", "try", "typealias", "unsafe", "var", "where", "while", "willSet",
    "yield",
  ]

  /// Keywords that need backticks even as a parameter label.
  static let notLabels: Set<String> = ["inout", "let", "var"]

  /// Keywords that have a special meaning even after a dot.
  static let special: Set<String> = ["init", "self", "Self", "Type", "Protocol", "Any"]
}

// MARK: - Name check

extension EntityDescription {
  /// The name of the entity's class in Swift.
  var className: String { swiftName ?? name }
}

extension Model {
  /// The name of an entity's class in Swift.
  func className(of entity: Int) -> String { description.entities[entity].className }
}

extension Property {
  /// The property's name in Swift.
  var swiftName: String {
    switch self {
    case .attribute(let attribute) where attribute.isField:
      // The class has a property for the whole.
      "_" + attribute.name.split(separator: ".").joined(separator: "_")
    case .attribute(let attribute): attribute.description.swiftName ?? attribute.name
    case .relationship(let relationship): relationship.description.swiftName ?? relationship.name
    }
  }
}

// MARK: - Type name

/// The types of Trellis as written in generated code: qualified by module, so that no type of the app can be meant
/// instead.
enum TypeName {
  static let formerPlace = "TrellisRuntime.FormerPlace"
  static let formerRow = "TrellisRuntime.FormerRow"
  static let formerVersion = "TrellisRuntime.FormerVersion"
  static let attributeDescription = "TrellisModel.AttributeDescription"
  static let attributeRules = "TrellisModel.AttributeRules"
  static let compositeAttributeDescription = "TrellisModel.CompositeAttributeDescription"
  static let compositeDescription = "TrellisModel.CompositeDescription"
  static let scalarDescription = "TrellisModel.ScalarDescription"
  static let entityDescription = "TrellisModel.EntityDescription"
  static let entityJSON = "TrellisModel.EntityJSON"
  static let enumDescription = "TrellisModel.EnumDescription"
  static let fetchRequestDescription = "TrellisModel.FetchRequestDescription"
  static let historyLimit = "TrellisModel.HistoryLimit"
  static let indexDescription = "TrellisModel.IndexDescription"
  static let modelDescription = "TrellisModel.ModelDescription"
  static let propertyJSON = "TrellisModel.PropertyJSON"
  static let relationshipDescription = "TrellisModel.RelationshipDescription"
  static let storedValue = "TrellisModel.StoredValue"
  static let userInfoEntry = "TrellisModel.UserInfoEntry"

  static let propertyPath = "TrellisModel.PropertyPath"
  static let queryPredicate = "TrellisModel.QueryPredicate"

  static let columnMask = "TrellisStorage.ColumnMask"
  static let externalData = "TrellisStorage.ExternalData"
  static let modelEnum = "TrellisStorage.ModelEnum"
  static let predicateArgument = "TrellisStorage.PredicateArgument"
  static let rowReader = "TrellisStorage.RowReader"
  static let rowWriter = "TrellisStorage.RowWriter"
  static let unknownRawValue = "TrellisStorage.UnknownRawValue"

  static let attributePath = "TrellisRuntime.AttributePath"
  static let computedValue = "TrellisRuntime.ComputedValue"
  static let compositeColumns = "TrellisRuntime.CompositeColumns"
  static let compositeField = "TrellisRuntime.CompositeField"
  static let compositePath = "TrellisRuntime.CompositePath"
  static let compositeValue = "TrellisRuntime.CompositeValue"
  static let optionalCompositePath = "TrellisRuntime.OptionalCompositePath"
  static let conditionBuilder = "TrellisRuntime.ConditionBuilder"
  static let contextLink = "TrellisRuntime.ContextLink"
  static let entityColumns = "TrellisRuntime.EntityColumns"
  static let entitySnapshot = "TrellisRuntime.EntitySnapshot"
  static let fetchRequest = "TrellisRuntime.FetchRequest"
  static let fetchableObject = "TrellisRuntime.FetchableObject"
  static let hookFailures = "TrellisRuntime.HookFailures"
  static let identifiedObject = "TrellisRuntime.IdentifiedObject"
  static let keyPathTable = "TrellisRuntime.KeyPathTable"
  static let liveResults = "TrellisRuntime.LiveResults"
  static let managedObject = "TrellisRuntime.ManagedObject"
  static let managedObjectContext = "TrellisRuntime.ManagedObjectContext"
  static let objectID = "TrellisRuntime.ObjectID"
  static let objectModel = "TrellisRuntime.ObjectModel"
  static let orderedToMany = "TrellisRuntime.OrderedToMany"
  static let predicateFormat = "TrellisRuntime.PredicateFormat"
  static let queryCondition = "TrellisRuntime.QueryCondition"
  static let rowCopy = "TrellisRuntime.RowCopy"
  static let rowCopyBase = "TrellisRuntime.RowCopyBase"
  static let snapshotVisitor = "TrellisRuntime.SnapshotVisitor"
  static let storedFields = "TrellisRuntime.StoredFields"
  static let toMany = "TrellisRuntime.ToMany"
  static let toManyPath = "TrellisRuntime.ToManyPath"
  static let toOnePath = "TrellisRuntime.ToOnePath"
}

// MARK: - Unsafe mark

/// `unsafe` before accesses to the stored properties of a class.
///
/// These accesses are not checked for exclusivity, so strict memory safety requires the mark. They are safe because an
/// object belongs to one isolation domain, and generated code calls nothing during an access. Compilers before 6.2 know
/// neither the keyword nor the setting; the tool is built by the same compiler that compiles its output.
#if compiler(>=6.2)
  let unsafeMark = "unsafe "
#else
  let unsafeMark = ""
#endif
