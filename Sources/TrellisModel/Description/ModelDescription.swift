/// A model as its file declares it: names, types and rules, with nothing resolved.
///
/// The generated code holds a description. ``Model`` is its resolved form, with numbers in place of names.
public struct ModelDescription: Hashable, Sendable {
  /// The name in the model.
  public var name: String
  /// The version of the model, as free text. Comparing models ignores it.
  public var version: String?
  /// The doc comment from the model; nil if there is none.
  public var doc: String?
  /// The enums, in the order of the file.
  public var enums: [EnumDescription]
  /// The names of the app's `Codable` structs that attributes use.
  public var codableTypes: [String]
  /// The versions of these structs, by name: a plan of a migration tells where one has changed. A struct without a
  /// version has the version 1.
  public var codableVersions: [String: Int]
  /// The app's own types of single values, in the order of the file.
  public var scalars: [ScalarDescription]
  /// The groups of attributes that entities use as one attribute, in the order of the file.
  public var composites: [CompositeDescription]
  /// The entities, in the order of the file.
  public var entities: [EntityDescription]
  /// The names of former entities whose objects a migration may delete.
  public var removed: [String]
  /// Notes for other programs, which Trellis only stores.
  public var userInfo: [UserInfoEntry]
  /// What the store records about changes, for each entity that does not say otherwise.
  public var history: HistoryContent
  /// How much of the history the store keeps; nil for all.
  public var keepHistory: HistoryLimit?

  /// Creates the description of a model.
  public init(
    name: String, version: String? = nil, doc: String? = nil, enums: [EnumDescription] = [],
    codableTypes: [String] = [], codableVersions: [String: Int] = [:], entities: [EntityDescription] = [],
    removed: [String] = [],
    userInfo: [UserInfoEntry] = [], history: HistoryContent = .off, keepHistory: HistoryLimit? = nil,
    scalars: [ScalarDescription] = [], composites: [CompositeDescription] = []
  ) {
    self.name = name
    self.version = version
    self.scalars = scalars
    self.composites = composites
    self.doc = doc
    self.enums = enums
    self.codableTypes = codableTypes
    self.codableVersions = codableVersions
    self.entities = entities
    self.removed = removed
    self.userInfo = userInfo
    self.history = history
    self.keepHistory = keepHistory
  }
}

/// One entry of `userInfo`: text that Trellis stores and never interprets.
public struct UserInfoEntry: Hashable, Sendable {
  /// The key.
  public var key: String
  /// The value.
  public var value: String

  /// Creates an entry.
  public init(_ key: String, _ value: String) {
    self.key = key
    self.value = value
  }
}

// MARK: - Entity description

/// An entity as declared in the model file. Inherited properties are not repeated.
public struct EntityDescription: Hashable, Sendable {
  /// The name in the model.
  public var name: String
  /// The name of the parent entity; nil for a root.
  public var parent: String?
  /// Whether only subentities have objects.
  public var isAbstract: Bool
  /// The entity's own attributes, in the order of the file.
  public var attributes: [AttributeDescription]
  /// The entity's own relationships, in the order of the file.
  public var relationships: [RelationshipDescription]
  /// The entity's own composite attributes, in the order of the file.
  public var composites: [CompositeAttributeDescription] {
    get { rare?.value.composites ?? [] }
    set { change { $0.composites = newValue } }
  }
  /// Lists of property names; the combined values of each must be unique.
  public var uniqueKeys: [[String]]
  /// The indexes that the store maintains.
  public var indexes: [IndexDescription]
  /// The named fetch requests.
  public var fetchRequests: [FetchRequestDescription] {
    get { rare?.value.fetchRequests ?? [] }
    set { change { $0.fetchRequests = newValue } }
  }
  /// The lifecycle hooks that the app implements.
  public var hooks: [LifecycleHook] {
    get { rare?.value.hooks ?? [] }
    set { change { $0.hooks = newValue } }
  }
  /// The name of the Swift class, if it differs from ``name``.
  public var swiftName: String? {
    get { rare?.value.swiftName }
    set { change { $0.swiftName = newValue } }
  }
  /// The former names, the newest first. A migration finds the stored data by them.
  public var renamedFrom: [String] {
    get { rare?.value.renamedFrom ?? [] }
    set { change { $0.renamedFrom = newValue } }
  }
  /// The names of former properties whose values a migration may delete.
  public var removed: [String] {
    get { rare?.value.removed ?? [] }
    set { change { $0.removed = newValue } }
  }
  /// The doc comment from the model; nil if there is none.
  public var doc: String? {
    get { rare?.value.doc }
    set { change { $0.doc = newValue } }
  }
  /// Notes for other programs, which Trellis only stores.
  public var userInfo: [UserInfoEntry] {
    get { rare?.value.userInfo ?? [] }
    set { change { $0.userInfo = newValue } }
  }
  /// How objects are read from JSON and written to it; nil if the parent's mapping applies, or none.
  public var json: EntityJSON? {
    get { rare?.value.json }
    set { change { $0.json = newValue } }
  }
  /// What the store records about changes of the objects; nil if the model's word applies. A child entity has none, and
  /// its root's applies.
  public var history: HistoryContent? {
    get { rare?.value.history }
    set { change { $0.history = newValue } }
  }
  /// What a server of replicas decides about properties of the objects that have no word of their own; nil if the
  /// parent's word applies, or none.
  public var sync: SyncDecision? {
    get { rare?.value.sync }
    set { change { $0.sync = newValue } }
  }

