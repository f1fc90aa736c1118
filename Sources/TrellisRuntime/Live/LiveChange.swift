/// A step of a change of live results. Its positions refer to the list after the preceding steps.
public enum LiveStep<Object: ManagedObject>: Hashable, Sendable {
  /// An object is no longer in the results; it was at this position.
  case delete(ObjectID<Object>, at: Int)
  /// An object was added to the results at this position.
  case insert(ObjectID<Object>, at: Int)
  /// An object moved from one position to another. The new position is that in the list without the object.
  case move(ObjectID<Object>, from: Int, to: Int)
  /// The object at this position has changed values or members.
  case update(ObjectID<Object>, at: Int)
}

/// A step of a change of the sections of live results.
public enum LiveSectionStep: Hashable, Sendable {
  /// A section has no objects any more and was removed.
  case delete(at: Int)
  /// A section was added.
  case insert(at: Int)
}

/// The change of live results since their observer received the last one: steps that turn the old list into the new one
/// when they are applied in order.
public struct LiveChange<Object: ManagedObject>: Hashable, Sendable {
  /// The steps that change the list of objects.
  public let steps: [LiveStep<Object>]
  /// The steps that change the list of sections; empty for results without sections.
  public let sections: [LiveSectionStep]
}

extension Array {
  /// Applies a step of a change to a list that follows live results.
  ///
  /// ```swift
  /// for await change in live.changes {
  ///   for step in change.steps { rows.apply(step) { Row($0) } }
  /// }
  /// ```
  /// All steps must be applied, in their order. A step with a position outside of the list is ignored.
  ///
  /// - Parameter make: returns the element for an inserted or changed object.
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

/// A step by key, without the object's type.
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

  /// Reverts the step in a list.
  func takeBack(in keys: inout [Int64]) {
    switch self {
    case .delete(let key, let place): keys.insert(key, at: place)
    case .insert(_, let place): keys.remove(at: place)
    case .move(_, let source, let target): keys.insert(keys.remove(at: target), at: source)
    case .update: break
    }
  }
}
