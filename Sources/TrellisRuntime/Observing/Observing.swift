public import Observation

/// Objects of a context that is observing work with Swift's Observation: what reads their properties in
/// `withObservationTracking`, or in a SwiftUI view, is told before they change.
extension ManagedObject: Observable {}

/// Who looks at the objects of one context: a registrar for each object that was read, and nothing for the others.
final class ContextObservation {
  private var registrars: [Int64: ObservationRegistrar] = [:]

  func noteRead(of object: ManagedObject, _ property: Int) {
    let registrar = registrars[object._key] ?? ObservationRegistrar()
    registrars[object._key] = registrar
    registrar.access(object, keyPath: ObservedProperty.keyPath(property))
    // Who reads a snapshot, property -1, looks at everything.
  }

  /// Says that a property is about to change.
  func announce(_ object: ManagedObject, _ property: Int) {
    guard let registrar = registrars[object._key] else { return }
    registrar.willSet(object, keyPath: ObservedProperty.keyPath(property))
    registrar.willSet(object, keyPath: ObservedProperty.keyPath(-1))
  }

  /// Says that everything about an object may change.
  func announceAll(_ object: ManagedObject, count: Int) {
    guard let registrar = registrars[object._key] else { return }
    for property in -1..<count { registrar.willSet(object, keyPath: ObservedProperty.keyPath(property)) }
  }

  /// Forgets the objects that are not in memory any more.
  func forget(where isGone: (Int64) -> Bool) {
    registrars = registrars.filter { !isGone($0.key) }
  }
}

extension ManagedObjectContext {
  /// Whether this context's objects work with Swift's Observation. It is off until it is set, since each read of an observed
  /// object costs a few times more; nobody else pays for it.
  ///
  /// ```swift
  /// let context = container.mainContext
  /// context.isObserving = true
  /// withObservationTracking { show(receipt.amount) } onChange: { … }
  /// ```
  /// A change is announced before it happens: of values and relationships when they are set, at both ends; of everything when
  /// an object is rolled back, undone, deleted, or takes over what somebody else saved.
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
  /// Tells observers that a property is about to change.
  final func announce(_ property: Int) {
    if accessFlags.contains(.observed) { link.context?.observation?.announce(self, property) }
  }

  /// Tells observers that everything may change.
  final func announceAll() {
    guard accessFlags.contains(.observed), let context = link.context else { return }
    context.observation?.announceAll(self, count: context.info(of: self).relationships.count)
  }

  final func noteRead(_ property: Int) {
    if accessFlags.contains(.observed) { link.context?.observation?.noteRead(of: self, property) }
  }

  /// What a property is called towards Observation, which knows key paths only. Nobody reads it.
  fileprivate final subscript(observed property: Int) -> Int { property }
}

/// The key paths that stand for properties by number. Generated code has no key path at hand where it reads, and would pay
/// for it; these are made once.
private enum ObservedProperty {
  // Sound because the key paths are never changed, and hold a number only.
  nonisolated(unsafe) private static let known: [KeyPath<ManagedObject, Int>] = (-1..<128).map(make)

  static func keyPath(_ property: Int) -> KeyPath<ManagedObject, Int> {
    known.indices.contains(property + 1) ? known[property + 1] : make(property)
  }

  private static func make(_ property: Int) -> KeyPath<ManagedObject, Int> { \ManagedObject[observed: property] }
}
