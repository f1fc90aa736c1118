public import TrellisModel
@_spi(Generated) public import TrellisStorage

/// The struct of a composite of the model. Generated structs conform to it.
public protocol CompositeValue: Codable, Hashable, Sendable {
  /// The fields in the order of their columns.
  @_spi(Generated) var _fields: [CompositeField] { get }
  /// The number of fields, those of groups in the group included.
  @_spi(Generated) static var _fieldCount: Int { get }
  /// The places of fields by key path, counted from the first field; empty if the model does not ask for them.
  @_spi(Generated) static var _keyPaths: KeyPathTable { get }
}

extension CompositeValue {
  @_spi(Generated) public static var _keyPaths: KeyPathTable { KeyPathTable([:]) }
}

/// A field of a composite value in its stored form.
public struct CompositeField: Sendable {
  let value: StoredValue
  let kind: ValueKind

  @_spi(Generated) public init<Value: AttributeValue>(_ value: Value) {
    self.value = value.storedValue
    kind = Value.valueKind
  }
}

extension [CompositeField] {
  /// Appends the fields of a group.
  @_spi(Generated) public mutating func append(group: some CompositeValue) { append(contentsOf: group._fields) }

  /// Appends whether there is a group, and its fields.
  @_spi(Generated) public mutating func append<Group: CompositeValue>(group: Group?) {
    let isPresent: Bool? = group == nil ? nil : true
    append(CompositeField(isPresent))
    append(contentsOf: group?._fields ?? Array(repeating: CompositeField(Bool?.none), count: Group._fieldCount))
  }
}

/// The fields of a composite by name. The generated code contains one type for each composite.
public protocol CompositeColumns: Sendable {
  /// The struct of the values.
  associatedtype Value: CompositeValue
  /// Creates the fields of an attribute.
  ///
  /// - Parameters:
  ///   - path: The path to the object that has the attribute.
  ///   - first: The property number of the first field.
  @_spi(Generated) init(_ path: PropertyPath, _ first: Int)
}

/// A composite attribute in a predicate or a sort key. Its fields follow after a dot.
///
/// ```swift
/// Receipt.where { $0.price.amount >= 10_000 && $0.price.currency == "KRW" }
/// ```
@dynamicMemberLookup public struct CompositePath<Columns: CompositeColumns>: Sendable {
  let path: PropertyPath
  let first: Int

  @_spi(Generated) public init(_ owner: PropertyPath, _ first: Int) {
    path = owner
    self.first = first
  }

  /// A field.
  public subscript<Token>(dynamicMember field: KeyPath<Columns, Token>) -> Token {
    Columns(path, first)[keyPath: field]
  }

  /// Whether all fields are equal.
  public static func == (left: CompositePath, right: Columns.Value) -> QueryCondition {
    right.isEqual(to: left.path, left.first)
  }

  /// Whether any field differs.
  public static func != (left: CompositePath, right: Columns.Value) -> QueryCondition { !(left == right) }
}

/// A composite attribute that may be nil, in a predicate or a sort key. Its fields are nil if it is.
///
/// ```swift
/// Receipt.where { $0.discount != nil }
/// Receipt.where { $0.discount.amount > 1_000 }
/// ```
@dynamicMemberLookup public struct OptionalCompositePath<Columns: CompositeColumns>: Sendable {
  let path: PropertyPath
  /// The number of the attribute that tells whether there is a value.
  let presence: Int
  let first: Int

  @_spi(Generated) public init(_ owner: PropertyPath, _ presence: Int) {
    self.init(path: owner, presence: presence, first: presence + 1)
  }

  init(path: PropertyPath, presence: Int, first: Int) {
    self.path = path
    self.presence = presence
    self.first = first
  }

  private var columns: Columns { Columns(path, first) }

  /// A field.
  public subscript<Value: AttributeValue>(
    dynamicMember field: KeyPath<Columns, AttributePath<Value>>
  ) -> AttributePath<Value?> {
    AttributePath(path: columns[keyPath: field].path)
  }

  /// A field that may be nil itself.
  public subscript<Value: AttributeValue>(
    dynamicMember field: KeyPath<Columns, AttributePath<Value?>>
  ) -> AttributePath<Value?> {
    columns[keyPath: field]
  }

  /// A group in the group, which is nil if the whole is.
  public subscript<Inner: CompositeColumns>(
    dynamicMember group: KeyPath<Columns, CompositePath<Inner>>
  ) -> OptionalCompositePath<Inner> {
    OptionalCompositePath<Inner>(path: path, presence: presence, first: columns[keyPath: group].first)
  }

  /// A group in the group, which may be nil itself.
  public subscript<Inner: CompositeColumns>(
    dynamicMember group: KeyPath<Columns, OptionalCompositePath<Inner>>
  ) -> OptionalCompositePath<Inner> {
    columns[keyPath: group]
  }

  private var isPresent: AttributePath<Bool?> { AttributePath(path, presence) }

  /// Whether all fields are equal.
  public static func == (left: OptionalCompositePath, right: Columns.Value) -> QueryCondition {
    left.isPresent != nil && right.isEqual(to: left.path, left.first)
  }

  /// Whether there is no value, or any field differs.
  public static func != (left: OptionalCompositePath, right: Columns.Value) -> QueryCondition { !(left == right) }

  /// Whether there is no value.
  public static func == (left: OptionalCompositePath, nothing: _OptionalNilComparisonType) -> QueryCondition {
    left.isPresent == nil
  }

  /// Whether there is a value.
  public static func != (left: OptionalCompositePath, nothing: _OptionalNilComparisonType) -> QueryCondition {
    left.isPresent != nil
  }
}

extension CompositeValue {
  /// The condition that the fields from a property number on are equal to those of the value.
  fileprivate func isEqual(to path: PropertyPath, _ first: Int) -> QueryCondition {
    let terms = _fields.enumerated().map { place, field in
      QueryPredicate.comparison(
        Comparison(.path(path.appending(first + place)), .equal, .value(field.value), kind: field.kind))
    }
    return QueryCondition(terms.count == 1 ? terms[0] : .and(terms))
  }
}

// MARK: - Stored form

extension AttributePath where Value: StoredAttributeForm {
  /// The values in their stored form, which has the comparisons of its type.
  ///
  /// ```swift
  /// Book.where { $0.isbn.stored.hasPrefix("978") }
  /// ```
  public var stored: AttributePath<Value.ComparedForm> { AttributePath<Value.ComparedForm>(path: path) }
}
