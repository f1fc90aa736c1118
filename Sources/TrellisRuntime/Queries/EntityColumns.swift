public import TrellisModel
@_spi(Generated) public import TrellisStorage

/// The properties of an entity by name, for predicates and sort keys. The generated code contains one type for each
/// entity.
public protocol EntityColumns: Sendable {
  /// The class of the objects that have these properties.
  associatedtype Object: ManagedObject
  /// The struct for the objects' stored values.
  associatedtype Snapshot: EntitySnapshot
  /// The path from the fetched object to the object with these properties.
  @_spi(Generated) var path: PropertyPath { get }
  /// Creates the properties at the end of a path.
  @_spi(Generated) init(_ path: PropertyPath)
  /// The stored values of an object.
  @_spi(Generated) static func snapshot(of object: Object) -> Snapshot
  /// Appends the stored values of a row. The default implementation is compiled for each entity in the module of its
  /// class, where the type of the list is known.
  @_spi(Generated) static func _append(_ row: borrowing RowReader, to list: inout [Snapshot])
}

extension EntityColumns {
  @_spi(Generated) @inlinable public static func _append(_ row: borrowing RowReader, to list: inout [Snapshot]) {
    list.append(Snapshot(row))
  }
}

/// A class of objects that can be fetched. Generated classes conform to it.
///
/// The columns are those of the root class of a hierarchy. A subclass has a `where` of its own, which the compiler
/// prefers because its extension has a narrower `Self`.
public protocol FetchableObject: IdentifiedObject {
  /// The properties by name, for predicates and sorts.
  associatedtype Columns: EntityColumns
}

extension FetchableObject where Columns.Snapshot: StoredFields {
  /// The stored values as they were when last fetched or saved; nil for an object that was never saved.
  public var committed: Columns.Snapshot? { _committedRow() }
}

extension FetchableObject {
  /// A request for objects of this class, to be kept and passed on.
  public typealias FetchRequest = TrellisRuntime.FetchRequest<Columns>

  /// A fetch of every object.
  public static var all: FetchRequest { FetchRequest() }

  /// A fetch of the objects for which all of the conditions hold.
  ///
  /// ```swift
  /// EmotionDiary.where { $0.emotion == .happy && $0.tags.any { $0.name == "sea" } }
  /// ```
  public static func `where`(@ConditionBuilder _ conditions: (Columns) -> QueryCondition) -> FetchRequest {
    FetchRequest(conditions)
  }

  /// A fetch of the objects for which a predicate in a format string holds.
  ///
  /// ```swift
  /// EmotionDiary.where("emotion == %@ AND ANY tags.name == %@", "happy", "sea")
  /// ```
  public static func `where`(_ format: PredicateFormat, _ arguments: any PredicateArgument...) -> FetchRequest {
    FetchRequest().where(format, arguments: arguments)
  }
}

/// An attribute in a predicate or a sort key.
public struct AttributePath<Value: AttributeValue>: Sendable {
  let path: PropertyPath

  @_spi(Generated) public init(_ owner: PropertyPath, _ property: Int) { self.init(path: owner.appending(property)) }

  init(path: PropertyPath) { self.path = path }
}

/// A to-one relationship in a predicate or a sort key. The properties of its object follow after a dot.
///
/// ```swift
/// DiaryImage.where { $0.diary.emotion == .happy }
/// ```
@dynamicMemberLookup public struct ToOnePath<Columns: EntityColumns>: Sendable {
  let path: PropertyPath

  @_spi(Generated) public init(_ owner: PropertyPath, _ property: Int) { self.init(path: owner.appending(property)) }

  init(path: PropertyPath) { self.path = path }

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

  @_spi(Generated) public init(_ owner: PropertyPath, _ property: Int) { self.init(path: owner.appending(property)) }

  init(path: PropertyPath) { self.path = path }

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

// MARK: - To many values

/// Aggregates over the members of a to-many relationship.
extension ToManyPath {
  /// The sum of a value over the members. Nil values are ignored, and the sum of no values is 0. A sum of integers
  /// beyond 64 bits is nil.
  ///
  /// ```swift
  /// Order.where { $0.items.sum { $0.price * $0.quantity.decimal } > 100 }
  /// ```
  public func sum<Member: QueriedValue>(_ value: (Columns) -> Member) -> ComputedValue<Member.Value.Sum>
  where Member.Value: SummableAttributeValue {
    ComputedValue(aggregate(.sum, value))
  }

  /// The average of a value over the members where it is not nil; nil if there are none.
  public func average<Member: QueriedValue>(_ value: (Columns) -> Member) -> ComputedValue<Member.Value.Average>
  where Member.Value: SummableAttributeValue {
    ComputedValue(aggregate(.average, value))
  }

  /// The smallest value among the members; nil if there is none.
  public func minimum<Member: QueriedValue>(_ value: (Columns) -> Member) -> ComputedValue<Member.Value>
  where Member.Value: OrderedAttributeValue {
    ComputedValue(aggregate(.minimum, value))
  }