  private var rare: RareBox?

  /// Creates the description of an entity.
  public init(
    _ name: String, parent: String? = nil, isAbstract: Bool = false, attributes: [AttributeDescription] = [],
    relationships: [RelationshipDescription] = [], uniqueKeys: [[String]] = [], indexes: [IndexDescription] = [],
    fetchRequests: [FetchRequestDescription] = [], hooks: [LifecycleHook] = [], swiftName: String? = nil,
    renamedFrom: [String] = [], removed: [String] = [], doc: String? = nil, userInfo: [UserInfoEntry] = [],
    json: EntityJSON? = nil, history: HistoryContent? = nil, composites: [CompositeAttributeDescription] = [],
    sync: SyncDecision? = nil
  ) {
    self.name = name
    self.parent = parent
    self.isAbstract = isAbstract
    self.attributes = attributes
    self.relationships = relationships
    self.uniqueKeys = uniqueKeys
    self.indexes = indexes
    rare = .keeping(
      Rare(
        fetchRequests: fetchRequests, hooks: hooks, swiftName: swiftName, renamedFrom: renamedFrom, removed: removed,
        doc: doc, userInfo: userInfo, json: json, history: history, composites: composites, sync: sync))
  }
}

extension EntityDescription {
  /// What few entities have. It is in memory of its own, so that a description is small.
  fileprivate struct Rare: Hashable, Sendable {
    var fetchRequests: [FetchRequestDescription] = []
    var hooks: [LifecycleHook] = []
    var swiftName: String?
    var renamedFrom: [String] = []
    var removed: [String] = []
    var doc: String?
    var userInfo: [UserInfoEntry] = []
    var json: EntityJSON?
    var history: HistoryContent?
    var composites: [CompositeAttributeDescription] = []
    var sync: SyncDecision?

    static let empty = Rare()
  }

  fileprivate final class RareBox: Hashable, Sendable {
    let value: Rare

    private init(_ value: Rare) { self.value = value }

    /// Returns nil if there is nothing to keep, so that equal descriptions have equal boxes.
    static func keeping(_ value: Rare) -> RareBox? { value == Rare.empty ? nil : RareBox(value) }

    static func == (one: RareBox, other: RareBox) -> Bool { one.value == other.value }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
  }

  private mutating func change(_ body: (inout Rare) -> Void) {
    var value = rare?.value ?? Rare.empty
    body(&value)
    rare = .keeping(value)
  }
}

/// An index declared in the model. It speeds up fetches and changes no result.
public struct IndexDescription: Hashable, Sendable {
  /// A property of the index.
  public struct Element: Hashable, Sendable {
    /// The name of the property.
    public var property: String
    /// Whether the order is descending.
    public var isDescending: Bool

    /// Creates an element from the name of a property.
    public init(_ property: String, descending: Bool = false) {
      self.property = property
      isDescending = descending
    }
  }

  /// The properties, the most important first.
  public var elements: [Element]

  /// Creates the description of an index.
  public init(_ elements: [Element]) {
    self.elements = elements
  }
}

/// A named fetch request declared in the model.
public struct FetchRequestDescription: Hashable, Sendable {
  /// A sort key of the request.
  public struct Sort: Hashable, Sendable {
    /// A property, or a dotted path through to-one relationships.
    public var path: String
    /// Whether the order is descending.
    public var isDescending: Bool

