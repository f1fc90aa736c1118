public import Observation

/// Objects of an observing context support Swift's Observation: code that reads their properties in
/// `withObservationTracking`, or in a SwiftUI view, is notified before they change.
extension ManagedObject: Observable {}

/// The observation of one context's objects, with a registrar for each object that was read.
final class ContextObservation {
  private var registrars: [Int64: ObservationRegistrar] = [:]

  func noteRead(of object: ManagedObject, _ property: Int) {
    let registrar = registrars[object._key] ?? ObservationRegistrar()
    registrars[object._key] = registrar
    registrar.access(object, keyPath: ObservedProperty.keyPath(property))
    // Property -1 stands for a snapshot, which reads all properties.
  }

  /// Notifies observers that a property is about to change.
  func announce(_ object: ManagedObject, _ property: Int) {
    guard let registrar = registrars[object._key] else { return }
    registrar.willSet(object, keyPath: ObservedProperty.keyPath(property))
    registrar.willSet(object, keyPath: ObservedProperty.keyPath(-1))
  }

  /// Notifies observers that every property of an object may change.
  func announceAll(_ object: ManagedObject, count: Int) {
    guard let registrar = registrars[object._key] else { return }
    for property in -1..<count { registrar.willSet(object, keyPath: ObservedProperty.keyPath(property)) }
  }

  /// Removes the registrars of objects that are no longer in memory.
  func forget(where isGone: (Int64) -> Bool) {
    registrars = registrars.filter { !isGone($0.key) }
  }
}

extension ManagedObjectContext {
  /// Whether this context's objects support Swift's Observation. The default is false, because each read of an observed
  /// object takes a few times longer. Contexts that do not observe have no such cost.
  ///
  /// ```swift
  /// let context = container.mainContext
  /// context.isObserving = true
  /// withObservationTracking { show(receipt.amount) } onChange: { … }
  /// ```
  /// Observers are notified before a change: of a value or relationship when it is set, at both ends; of all properties
  /// when an object is rolled back, undone or deleted, or merges what another context saved.
  public var isObserving: Bool {
    get { observation != nil }
    set {
      guard newValue != isObserving else { return }
      observation = newValue ? ContextObservation() : nil
      map.forEach { object in
        object.state.setObserved(newValue)
      }
    }
  }
}

extension ManagedObject {
  /// Notifies observers that a property is about to change.
  final func announce(_ property: Int) {
    if accessFlags.contains(.observed) { link.context?.observation?.announce(self, property) }
  }

  /// Notifies observers that every property may change.
  final func announceAll() {
    guard accessFlags.contains(.observed), let context = link.context else { return }
    context.observation?.announceAll(self, count: context.info(of: self).relationships.count)
  }

  final func noteRead(_ property: Int) {
    if accessFlags.contains(.observed) { link.context?.observation?.noteRead(of: self, property) }
  }

  /// The property in the form of a key path, as Observation requires. The subscript is never read.
  fileprivate final subscript(observed property: Int) -> Int { property }
}

/// The key paths that represent properties by number. They are created once, because generated code has no key path
/// where it reads a property, and creating one for each read would be slow.
private enum ObservedProperty {
  // Sound because the key paths are never changed, and contain only a number.
  nonisolated(unsafe) private static let known: [KeyPath<ManagedObject, Int>] = (-1..<128).map(make)

  static func keyPath(_ property: Int) -> KeyPath<ManagedObject, Int> {
    known.indices.contains(property + 1) ? known[property + 1] : make(property)
  }

  private static func make(_ property: Int) -> KeyPath<ManagedObject, Int> { \ManagedObject[observed: property] }
}
