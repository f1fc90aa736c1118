import Observation
import Synchronization

/// Evaluates a view and those in it as SwiftUI does: a body is evaluated when its view is new, when its view has other values
/// than before, and when something that it has read has changed, once however much has. Counts it.
@MainActor public final class Stage {
  private let root = Node()
  private let start: (Visit) -> Void
  fileprivate let dirt = Dirt()
  fileprivate var shown: [Shown] = []
  fileprivate var counts: [String: Int] = [:]
  /// The animations in which evaluated bodies have become dirty, since they were last looked at.
  public fileprivate(set) var animations: [Animation] = []

  /// Shows a view, and evaluates it for the first time.
  public init(_ view: some View) {
    start = { $0.child(view, "root") }
    pass()
  }

  /// The number of evaluations of each type of view since the last call, with those that are due, and with those that these make
  /// necessary.
  public func evaluations() -> [String: Int] {
    var passes = 0
    while dirt.isThere && passes < 20 {
      pass()
      passes += 1
    }
    if dirt.isThere { counts["endless", default: 0] += 1 }
    defer { counts = [:] }
    return counts
  }

  /// Whether anything waits for an evaluation.
  public var isDirty: Bool { dirt.isThere }

  /// The animations in which bodies have become dirty since the last call.
  public func takeAnimations() -> [Animation] {
    defer { animations = [] }
    return animations
  }

  private func pass() {
    dirt.clear()
    shown = []
    start(Visit(stage: self, node: root, environment: EnvironmentValues()))
  }

  // MARK: What is shown

  /// The texts, buttons and fields, in order.
  public var lines: [String] {
    shown.map { item in
      switch item {
      case .text(let text): text
      case .button(let title, _): "[\(title)]"
      case .field(let title, _, let text): "\(title): \(text)"
      }
    }
  }

  /// Presses a button.
  ///
  /// - Returns: whether there is one.
  @discardableResult public func tap(_ title: String) -> Bool {
    for case .button(title, let action) in shown {
      action()
      return true
    }
    return false
  }

  /// Types into a field, in place of what is in it.
  ///
  /// - Returns: whether there is one.
  @discardableResult public func type(_ text: String, into title: String) -> Bool {
    for case .field(title, let binding, _) in shown {
      binding.wrappedValue = text
      return true
    }
    return false
  }
}

/// What a primitive view shows.
public enum Shown {
  case text(String)
  case button(String, @MainActor () -> Void)
  case field(String, Binding<String>, shown: String)
}

/// Whether a body, or anything, has to be evaluated again. It is told by Observation, on any thread.
final class Dirt: Sendable {
  private let state = Mutex((isThere: false, animation: Animation?.none))
  var isThere: Bool { state.withLock { $0.isThere } }
  func clear() { state.withLock { $0 = (false, nil) } }
  func fall() {
    let animation = currentAnimation.withLock { $0 }
    state.withLock { if !$0.isThere { $0 = (true, animation) } }
  }
  var animation: Animation? { state.withLock { $0.animation } }
}

/// The identity of a view: its place in those around it. States belong to it.
@MainActor final class Node {
  fileprivate var children: [AnyHashable: Node] = [:]
  fileprivate var visited: Set<AnyHashable> = []
  fileprivate var locations: [String: AnyObject] = [:]
  fileprivate let dirt = Dirt()
  /// The values of the environment that the view was last evaluated with, and what reads each.
  fileprivate var environment: [(value: Any, read: (EnvironmentValues) -> Any)] = []
  /// The view whose body was last evaluated, and what visits that body.
  fileprivate var view: Any?
  fileprivate var continueWithBody: (Visit) -> Void = { _ in }
}

/// A visit to a view: where its identity lies, and its environment.
@MainActor public struct Visit {
  fileprivate let stage: Stage
  fileprivate let node: Node
  public var environment: EnvironmentValues

  func show(_ item: Shown) { stage.shown.append(item) }

  /// Runs what reads something, so that a change of it leads to another pass.
  func tracking(_ body: () -> Void) {
    withObservationTracking(body) { [dirt = stage.dirt] in dirt.fall() }
  }

