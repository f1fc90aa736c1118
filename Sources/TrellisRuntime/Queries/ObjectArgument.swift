import TrellisQuery
import TrellisStorage

/// A format argument that stands for one or more objects. Their class determines the model.
private protocol ObjectArgument {
  var objectClass: ManagedObject.Type? { get }
}

extension ManagedObject: ObjectArgument {
  fileprivate final var objectClass: ManagedObject.Type? { type(of: self) }
}

extension ObjectID: ObjectArgument {
  fileprivate var objectClass: ManagedObject.Type? { Object.self }
}

extension AnyObjectID: ObjectArgument {
  fileprivate var objectClass: ManagedObject.Type? { type }
}

extension Optional: ObjectArgument where Wrapped: ObjectArgument {
  fileprivate var objectClass: ManagedObject.Type? { self?.objectClass }
}

extension Array: ObjectArgument where Element: ObjectArgument {
  fileprivate var objectClass: ManagedObject.Type? { first?.objectClass }
}

extension Set: ObjectArgument where Element: ObjectArgument {
  fileprivate var objectClass: ManagedObject.Type? { first?.objectClass }
}

extension FormatArgument {
  /// The class of the object that the argument was made from; nil if it was not made from one. Only objects pay for the
  /// dynamic cast.
  func objectClass(of argument: any PredicateArgument) -> ManagedObject.Type? {
    isObject ? (argument as? any ObjectArgument)?.objectClass : nil
  }

  private var isObject: Bool {
    switch self {
    case .value(_, .object): true
    case .list(let values): values.first?.isObject == true
    case .value, .null, .range: false
    }
  }
}
