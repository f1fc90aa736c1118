/// Decides when a context searches for objects that are no longer referenced.
struct Sweeper {
  /// The current generation. The next sweep keeps objects that were loaded in it.
  private(set) var generation: UInt8 = 0
  private var threshold = Sweeper.leastCount

  private static let leastCount = 4096

  func isDue(_ count: Int) -> Bool { count >= threshold }

  mutating func didSweep(leaving count: Int) {
    generation &+= 1
    threshold = max(Sweeper.leastCount, count * 2)
  }
}

extension ObjectGraph {
  /// Sweeps if the number of objects has doubled since the last sweep.
  func sweepIfDue() {
    if sweeper.isDue(map.count) { sweep(sparingRecent: true) }
  }

  @discardableResult func sweep(sparingRecent: Bool) -> Int {
    let generation = sweeper.generation
    let dropped = map.removeUnreferenced { object in
      object.phase == .persistent && !object.isInChangedList
        && !(sparingRecent && object.state.generation == generation)
    }
    sweeper.didSweep(leaving: map.count)
    if dropped > 0 { observation?.forget { map[$0] == nil } }
    batches.removeUnused(in: map)
    return dropped
  }
}
