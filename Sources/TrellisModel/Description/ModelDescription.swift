/// A model as its file declares it: names, types and rules, with nothing resolved.
///
/// The generated code holds a description. ``Model`` is its resolved form, with numbers in place of names.
public struct ModelDescription: Hashable, Sendable {
  public var name: String
  /// The version of the model, as free text. Comparing models ignores it.
  public var version: String?
  public var doc: String?
  public var enums: [EnumDescription]
  /// The names of the app's `Codable` structs that attributes use.
  public var codableTypes: [String]
  public var entities: [EntityDescription]
  public var userInfo: [UserInfoEntry]

  public init(
    name: String, version: String? = nil, doc: String? = nil, enums: [EnumDescription] = [],
    codableTypes: [String] = [], entities: [EntityDescription] = [], userInfo: [UserInfoEntry] = []
  ) {
    self.name = name
    self.version = version
    self.doc = doc
    self.enums = enums
    self.codableTypes = codableTypes
    self.entities = entities
    self.userInfo = userInfo
  }
}

/// One entry of `userInfo`: text that Trellis stores and never interprets.
public struct UserInfoEntry: Hashable, Sendable {
  public var key: String
  public var value: String

  public init(_ key: String, _ value: String) {
    self.key = key
    self.value = value
  }
}

/// An enum that attributes can use as their type.
public struct EnumDescription: Hashable, Sendable {
  public enum RawType: String, Hashable, Sendable, CaseIterable {
    case string, integer
  }

  /// The handling of a stored raw value that matches no case.
  public enum UnknownPolicy: Hashable, Sendable {
    /// Keeps the raw value in a separate case and writes it back unchanged.
    case preserve
    /// Reads the raw value as this case. Setting the attribute overwrites the stored value.
    case useDefault(String)
    /// Fails to read the row.
    case reject
  }

  public struct Case: Hashable, Sendable {
    public var name: String
    public var rawValue: StoredValue
    public var doc: String?

    public init(_ name: String, _ rawValue: StoredValue, doc: String? = nil) {
      self.name = name
      self.rawValue = rawValue
      self.doc = doc
    }
  }

  public var name: String
  public var rawType: RawType
  public var cases: [Case]
  public var unknown: UnknownPolicy
  public var doc: String?

  public init(
    _ name: String, rawType: RawType, cases: [Case], unknown: UnknownPolicy = .reject, doc: String? = nil
  ) {
    self.name = name
    self.rawType = rawType
    self.cases = cases
    self.unknown = unknown
    self.doc = doc
  }

  /// Creates an enum with text raw values, in a form that compiles quickly for any number of cases.
  ///
  /// - Parameters:
  ///   - caseNames: The names of the cases, in order.
  ///   - texts: The raw values; nil if each is the name of its case.
  ///   - docs: The doc comments, by the name of the case. Cases without one are absent.
  public init(
    _ name: String, caseNames: [String], texts: [String]? = nil, docs: [String: String] = [:],
    unknown: UnknownPolicy = .reject, doc: String? = nil
  ) {
    let cases = zip(caseNames, texts ?? caseNames).map { Case($0, .text($1), doc: docs[$0]) }
    self.init(name, rawType: .string, cases: cases, unknown: unknown, doc: doc)
  }

  /// Creates an enum with integer raw values, in a form that compiles quickly for any number of cases.
  ///
  /// - Parameters:
  ///   - caseNames: The names of the cases, in order.
  ///   - numbers: The raw values.
  ///   - docs: The doc comments, by the name of the case. Cases without one are absent.
  public init(
    _ name: String, caseNames: [String], numbers: [Int64], docs: [String: String] = [:],
    unknown: UnknownPolicy = .reject, doc: String? = nil
  ) {
    let cases = zip(caseNames, numbers).map { Case($0, .integer($1), doc: docs[$0]) }
    self.init(name, rawType: .integer, cases: cases, unknown: unknown, doc: doc)
  }
}

// MARK: - Entity description

