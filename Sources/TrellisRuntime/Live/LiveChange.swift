/// One step of a change of live results. A position counts in the list as the steps before it have left it.
public enum LiveStep<Object: ManagedObject>: Hashable, Sendable {
  /// An object is in the results no more; it was at this position.
  case delete(ObjectID<Object>, at: Int)
  /// An object is in the results from now on, at this position.
  case insert(ObjectID<Object>, at: Int)
  /// An object goes from one position to another, where it is counted without itself.
  case move(ObjectID<Object>, from: Int, to: Int)
  /// An object at this position has other values, or other members.
  case update(ObjectID<Object>, at: Int)
}

/// A step of a change of live results that are in sections.
public enum LiveSectionStep: Hashable, Sendable {
  /// A section has no objects any more.
  case delete(at: Int)
  /// There is a new section.
  case insert(at: Int)
}

/// What changed in live results since their observer was last told: steps that, taken one after the other, make the old list
/// the new one.
public struct LiveChange<Object: ManagedObject>: Hashable, Sendable {
  public let steps: [LiveStep<Object>]
  /// How the sections changed, in the same way; empty for results without sections.
  public let sections: [LiveSectionStep]
}

extension Array {
  /// Makes a list that follows live results take a step.
  ///
  /// ```swift
  /// for await change in live.changes {
  ///   for step in change.steps { rows.apply(step) { Row($0) } }
  /// }
  /// ```
  /// Steps have to come in their order and leave none out. A position that the list does not have is passed over.
  ///
  /// - Parameter make: gives the element of an object that comes or has changed.
  public mutating func apply<Object: ManagedObject>(
    _ step: LiveStep<Object>, _ make: (ObjectID<Object>) throws -> Element
  ) rethrows {
    switch step {
    case .delete(_, let place): if indices.contains(place) { remove(at: place) }
    case .insert(let id, let place): if place >= 0 && place <= count { insert(try make(id), at: place) }
    case .update(let id, let place): if indices.contains(place) { self[place] = try make(id) }
    case .move(_, let source, let target):
      guard indices.contains(source), indices.contains(target) else { return }
      insert(remove(at: source), at: target)
    }
  }
}

/// A step by keys, as it is found.
enum KeyStep: Hashable {
  case delete(Int64, at: Int)
  case insert(Int64, at: Int)
  case move(Int64, from: Int, to: Int)
  case update(Int64, at: Int)

  func typed<Object: ManagedObject>() -> LiveStep<Object> {
    switch self {
    case .delete(let key, let place): .delete(ObjectID(key), at: place)
    case .insert(let key, let place): .insert(ObjectID(key), at: place)
    case .move(let key, let source, let target): .move(ObjectID(key), from: source, to: target)
    case .update(let key, let place): .update(ObjectID(key), at: place)
    }
  }

  /// Makes a list what it was before the step.
  func takeBack(in keys: inout [Int64]) {
    switch self {
    case .delete(let key, let place): keys.insert(key, at: place)
    case .insert(_, let place): keys.remove(at: place)
    case .move(_, let source, let target): keys.insert(keys.remove(at: target), at: source)
    case .update: break
    }
  }
}