    /// Creates a sort key from a path.
    public init(_ path: String, descending: Bool = false) {
      self.path = path
      isDescending = descending
    }
  }

  /// The name in the model.
  public var name: String
  /// The predicate as format text; `$name` is the placeholder of an argument.
  public var predicate: String?
  /// The sort keys, the most important first.
  public var sort: [Sort]
  /// The largest number of objects; nil for all.
  public var limit: Int?
  /// The number of objects to skip.
  public var offset: Int?
  /// The relationships to prefetch along with the results, each a name or a dotted path.
  public var prefetch: [String]
  /// The doc comment from the model; nil if there is none.
  public var doc: String?

  /// Creates the description of a fetch request.
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
  /// The name in the model.
  public var name: String
  /// The type, in the form in which values are stored.
  public var type: AttributeType
  /// The expression in the format language from which the value is computed: `firstName + ' ' + lastName`; nil if the
  /// value is set. A derived attribute is transient: no row that a context reads or writes has it.
  public var derivation: String? {
    get { rare?.value.derivation }
    set { change { $0.derivation = newValue } }
  }
  /// Whether a store that can do so keeps the value of a derived attribute in a column, so that an index can serve it.
  public var storesDerivation: Bool {
    get { rare?.value.storesDerivation ?? false }
    set { change { $0.storesDerivation = newValue } }
  }
  /// The app's own type of the value, or of the elements of a list, by name; nil if it has the model's own.
  public var scalar: String? {
    get { rare?.value.scalar }
    set { change { $0.scalar = newValue } }
  }
  /// Whether nil, or no member, is allowed.
  public var isOptional: Bool
  /// Whether the value is only in memory and never stored.
  public var isTransient: Bool
  /// The value of new objects; nil if the initialiser asks for it.
  public var defaultValue: DefaultValue? {
    get { rare?.value.defaultValue }
    set { change { $0.defaultValue = newValue } }
  }
  /// The rules that a save checks.
  public var rules: AttributeRules {
    get { rare?.value.rules ?? AttributeRules() }
    set { change { $0.rules = newValue } }
  }
  /// Whether large values are stored in files beside the store. Only for `data`.
  public var isExternal: Bool
  /// Whether the text is in the full-text index. Only for `string`.
  public var isSearchable: Bool
  /// The name of the Swift property, if it differs from ``name``.
  public var swiftName: String? {
    get { rare?.value.swiftName }
    set { change { $0.swiftName = newValue } }
  }
  /// The former names, the newest first. A migration finds the stored data by them.
  public var renamedFrom: [String] {
    get { rare?.value.renamedFrom ?? [] }
    set { change { $0.renamedFrom = newValue } }
  }
  /// The value that a migration gives to stored rows that have none; nil if they stay without one.
  public var backfill: Backfill? {
    get { rare?.value.backfill }
    set { change { $0.backfill = newValue } }
  }
  /// Whether a migration may drop stored values that have no counterpart in the type.
  public var isLossy: Bool
  /// The doc comment from the model; nil if there is none.
  public var doc: String? {
    get { rare?.value.doc }
    set { change { $0.doc = newValue } }
  }
  /// Notes for other programs, which Trellis only stores.
  public var userInfo: [UserInfoEntry] {
    get { rare?.value.userInfo ?? [] }
    set { change { $0.userInfo = newValue } }
  }
  /// How the property is read from JSON and written to it; nil for the rule of ``EntityJSON``.
  public var json: PropertyJSON? {
    get { rare?.value.json }
    set { change { $0.json = newValue } }
  }
  /// Whether the history keeps the value of a deleted object.
  public var isKeptInHistory: Bool
  /// What a server of replicas decides if both have changed the value; nil if the entity's word applies, or none.
  public var sync: SyncDecision? {
    get { rare?.value.sync }
    set { change { $0.sync = newValue } }
  }

  private var rare: RareBox?

