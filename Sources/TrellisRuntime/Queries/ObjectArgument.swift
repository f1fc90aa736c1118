import TrellisQuery
import TrellisStorage

/// A value of a format that stands for an object, or for several: its class tells the model.
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
  /// The class of the object of which this was made; nil where it was none. Only objects pay for finding out.
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