  /// Visits a view inside of this one. The identity of one that is not visited is forgotten.
  func child<V: View>(_ view: V, _ key: some Hashable) {
    let key = AnyHashable(Key(name: AnyHashable(key), type: ObjectIdentifier(V.self)))
    let child = node.children[key] ?? Node()
    node.children[key] = child
    node.visited.insert(key)
    child.visited = []
    let inner = Visit(stage: stage, node: child, environment: environment)
    if let primitive = view as? any PrimitiveView { primitive.visit(inner) } else { inner.composite(view) }
    child.children = child.children.filter { child.visited.contains($0.key) }
  }

  private struct Key: Hashable {
    let name: AnyHashable
    let type: ObjectIdentifier
  }

  private func composite<V: View>(_ view: V) {
    let isSame = node.view.map { Likeness.areSame($0, view) } ?? false
    let isAtHome = node.environment.allSatisfy { Likeness.areSame($0.value, $0.read(environment)) }
    if !isSame || !isAtHome || node.dirt.isThere { evaluate(view) }
    node.continueWithBody(self)
  }

  private func evaluate<V: View>(_ view: V) {
    if let animation = node.dirt.animation { stage.animations.append(animation) }
    node.view = view
    node.environment = []
    node.dirt.clear()
    stage.counts["\(V.self)", default: 0] += 1
    // What the last evaluation has read is still watched while the properties are brought up to date, as in SwiftUI.
    install(Mirror(reflecting: view), "")
    let made = withObservationTracking {
      view.body
    } onChange: { [own = node.dirt, all = stage.dirt] in
      own.fall()
      all.fall()
    }
    node.continueWithBody = { $0.child(made, "body") }
  }

  private func install(_ properties: Mirror, _ path: String) {
    for (label, value) in properties.children {
      guard var property = value as? any DynamicProperty else { continue }
      let path = path + "." + (label ?? "")
      install(Mirror(reflecting: property), path)
      if let linked = property as? any Linked { linked.link(node, path, environment) }
      property.update()
    }
  }
}

/// A property that the stage connects with what lies outside of the view.
private protocol Linked {
  @MainActor func link(_ node: Node, _ path: String, _ environment: EnvironmentValues)
}

extension State: Linked {
  fileprivate func link(_ node: Node, _ path: String, _ environment: EnvironmentValues) {
    let location = node.locations[path] as? Location<Value> ?? Location(initial)
    node.locations[path] = location
    link.location = location
  }
}

extension Environment: Linked {
  fileprivate func link(_ node: Node, _ path: String, _ environment: EnvironmentValues) {
    link.values = environment
    node.environment.append((environment[keyPath: keyPath], { $0[keyPath: keyPath] }))
  }
}

/// A property that leads to a state, and is the same as another one that leads there.
private protocol Located {
  var source: AnyObject? { get }
}

extension Binding: Located {}

/// Whether two values of a view are the same, field by field. What lies outside of a view is not part of it.
private enum Likeness {
  static func areSame(_ left: Any, _ right: Any) -> Bool {
    guard type(of: left) == type(of: right) else { return false }
    if left is any Linked { return true }
    if let left = left as? any Located, let right = right as? any Located, let source = left.source {
      return source === right.source
    }
    if let left = left as? any Equatable { return isEqual(left, right) }
    let (mine, theirs) = (Mirror(reflecting: left), Mirror(reflecting: right))
    if mine.displayStyle == .class { return left as AnyObject === right as AnyObject }
    if mine.children.isEmpty && theirs.children.isEmpty { return areSameBytes(left, right) }
    guard mine.children.count == theirs.children.count else { return false }
    return zip(mine.children, theirs.children).allSatisfy { areSame($0.value, $1.value) }
  }

  private static func isEqual<Value: Equatable>(_ left: Value, _ right: Any) -> Bool { left == right as? Value }

  /// Functions are the same if they have the same code and capture the same.
  private static func areSameBytes(_ left: Any, _ right: Any) -> Bool {
    func bytes<Value>(_ value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
    return _openExistential(left, do: bytes) == _openExistential(right, do: bytes)
  }
}