  /// Creates the description of an attribute.
  public init(
    _ name: String, _ type: AttributeType, optional: Bool = false, transient: Bool = false,
    default defaultValue: DefaultValue? = nil, rules: AttributeRules = AttributeRules(), external: Bool = false,
    searchable: Bool = false, swiftName: String? = nil, renamedFrom: [String] = [], backfill: Backfill? = nil,
    lossy: Bool = false, doc: String? = nil, userInfo: [UserInfoEntry] = [], json: PropertyJSON? = nil,
    keptInHistory: Bool = false, scalar: String? = nil, derived derivation: String? = nil, stored: Bool = false,
    sync: SyncDecision? = nil
  ) {
    self.name = name
    self.type = type
    isOptional = optional
    isTransient = transient || derivation != nil
    isExternal = external
    isSearchable = searchable
    isLossy = lossy
    isKeptInHistory = keptInHistory
    rare = .keeping(
      Rare(
        defaultValue: defaultValue, rules: rules, swiftName: swiftName, renamedFrom: renamedFrom, backfill: backfill,
        doc: doc, userInfo: userInfo, json: json, scalar: scalar, derivation: derivation,
        storesDerivation: stored, sync: sync))
  }

  /// Creates the description of an attribute without options.
  ///
  /// Most attributes of a model are such. Generated code calls this initializer for them, because a compiler needs time
  /// for each default argument of a call.
  public init(_ name: String, _ type: AttributeType) { self.init(name, type, optional: false) }

  /// Creates the description of an attribute that may be nil, without other options.
  public init(_ name: String, _ type: AttributeType, optional: Bool) {
    self.name = name
    self.type = type
    isOptional = optional
    isTransient = false
    isExternal = false
    isSearchable = false
    isLossy = false
    isKeptInHistory = false
  }
}

extension AttributeDescription {
  /// What few attributes have. It is in memory of its own, so that a description is small.
  fileprivate struct Rare: Hashable, Sendable {
    var defaultValue: DefaultValue?
    var rules: AttributeRules = AttributeRules()
    var swiftName: String?
    var renamedFrom: [String] = []
    var backfill: Backfill?
    var doc: String?
    var userInfo: [UserInfoEntry] = []
    var json: PropertyJSON?
    var scalar: String?
    var derivation: String?
    var storesDerivation = false
    var sync: SyncDecision?

    static let empty = Rare()
  }

  fileprivate final class RareBox: Hashable, Sendable {
    let value: Rare

    private init(_ value: Rare) { self.value = value }

    /// Returns nil if there is nothing to keep, so that equal descriptions have equal boxes.
    static func keeping(_ value: Rare) -> RareBox? { value == Rare.empty ? nil : RareBox(value) }

    static func == (one: RareBox, other: RareBox) -> Bool { one.value == other.value }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
  }

  private mutating func change(_ body: (inout Rare) -> Void) {
    var value = rare?.value ?? Rare.empty
    body(&value)
    rare = .keeping(value)
  }

