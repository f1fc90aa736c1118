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
