public import Observation
import Synchronization

public protocol DynamicProperty {
  mutating func update()
}

extension DynamicProperty {
  public mutating func update() {}
}

// MARK: - State

/// Where the value of a state lies; code that reads it is told of changes.
final class Location<Value>: Observable {
  private let registrar = ObservationRegistrar()
  private var stored: Value

  init(_ value: Value) { stored = value }

  var value: Value {
    get {
      registrar.access(self, keyPath: \.value)
      return stored
    }
    set { registrar.withMutation(of: self, keyPath: \.value) { stored = newValue } }
  }
}

@propertyWrapper public struct State<Value>: DynamicProperty {
  /// The location that the stage gives to the property, once the view has an identity.
  final class Link {
    var location: Location<Value>?
  }

  let initial: Value
  let link = Link()

  public init(wrappedValue value: Value) { initial = value }
  public init(initialValue value: Value) { initial = value }

  public var wrappedValue: Value {
    get { link.location?.value ?? initial }
    nonmutating set { link.location?.value = newValue }
  }

  public var projectedValue: Binding<Value> {
    var binding = Binding(get: { wrappedValue }, set: { wrappedValue = $0 })
    binding.source = link.location
    return binding
  }
}

extension State where Value: ExpressibleByNilLiteral {
  public init() { self.init(wrappedValue: nil) }
}

@propertyWrapper @dynamicMemberLookup public struct Binding<Value>: DynamicProperty {
  let get: () -> Value
  let set: (Value) -> Void
  /// The location of the state that the binding leads to; nil for another one.
  var source: AnyObject?

  public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {
    self.get = get
    self.set = set
  }

  public var wrappedValue: Value {
    get { get() }
    nonmutating set { set(newValue) }
  }

  public var projectedValue: Binding<Value> { self }

  public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
    Binding<Subject>(get: { wrappedValue[keyPath: keyPath] }, set: { wrappedValue[keyPath: keyPath] = $0 })
  }
}

@dynamicMemberLookup @propertyWrapper public struct Bindable<Value> {
  public var wrappedValue: Value
  init(given value: Value) { wrappedValue = value }
  public var projectedValue: Bindable<Value> { self }
}

extension Bindable where Value: AnyObject {
  public subscript<Subject>(
    dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>
  ) -> Binding<Subject> {
    Binding(get: { wrappedValue[keyPath: keyPath] }, set: { wrappedValue[keyPath: keyPath] = $0 })
  }
}

extension Bindable where Value: Observable {
  public init(wrappedValue: Value) { self.init(given: wrappedValue) }
  public init(_ wrappedValue: Value) { self.init(given: wrappedValue) }
}

// MARK: - Environment

public protocol EnvironmentKey {
  associatedtype Value
  static var defaultValue: Self.Value { get }
}

public struct EnvironmentValues {
  private var values: [ObjectIdentifier: Any] = [:]

  public init() {}

  public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
    get { values[ObjectIdentifier(key)] as? K.Value ?? K.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}

@propertyWrapper public struct Environment<Value>: DynamicProperty {
  final class Link {
    var values: EnvironmentValues?
  }

  let keyPath: KeyPath<EnvironmentValues, Value>
  let link = Link()

  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }

  public var wrappedValue: Value { (link.values ?? EnvironmentValues())[keyPath: keyPath] }
}

// MARK: - Animation

public struct Animation: Equatable, Sendable {
  let name: String
  public static let `default` = Animation(name: "default")
  public static let easeInOut = Animation(name: "easeInOut")
}

/// The animation of the changes that are being made.
let currentAnimation = Mutex<Animation?>(nil)

public func withAnimation<Result>(
  _ animation: Animation? = .default, _ body: () throws -> Result
) rethrows -> Result {
  let outer = currentAnimation.withLock { current in
    defer { current = animation }
    return current
  }
  defer { currentAnimation.withLock { $0 = outer } }
  return try body()
}