  /// The greatest value among the members; nil if there is none.
  public func maximum<Member: QueriedValue>(_ value: (Columns) -> Member) -> ComputedValue<Member.Value>
  where Member.Value: OrderedAttributeValue {
    ComputedValue(aggregate(.maximum, value))
  }

  /// The number of members that satisfy the conditions.
  public func count(@ConditionBuilder where conditions: (Columns) -> QueryCondition) -> ComputedValue<Int64> {
    VariableScope.enter { variable in
      let condition = conditions(Columns(PropertyPath(variable: variable)))
      return ComputedValue(.countWhere(path, variable: variable, condition.predicate))
    }
  }

  private func aggregate<Member: QueriedValue>(
    _ function: AggregateFunction, _ value: (Columns) -> Member
  ) -> Computation {
    VariableScope.enter { variable in
      let values = value(Columns(PropertyPath(variable: variable)))
      return .aggregate(function, path, variable: variable, values._operand, Member.Value.valueKind)
    }
  }
}

// MARK: - Sort term

/// A key of a sort order.
public struct SortTerm: Hashable, Sendable {
  let key: SortKey

  init(_ key: SortKey) { self.key = key }
}

/// Combines sort keys, the most important first. `if`, `switch` and `for` are supported; an `if` with a false condition
/// adds no key.
@resultBuilder public enum SortBuilder {
  /// Adds a sort key.
  public static func buildExpression(_ term: SortTerm) -> [SortTerm] { [term] }

  /// Adds an attribute, ascending.
  public static func buildExpression<Value: SortableAttributeValue>(_ attribute: AttributePath<Value>) -> [SortTerm] {
    [attribute.ascending]
  }

  /// Adds the number of members, ascending.
  public static func buildExpression(_ count: CountPath) -> [SortTerm] { [count.ascending] }

  /// Combines the statements of a block.
  public static func buildBlock() -> [SortTerm] { [] }
  /// Starts a block with its first statement.
  public static func buildPartialBlock(first terms: [SortTerm]) -> [SortTerm] { terms }
  /// Adds the next statement of a block.
  public static func buildPartialBlock(accumulated: [SortTerm], next terms: [SortTerm]) -> [SortTerm] {
    accumulated + terms
  }
  /// Supports `if` without `else`.
  public static func buildOptional(_ terms: [SortTerm]?) -> [SortTerm] { terms ?? [] }
  /// Supports the first branch of `if` with `else`, and `switch`.
  public static func buildEither(first terms: [SortTerm]) -> [SortTerm] { terms }
  /// Supports the second branch of `if` with `else`, and `switch`.
  public static func buildEither(second terms: [SortTerm]) -> [SortTerm] { terms }
  /// Supports `for`.
  public static func buildArray(_ terms: [[SortTerm]]) -> [SortTerm] { terms.flatMap(\.self) }
}

// MARK: - Sort names

extension SortKey {
  /// Creates the sort key for a name such as `-diary.createdAt`.
  ///
  /// - Throws: ``PredicateFormatError`` if the entity does not have the name, or the property has no order.
  init(named text: String, of entity: Entity, in model: Model) throws(PredicateFormatError) {
    let isDescending = text.hasPrefix("-")
    var offset = isDescending ? 1 : 0
    var path = PropertyPath(variable: 0)
    var owner: Entity? = entity
    var last: Property?
    var names = text.dropFirst(offset).split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
    while let name = names.first {
      guard let current = owner else {
        let previous = last?.name ?? ""
        throw PredicateFormatError(
          .manyValues, "'\(previous)' leads to no single object, so no property can follow it.", in: text, at: offset)
      }
      guard let (property, length) = current.property(at: names) else {
        let nearest = NearestName.closest(to: name, among: current.properties.map(\.name))
        let advice = nearest.map { "; did you mean '\($0)'?" } ?? "."
        throw PredicateFormatError(
          .unknownProperty, "Entity '\(current.name)' has no property '\(name)'\(advice)", in: text, at: offset,
          suggestion: nearest)
      }
      if let attribute = property.attribute, let value = try model.derivation(of: attribute), names.count == length {
        self.init(value.operand.rooted(at: path, firstVariable: 1), descending: isDescending, kind: attribute.valueKind)
        return
      }
      path = path.appending(property.index)
      last = property
      owner = property.relationship.flatMap { $0.isToMany ? nil : model.entities[$0.destination] }
      offset += names.prefix(length).reduce(0) { $0 + $1.utf8.count + 1 }
      names = names.dropFirst(length)
    }
    guard let last, let kind = last.sortKind else {
      throw PredicateFormatError(
        .typeMismatch, "'\(text)' has no order: numbers, dates, texts, Bools, enums, ids and to-manys have one.",
        in: text, at: 0)
    }
    self.init(path, descending: isDescending, kind: kind)
  }
}

extension Property {
  /// The kind of the values to sort by; nil for properties without an order, and for properties that are not stored.
  fileprivate var sortKind: ValueKind? {
    switch self {
    case .attribute(let attribute):
      attribute.type.isSortable && attribute.column != nil ? attribute.valueKind : nil
    case .relationship(let relationship):
      relationship.isToMany && !relationship.description.isTransient ? .integer : nil
    }
  }
}
