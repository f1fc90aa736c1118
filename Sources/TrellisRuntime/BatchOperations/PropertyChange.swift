import TrellisQuery
import TrellisSchema
import TrellisStorage

/// The new value of one property in a change of many objects; see ``ManagedObjectContext/updateAll(_:_:)``.
public struct PropertyChange: Sendable {
  let assignment: BatchUpdate.Assignment
  /// The path to the property. Only a property of the object itself can be set.
  let path: PropertyPath

  init(_ path: PropertyPath, _ value: Operand) {
    self.path = path
    assignment = BatchUpdate.Assignment(property: path.onlyStep ?? -1, value: value)
  }
}

/// Combines changes: each statement is a change, and all of them read the previous values.
@resultBuilder public enum ChangeBuilder {
  /// Adds a change.
  public static func buildExpression(_ change: PropertyChange) -> [PropertyChange] { [change] }
  /// Adds several changes.
  public static func buildExpression(_ changes: [PropertyChange]) -> [PropertyChange] { changes }
  /// Combines the statements of a block.
  public static func buildBlock(_ changes: [PropertyChange]...) -> [PropertyChange] { changes.flatMap(\.self) }
  /// Supports `if` without `else`.
  public static func buildOptional(_ changes: [PropertyChange]?) -> [PropertyChange] { changes ?? [] }
  /// Supports the first branch of `if` with `else`, and `switch`.
  public static func buildEither(first changes: [PropertyChange]) -> [PropertyChange] { changes }
  /// Supports the second branch of `if` with `else`, and `switch`.
  public static func buildEither(second changes: [PropertyChange]) -> [PropertyChange] { changes }
  /// Supports `for`.
  public static func buildArray(_ changes: [[PropertyChange]]) -> [PropertyChange] { changes.flatMap(\.self) }
}

extension AttributePath {
  /// Sets the attribute of every object to this value.
  public func set(_ value: Value) -> PropertyChange { PropertyChange(path, .value(value.storedValue)) }

  /// Sets the attribute of every object to the previous value of another of its attributes.
  public func set(_ other: AttributePath<Value>) -> PropertyChange { PropertyChange(path, .path(other.path)) }
}

extension AttributePath where Value: OrderedAttributeValue {
  /// Sets the attribute of every object to a value that is computed from the previous values of its own attributes.
  public func set(_ value: ComputedValue<Value.Unwrapped>) -> PropertyChange { PropertyChange(path, value._operand) }
}

extension AttributePath where Value: SummableAttributeValue {
  /// Adds a number, which may be negative, to each object's value; nil stays nil.
  ///
  /// A result that the attribute cannot hold, or that its rules forbid, refuses the whole change. Attributes of the
  /// type `float` are not supported.
  public func increase(by number: Value.Unwrapped) -> PropertyChange { computed(.add, number) }

  /// Multiplies each object's value by a number; nil stays nil.
  ///
  /// A result that the attribute cannot hold, or that its rules forbid, refuses the whole change. Attributes of the
  /// type `float` are not supported.
  public func multiply(by number: Value.Unwrapped) -> PropertyChange { computed(.multiply, number) }

  private func computed(_ sign: ArithmeticOperator, _ number: Value.Unwrapped) -> PropertyChange {
    PropertyChange(path, .computed(.arithmetic(sign, .path(path), .value(number.storedValue))))
  }
}

extension ToOnePath {
  /// Sets the relationship of every object to this object, which must be saved, or to nil.
  public func set(_ object: Columns.Object?) -> PropertyChange { PropertyChange(path, .value(object.keyValue)) }

  /// Sets the relationship of every object to the object with this identifier.
  public func set(_ id: ObjectID<Columns.Object>) -> PropertyChange { PropertyChange(path, .value(id.storedValue)) }
}
