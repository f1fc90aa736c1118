public import TrellisQuery
import TrellisSchema
public import TrellisStorage

/// The properties of an entity by name, for predicates and sort keys. The generated code contains one type for each
/// entity.
public protocol EntityColumns: Sendable {
  /// The class of the objects that have these properties.
  associatedtype Object: ManagedObject
  /// The struct for the objects' stored values.
  associatedtype Snapshot: EntitySnapshot
  /// The path from the fetched object to the object with these properties.
  var path: PropertyPath { get }
  /// Creates the properties at the end of a path.
  init(_ path: PropertyPath)
  /// The stored values of an object.
  static func snapshot(of object: Object) -> Snapshot
}

/// An attribute in a predicate or a sort key.
public struct AttributePath<Value: AttributeValue>: Sendable {
  let path: PropertyPath

  @_spi(Generated) @inlinable public init(_ columns: some EntityColumns, _ property: Int) {
    self.init(path: columns.path.appending(property))
  }

  @usableFromInline init(path: PropertyPath) { self.path = path }
}

/// A to-one relationship in a predicate or a sort key. The properties of its object follow after a dot.
///
/// ```swift
/// DiaryImage.where { $0.diary.emotion == .happy }
/// ```
@dynamicMemberLookup public struct ToOnePath<Columns: EntityColumns>: Sendable {
  let path: PropertyPath

  @_spi(Generated) @inlinable public init(_ columns: some EntityColumns, _ property: Int) {
    self.init(path: columns.path.appending(property))
  }

  @usableFromInline init(path: PropertyPath) { self.path = path }

  /// A property of the relationship's object.
  public subscript<Token>(dynamicMember property: KeyPath<Columns, Token>) -> Token {
    Columns(path)[keyPath: property]
  }

  /// Whether the relationship refers to this object; for nil, whether the relationship is nil.
  public func `is`(_ object: Columns.Object?) -> QueryCondition {
    QueryCondition(.comparison(Comparison(.path(path), .equal, .value(object.keyValue), kind: .integer)))
  }

  /// Whether the relationship refers to the object with this identifier.
  public func `is`(_ id: ObjectID<Columns.Object>) -> QueryCondition {
    QueryCondition(.comparison(Comparison(.path(path), .equal, .value(.integer(id.key)), kind: .integer)))
  }

  /// Whether the relationship refers to one of these objects.
  public func isIn(_ objects: some Sequence<Columns.Object>) -> QueryCondition {
    QueryCondition(.isIn(.path(path), objects.map { .integer($0._key) }, .integer))
  }

  @available(*, unavailable, message: "ask with is(_:), as in $0.author.is(author)")
  public static func == (path: ToOnePath, object: Columns.Object) -> QueryCondition { path.is(object) }

  @available(*, unavailable, message: "ask with is(_:), as in !$0.author.is(author)")
  public static func != (path: ToOnePath, object: Columns.Object) -> QueryCondition { !path.is(object) }

  /// Whether the relationship is nil.
  public static func == (path: ToOnePath, nothing: _OptionalNilComparisonType) -> QueryCondition {
    path.is(nil)
  }

  /// Whether the relationship is not nil.
  public static func != (path: ToOnePath, nothing: _OptionalNilComparisonType) -> QueryCondition {
    QueryCondition(.comparison(Comparison(.path(path.path), .notEqual, .value(.null), kind: .integer)))
  }
}

/// A to-many relationship in a predicate.
///
/// ```swift
/// EmotionDiary.where { $0.images.any { $0.imagePath.hasSuffix(".png") } }
/// EmotionDiary.where { $0.tags.count >= 2 }
/// ```
public struct ToManyPath<Columns: EntityColumns>: Sendable {
  let path: PropertyPath

  @_spi(Generated) @inlinable public init(_ columns: some EntityColumns, _ property: Int) {
    self.init(path: columns.path.appending(property))
  }

  @usableFromInline init(path: PropertyPath) { self.path = path }

  /// Whether at least one member satisfies all of the conditions.
  public func any(@ConditionBuilder _ conditions: (Columns) -> QueryCondition) -> QueryCondition {
    quantified(.any, conditions)
  }

  /// Whether every member satisfies the conditions; true if there are no members.
  public func all(@ConditionBuilder _ conditions: (Columns) -> QueryCondition) -> QueryCondition {
    quantified(.all, conditions)
  }

  /// Whether no member satisfies the conditions.
  public func none(@ConditionBuilder _ conditions: (Columns) -> QueryCondition) -> QueryCondition {
    quantified(.none, conditions)
  }

  /// Whether this object is a member.
  public func contains(_ object: Columns.Object) -> QueryCondition {
    let variable = VariableScope.next
    return QueryCondition(
      .quantified(
        .any, path, variable: variable,
        .comparison(
          Comparison(.path(PropertyPath(variable: variable)), .equal, .value(.integer(object._key)), kind: .integer))))
  }

  /// The number of members.
  public var count: CountPath { CountPath(path: path) }

  /// Whether there are no members.
  public var isEmpty: QueryCondition { count == 0 }

  private func quantified(_ quantifier: Quantifier, _ conditions: (Columns) -> QueryCondition) -> QueryCondition {
    VariableScope.enter { variable in
      let inner = conditions(Columns(PropertyPath(variable: variable)))
      return QueryCondition(inner.tree.nested { .quantified(quantifier, path, variable: variable, $0) })
    }
  }
}

/// The number of members of a to-many relationship in a predicate.
public struct CountPath: Sendable {
  let path: PropertyPath

  /// Whether the values are equal.
  public static func == (left: CountPath, right: Int) -> QueryCondition { left.compared(.equal, right) }
  /// Whether the values differ.
  public static func != (left: CountPath, right: Int) -> QueryCondition { left.compared(.notEqual, right) }
  /// Whether the left value is less than the right one.
  public static func < (left: CountPath, right: Int) -> QueryCondition { left.compared(.less, right) }
  /// Whether the left value is less than the right one or equal to it.
  public static func <= (left: CountPath, right: Int) -> QueryCondition { left.compared(.lessOrEqual, right) }
  /// Whether the left value is greater than the right one.
  public static func > (left: CountPath, right: Int) -> QueryCondition { left.compared(.greater, right) }
  /// Whether the left value is greater than the right one or equal to it.
  public static func >= (left: CountPath, right: Int) -> QueryCondition { left.compared(.greaterOrEqual, right) }

  private func compared(_ relation: ComparisonOperator, _ number: Int) -> QueryCondition {
    QueryCondition(
      .comparison(Comparison(.count(path), relation, .value(.integer(Int64(number))), kind: .integer)))
  }
}

/// The numbering of the variables of nested `any`, `all` and `none`. Each level has its own number, so that an inner
/// condition can refer to an outer variable.
enum VariableScope {
  @TaskLocal static var depth = 0

  static var next: Int { depth + 1 }

  static func enter<Result>(_ body: (Int) -> Result) -> Result {
    let variable = next
    return $depth.withValue(variable) { body(variable) }
  }
}

extension Optional where Wrapped: ManagedObject {
  var keyValue: StoredValue { map { .integer($0._key) } ?? .null }
}
