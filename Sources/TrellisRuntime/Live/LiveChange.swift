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

// MARK: - Live difference

/// The steps from one list of unique keys to another.
enum LiveDifference {
  /// The maximum number of moves. If more objects moved, they are reported as deleted and inserted.
  static let mostMoves = 1000

  /// - Parameter updated: keys of objects with changed values.
  /// - Complexity: O(*n* log *n*) in the length of the lists, plus their length for each object that moves.
  static func steps(from old: [Int64], to new: [Int64], updated: Set<Int64> = []) -> [KeyStep] {
    var steps: [KeyStep] = []
    if old != new { addChanges(from: old, to: new, &steps) }
    if !updated.isEmpty {
      let known = Set(old)
      for (place, key) in new.enumerated() where updated.contains(key) && known.contains(key) {
        steps.append(.update(key, at: place))
      }
    }
    return steps
  }

  private static func addChanges(from old: [Int64], to new: [Int64], _ steps: inout [KeyStep]) {
    let target = Dictionary(zip(new, new.indices)) { first, _ in first }
    let former = Set(old)
    let fixed = inOrder(old.compactMap { target[$0] }).map { new[$0] }
    let stayed = new.count { former.contains($0) }
    let moves = stayed - fixed.count <= mostMoves
    let kept = moves ? nil : Set(fixed)
    var working: [Int64] = []
    var gone: [(Int64, Int)] = []
    for (place, key) in old.enumerated() {
      if target[key] != nil && kept?.contains(key) != false { working.append(key) } else { gone.append((key, place)) }
    }
    for (key, place) in gone.reversed() { steps.append(.delete(key, at: place)) }
    if moves && fixed.count < working.count {
      let anchored = Set(fixed)
      var previous: Int64?
      for key in new where former.contains(key) {
        if !anchored.contains(key) { addMove(of: key, behind: previous, in: &working, &steps) }
        previous = key
      }
    }
    let present = Set(working)
    for (place, key) in new.enumerated() where !present.contains(key) { steps.append(.insert(key, at: place)) }
  }

  private static func addMove(
    of key: Int64, behind previous: Int64?, in working: inout [Int64], _ steps: inout [KeyStep]
  ) {
    guard let source = working.firstIndex(of: key) else { return }
    working.remove(at: source)
    let target = previous.flatMap { working.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    working.insert(key, at: target)
    if source != target { steps.append(.move(key, from: source, to: target)) }
  }

  /// A longest increasing subsequence of a list.
  private static func inOrder(_ places: [Int]) -> [Int] {
    // ends[n] is the index of the last place of an increasing subsequence of length n + 1, the one with the lowest last
    // place.
    var ends: [Int] = []
    var previous = [Int](repeating: -1, count: places.count)
    for (index, place) in places.enumerated() {
      var low = 0
      var high = ends.count
      while low < high {
        let middle = (low + high) / 2
        if places[ends[middle]] < place { low = middle + 1 } else { high = middle }
      }
      previous[index] = low > 0 ? ends[low - 1] : -1
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var found: [Int] = []
    var index = ends.last ?? -1
    while index >= 0 {
      found.append(places[index])
      index = previous[index]
    }
    return found.reversed()
  }
}
