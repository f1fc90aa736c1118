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