  /// The name of the type in a model file, without a question mark.
  public var typeSpelling: String {
    guard let scalar else { return type.spelling }
    return if case .array = type { "[\(scalar)]" } else { scalar }
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

/// The value that a migration gives to stored rows that have none.
public enum Backfill: Hashable, Sendable {
  /// A constant of the attribute's type. A `string` attribute has none: its text is an expression, such as `'hello'`.
  case value(DefaultValue)
  /// The text of an expression in the format language, over the row in the stored model:
  /// `firstName + ' ' + lastName`.
  ///
  /// A text that is a constant of the attribute's type is no expression. In parentheses it is one: `(now)`.
  case expression(String)
}

/// The validation rules that a value must pass on save.
public struct AttributeRules: Hashable, Sendable {
  /// The minimum and the maximum value, in stored form: numbers, decimals and dates.
  public var minimum: StoredValue?
  /// The largest value, as the text in the model; nil for no bound.
  public var maximum: StoredValue?
  /// The minimum and the maximum length: Unicode scalars of a text, bytes of data, or elements of a list.
  public var minimumLength: Int?
  /// The largest number of characters; nil for no bound.
  public var maximumLength: Int?
  /// A regular expression that the whole text must match.
  public var pattern: String?

  /// Creates the rules of an attribute.
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
  /// The name in the model.
  public var name: String
  /// The name of the entity at the other end.
  public var destination: String
  /// The name of the relationship at the other end; nil for a one-way relationship.
  public var inverse: String?
  /// What a delete of the owner does to the partners.
  public var deleteRule: DeleteRule
  /// Whether there may be several partners.
  public var isToMany: Bool
  /// Whether the members have an order.
  public var isOrdered: Bool
  /// The smallest number of members; nil for no bound.
  public var minimumCount: Int? {
    get { rare?.value.minimumCount }
    set { change { $0.minimumCount = newValue } }
  }
  /// The largest number of members; nil for no bound.
  public var maximumCount: Int? {
    get { rare?.value.maximumCount }
    set { change { $0.maximumCount = newValue } }
  }
  /// Whether nil, or no member, is allowed.
  public var isOptional: Bool
  /// Whether the value is only in memory and never stored.
  public var isTransient: Bool
  /// The name of the Swift property, if it differs from ``name``.
  public var swiftName: String? {
    get { rare?.value.swiftName }
    set { change { $0.swiftName = newValue } }
  }
  /// The former names, the newest first. A migration finds the stored data by them.
  public var renamedFrom: [String] {
    get { rare?.value.renamedFrom ?? [] }
    set { change { $0.renamedFrom = newValue } }
  }
  /// Whether a migration may drop members that have no place in the relationship.
  public var isLossy: Bool
  /// The doc comment from the model; nil if there is none.
  public var doc: String? {
    get { rare?.value.doc }
    set { change { $0.doc = newValue } }
  }
  /// Notes for other programs, which Trellis only stores.
  public var userInfo: [UserInfoEntry] {
    get { rare?.value.userInfo ?? [] }
    set { change { $0.userInfo = newValue } }
  }
  /// How the property is read from JSON and written to it; nil for the rule of ``EntityJSON``.
  public var json: PropertyJSON? {
    get { rare?.value.json }
    set { change { $0.json = newValue } }
  }
  /// What a server of replicas decides if both have changed a to-one; nil if the entity's word applies, or none.
  public var sync: SyncDecision? {
    get { rare?.value.sync }
    set { change { $0.sync = newValue } }
  }

  private var rare: RareBox?

  /// Creates the description of a relationship.
  public init(
    _ name: String, to destination: String, inverse: String? = nil, deleteRule: DeleteRule = .nullify,
    toMany: Bool = false, ordered: Bool = false, minCount: Int? = nil, maxCount: Int? = nil, optional: Bool = false,
    transient: Bool = false, swiftName: String? = nil, renamedFrom: [String] = [], lossy: Bool = false,
    doc: String? = nil, userInfo: [UserInfoEntry] = [], json: PropertyJSON? = nil, sync: SyncDecision? = nil
  ) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    self.deleteRule = deleteRule
    isToMany = toMany
    isOrdered = ordered
    isOptional = optional
    isTransient = transient
    isLossy = lossy
    rare = .keeping(
      Rare(
        minimumCount: minCount, maximumCount: maxCount, swiftName: swiftName, renamedFrom: renamedFrom, doc: doc,
        userInfo: userInfo, json: json, sync: sync))
  }

  /// Creates the description of a to-one relationship without other options, as generated code does.
  public init(_ name: String, to destination: String, inverse: String, optional: Bool) {
    self.init(name, to: destination, inverse: inverse, toMany: false, optional: optional)
  }

  /// Creates the description of a to-many relationship without other options, as generated code does.
  public init(_ name: String, to destination: String, inverse: String, toMany: Bool) {
    self.init(name, to: destination, inverse: inverse, toMany: toMany, optional: false)
  }

  private init(_ name: String, to destination: String, inverse: String, toMany: Bool, optional: Bool) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    deleteRule = .nullify
    isToMany = toMany
    isOrdered = false
    isOptional = optional
    isTransient = false
    isLossy = false
  }
}

extension RelationshipDescription {
  /// What few relationships have. It is in memory of its own, so that a description is small.
  fileprivate struct Rare: Hashable, Sendable {
    var minimumCount: Int?
    var maximumCount: Int?
    var swiftName: String?
    var renamedFrom: [String] = []
    var doc: String?
    var userInfo: [UserInfoEntry] = []
    var json: PropertyJSON?
    var sync: SyncDecision?

    static let empty = Rare()
  }

  fileprivate final class RareBox: Hashable, Sendable {
    let value: Rare

    private init(_ value: Rare) { self.value = value }

    /// Returns nil if there is nothing to keep, so that equal descriptions have equal boxes.
    static func keeping(_ value: Rare) -> RareBox? { value == Rare.empty ? nil : RareBox(value) }

    static func == (one: RareBox, other: RareBox) -> Bool { one.value == other.value }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
  }

  private mutating func change(_ body: (inout Rare) -> Void) {
    var value = rare?.value ?? Rare.empty
    body(&value)
    rare = .keeping(value)
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