/// An entity as declared in the model file. Inherited properties are not repeated.
public struct EntityDescription: Hashable, Sendable {
  public var name: String
  public var parent: String?
  public var isAbstract: Bool
  public var attributes: [AttributeDescription]
  public var relationships: [RelationshipDescription]
  /// Lists of property names; the combined values of each must be unique.
  public var uniqueKeys: [[String]]
  public var indexes: [IndexDescription]
  public var fetchRequests: [FetchRequestDescription]
  /// The lifecycle hooks that the app implements.
  public var hooks: [LifecycleHook]
  public var renamedFrom: String?
  public var doc: String?
  public var userInfo: [UserInfoEntry]

  public init(
    _ name: String, parent: String? = nil, isAbstract: Bool = false, attributes: [AttributeDescription] = [],
    relationships: [RelationshipDescription] = [], uniqueKeys: [[String]] = [], indexes: [IndexDescription] = [],
    fetchRequests: [FetchRequestDescription] = [], hooks: [LifecycleHook] = [], renamedFrom: String? = nil,
    doc: String? = nil, userInfo: [UserInfoEntry] = []
  ) {
    self.name = name
    self.parent = parent
    self.isAbstract = isAbstract
    self.attributes = attributes
    self.relationships = relationships
    self.uniqueKeys = uniqueKeys
    self.indexes = indexes
    self.fetchRequests = fetchRequests
    self.hooks = hooks
    self.renamedFrom = renamedFrom
    self.doc = doc
    self.userInfo = userInfo
  }
}

/// An index declared in the model. It speeds up fetches and changes no result.
public struct IndexDescription: Hashable, Sendable {
  public struct Element: Hashable, Sendable {
    public var property: String
    public var isDescending: Bool

    public init(_ property: String, descending: Bool = false) {
      self.property = property
      isDescending = descending
    }
  }

  public var elements: [Element]

  public init(_ elements: [Element]) {
    self.elements = elements
  }
}

/// A named fetch request declared in the model.
public struct FetchRequestDescription: Hashable, Sendable {
  public struct Sort: Hashable, Sendable {
    /// A property, or a dotted path through to-one relationships.
    public var path: String
    public var isDescending: Bool

    public init(_ path: String, descending: Bool = false) {
      self.path = path
      isDescending = descending
    }
  }

  public var name: String
  /// The predicate as format text; `$name` is the placeholder of an argument.
  public var predicate: String?
  public var sort: [Sort]
  public var limit: Int?
  public var offset: Int?
  /// The relationships to prefetch along with the results, each a name or a dotted path.
  public var prefetch: [String]
  public var doc: String?

  public init(
    _ name: String, predicate: String? = nil, sort: [Sort] = [], limit: Int? = nil, offset: Int? = nil,
    prefetch: [String] = [], doc: String? = nil
  ) {
    self.name = name
    self.predicate = predicate
    self.sort = sort
    self.limit = limit
    self.offset = offset
    self.prefetch = prefetch
    self.doc = doc
  }
}

// MARK: - Attribute description

/// An attribute as declared in the model file.
public struct AttributeDescription: Hashable, Sendable {
  public var name: String
  public var type: AttributeType
  public var isOptional: Bool
  public var isTransient: Bool
  public var defaultValue: DefaultValue?
  public var rules: AttributeRules
  /// Whether large values are stored in files beside the store. Only for `data`.
  public var isExternal: Bool
  /// Whether the text is in the full-text index. Only for `string`.
  public var isSearchable: Bool
  /// The name of the Swift property, if it differs from ``name``.
  public var swiftName: String?
  public var renamedFrom: String?
  public var doc: String?
  public var userInfo: [UserInfoEntry]

  public init(
    _ name: String, _ type: AttributeType, optional: Bool = false, transient: Bool = false,
    default defaultValue: DefaultValue? = nil, rules: AttributeRules = AttributeRules(), external: Bool = false,
    searchable: Bool = false, swiftName: String? = nil, renamedFrom: String? = nil, doc: String? = nil,
    userInfo: [UserInfoEntry] = []
  ) {
    self.name = name
    self.type = type
    isOptional = optional
    isTransient = transient
    self.defaultValue = defaultValue
    self.rules = rules
    isExternal = external
    isSearchable = searchable
    self.swiftName = swiftName
    self.renamedFrom = renamedFrom
    self.doc = doc
    self.userInfo = userInfo
  }
}

