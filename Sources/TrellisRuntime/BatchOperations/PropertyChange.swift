import TrellisQuery
import TrellisSchema
import TrellisStorage

/// What one property gets when many objects are changed at once: see ``ManagedObjectContext/updateAll(_:_:)``.
public struct PropertyChange: Sendable {
  let assignment: BatchUpdate.Assignment
  /// How many steps the property lies away; one that lies elsewhere cannot be set.
  let path: PropertyPath

  init(_ path: PropertyPath, _ value: Operand) {
    self.path = path
    assignment = BatchUpdate.Assignment(property: path.onlyStep ?? -1, value: value)
  }
}

/// Puts changes together: each statement is a change, and all of them read the values from before.
@resultBuilder public enum ChangeBuilder {
  public static func buildExpression(_ change: PropertyChange) -> [PropertyChange] { [change] }
  public static func buildExpression(_ changes: [PropertyChange]) -> [PropertyChange] { changes }
  public static func buildBlock(_ changes: [PropertyChange]...) -> [PropertyChange] { changes.flatMap(\.self) }
  public static func buildOptional(_ changes: [PropertyChange]?) -> [PropertyChange] { changes ?? [] }
  public static func buildEither(first changes: [PropertyChange]) -> [PropertyChange] { changes }
  public static func buildEither(second changes: [PropertyChange]) -> [PropertyChange] { changes }
  public static func buildArray(_ changes: [[PropertyChange]]) -> [PropertyChange] { changes.flatMap(\.self) }
}

extension AttributePath {
  /// Gives every object this value.
  public func set(_ value: Value) -> PropertyChange { PropertyChange(path, .value(value.storedValue)) }

  /// Gives every object the value of another of its own attributes, as it was before.
  public func set(_ other: AttributePath<Value>) -> PropertyChange { PropertyChange(path, .path(other.path)) }
}

extension AttributePath where Value: OrderedAttributeValue {
  /// Gives every object a value that is made of its own attributes, as they were before.
  public func set(_ value: ComputedValue<Value.Unwrapped>) -> PropertyChange { PropertyChange(path, value._operand) }
}

extension AttributePath where Value: SummableAttributeValue {
  /// Adds a number, which may be below zero, to each object's value; nil stays nil.
  ///
  /// A result that the attribute cannot hold, or that its rules forbid, refuses the whole change. Attributes of the type
  /// `float` cannot be changed so.
  public func increase(by number: Value.Unwrapped) -> PropertyChange { computed(.add, number) }

  /// Multiplies each object's value by a number; nil stays nil.
  ///
  /// A result that the attribute cannot hold, or that its rules forbid, refuses the whole change. Attributes of the type
  /// `float` cannot be changed so.
  public func multiply(by number: Value.Unwrapped) -> PropertyChange { computed(.multiply, number) }

  private func computed(_ sign: ArithmeticOperator, _ number: Value.Unwrapped) -> PropertyChange {
    PropertyChange(path, .computed(.arithmetic(sign, .path(path), .value(number.storedValue))))
  }
}

extension ToOnePath {
  /// Leads every object to this one, which must be saved, or to none.
  public func set(_ object: Columns.Object?) -> PropertyChange { PropertyChange(path, .value(object.keyValue)) }

  /// Leads every object to the one of this identity.
  public func set(_ id: ObjectID<Columns.Object>) -> PropertyChange { PropertyChange(path, .value(id.storedValue)) }
}
