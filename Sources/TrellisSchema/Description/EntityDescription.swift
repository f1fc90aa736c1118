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