/// The value of an attribute before any assignment.
public indirect enum DefaultValue: Hashable, Sendable {
  /// The time of insertion. Only for `date`.
  case now
  /// A new random UUID. Only for `uuid`.
  case new
  /// A value in its stored form: an enum's raw value, a date's microseconds, a decimal's canonical text.
  case value(StoredValue)
  /// A list, each element in its stored form.
  case list([StoredValue])
}

/// The validation rules that a value must pass on save.
public struct AttributeRules: Hashable, Sendable {
  /// The minimum and the maximum value, in stored form: numbers, decimals and dates.
  public var minimum: StoredValue?
  public var maximum: StoredValue?
  /// The minimum and the maximum length: Unicode scalars of a text, bytes of data, or elements of a list.
  public var minimumLength: Int?
  public var maximumLength: Int?
  /// A regular expression that the whole text must match.
  public var pattern: String?

  public init(
    min minimum: StoredValue? = nil, max maximum: StoredValue? = nil, minLength: Int? = nil, maxLength: Int? = nil,
    pattern: String? = nil
  ) {
    self.minimum = minimum
    self.maximum = maximum
    minimumLength = minLength
    maximumLength = maxLength
    self.pattern = pattern
  }

  /// Whether there are no rules.
  public var isEmpty: Bool {
    minimum == nil && maximum == nil && minimumLength == nil && maximumLength == nil && pattern == nil
  }
}

// MARK: - Relationship description

/// A relationship as declared in the model file.
public struct RelationshipDescription: Hashable, Sendable {
  public var name: String
  public var destination: String
  public var inverse: String?
  public var deleteRule: DeleteRule
  public var isToMany: Bool
  public var isOrdered: Bool
  public var minimumCount: Int?
  public var maximumCount: Int?
  public var isOptional: Bool
  public var isTransient: Bool
  /// The name of the Swift property, if it differs from ``name``.
  public var swiftName: String?
  public var renamedFrom: String?
  public var doc: String?
  public var userInfo: [UserInfoEntry]

  public init(
    _ name: String, to destination: String, inverse: String? = nil, deleteRule: DeleteRule = .nullify,
    toMany: Bool = false, ordered: Bool = false, minCount: Int? = nil, maxCount: Int? = nil, optional: Bool = false,
    transient: Bool = false, swiftName: String? = nil, renamedFrom: String? = nil, doc: String? = nil,
    userInfo: [UserInfoEntry] = []
  ) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    self.deleteRule = deleteRule
    isToMany = toMany
    isOrdered = ordered
    minimumCount = minCount
    maximumCount = maxCount
    isOptional = optional
    isTransient = transient
    self.swiftName = swiftName
    self.renamedFrom = renamedFrom
    self.doc = doc
    self.userInfo = userInfo
  }
}

/// The effect of an object's deletion on the objects at the other end.
public enum DeleteRule: String, Hashable, Sendable, CaseIterable {
  /// Removes the reference to the deleted object.
  case nullify
  /// Deletes them as well.
  case cascade
  /// Refuses the delete on save while there are any.
  case deny
  /// Leaves their reference in place. It reads nil from then on.
  case noAction
}

// MARK: - Lifecycle hook

/// An event in the lifecycle of an object at which a function of the app is called, if the model lists it.
public enum LifecycleHook: String, Hashable, Sendable, CaseIterable {
  /// The object was created; called at the end of its initializer.
  case didInsert
  /// The object's row was read; called before the first access to its values after that.
  case didFetch
  /// The object is about to be inserted or updated. The hook may change values.
  case willSave
  /// The object was inserted or updated.
  case didSave
  /// The object is about to be deleted, directly or by a cascade. Its relationships are still intact.
  case willDelete
  /// Validates the object before it is inserted.
  case validateInsert
  /// Validates the object before it is updated.
  case validateUpdate
  /// Validates the object before it is deleted from the store.
  case validateDelete
}
