/// A managed object model of Core Data, as its file or the cache of a store declares it.
///
/// Both readers fill this form, and ``ModelTranslation`` reads nothing else.
struct CoreDataModel {
  var entities: [Entity] = []
  var composites: [Composite] = []
  var fetchRequests: [Template] = []
  var configurations: [Configuration] = []
  /// The identifier of the version, as free text.
  var versionIdentifier: String?
  var isForCloudKit = false
  /// What the reader has found and has no place here: elements and attributes that are not part of the known grammar.
  var notes: [CoreDataNote] = []
  /// The attributes that only editors and code generators read, with the number of their uses.
  var editorAttributes: [String: Int] = [:]

  struct Entity {
    var name: String
    /// The class without the mark for the current module and without a module; nil for none.
    var className: String?
    var isAbstract = false
    var parent: String?
    /// The renaming identifier; nil if it is the name.
    var renamingIdentifier: String?
    var hashModifier: String?
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []
    var fetchedProperties: [FetchedProperty] = []
    var indexes: [Index] = []
    /// Lists of names of attributes.
    var uniqueness: [[String]] = []
    var userInfo: [(key: String, value: String)] = []
    var spotlightExpression: String?

    /// The name by which the versions of a model know the same entity.
    var identity: String { renamingIdentifier ?? name }
  }

  /// The types of attributes.
  enum AttributeKind: Hashable {
    case undefined, integer16, integer32, integer64, decimal, double, float, string, boolean, date, binary, uuid, uri
    case transformable, objectID
    /// The name of the composite.
    case composite(String)
  }

  struct Attribute {
    var name: String
    var kind: AttributeKind
    var isOptional = false
    var isTransient = false
    /// The value in new objects: of a model file as a text, otherwise as the cache holds it.
    var defaultValue: ArchivedValue?
    /// The bounds of numbers and dates, and of the lengths of texts.
    var minimum: ArchivedValue?
    var maximum: ArchivedValue?
    var pattern: String?
    var valueTransformer: String?
    var customClass: String?
    var allowsExternalStorage = false
    /// The expression of a derived attribute; an empty one if it is unknown.
    var derivation: String?
    var renamingIdentifier: String?
    var hashModifier: String?
    var isIndexed = false
    var userInfo: [(key: String, value: String)] = []
    /// The options without a counterpart, by their names in model files.
    var otherOptions: [String] = []
  }

  struct Relationship {
    var name: String
    var destination: String
    var inverse: String?
    /// The entity that the model names as that of the inverse; nil if it names none.
    var inverseEntity: String?
    var isOptional = false
    var isTransient = false
    var isToMany = false
    var isOrdered = false
    var minCount = 0
    /// 0 for no bound.
    var maxCount = 0
    var deleteRule = DeleteRule.nullify
    var isIndexed = false
    var renamingIdentifier: String?
    var hashModifier: String?
    var userInfo: [(key: String, value: String)] = []
    var otherOptions: [String] = []
  }

  enum DeleteRule: Hashable {
    case noAction, nullify, cascade, deny
  }

  struct FetchedProperty {
    var name: String
    var entity: String?
    var predicate: String?
  }

  struct Index {
    struct Element {
      /// The name of the property; nil for an expression.
      var property: String?
      var expression: String?
      var isDescending = false
      var isSpatial = false
    }

    var name: String?
    var elements: [Element] = []
    /// Whether the index leaves out some rows.
    var isPartial = false
  }

  struct Composite {
    var name: String
    var attributes: [Attribute] = []
  }

  struct Template {
    var name: String
    var entity: String?
    var predicate: String?
    var limit: Int?
    /// The options without a counterpart, by their names in model files.
    var otherOptions: [String] = []
  }

  struct Configuration {
    var name: String
    var entities: [String] = []
  }
}
