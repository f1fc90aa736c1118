/// The space between two columns, in which lines turn: beside each column room for marks and labels, where every line is
/// horizontal, and tracks in the middle, where each net has one vertical piece.
///
/// The horizontal pieces of a side have different heights, since the elements of a column do not overlap. So lines cross only
/// where there are tracks, and no label is there.
struct Channel {
  /// What a net joins here: the heights at which its lines come from the left and from the right.
  struct Run {
    let sideNet: Int
    var left: [Int]
    var right: [Int]

    var low: Int { min(left.min() ?? .max, right.min() ?? .max) }
    var high: Int { max(left.max() ?? .min, right.max() ?? .min) }
    var isStraight: Bool { left.count == 1 && right == left }
  }

  /// A second vertical piece, for a line that would otherwise run in the place of another line.
  struct Jog {
    /// The height at which the line changes from its track to the other one.
    let height: Int
    let track: Int
  }

  private(set) var runs: [Run] = []
  /// The tracks of the runs, from left to right.
  private(set) var tracks: [Int] = []
  /// By the run and the height at which a line goes to the right.
  private(set) var jogs: [Int: [Int: Jog]] = [:]
  private(set) var trackCount = 0
  private(set) var crossings = 0

  init(_ runs: [Run]) {
    self.runs = runs
    let bent = runs.indices.filter { !runs[$0].isStraight }
    let order = order(bent)
    assignTracks(order)
    addJogs(order)
    count(order)
  }

  // MARK: Order

  /// The cost if the first run has its track on the left of the second's: crossings, and a line in the place of another,
  /// which is worse than any of them.
  private func cost(_ a: Run, _ b: Run) -> Int {
    guard a.low <= b.high, b.low <= a.high else { return 0 }
    var cost = 0
    for height in a.right {
      if height > b.low, height < b.high { cost += 1 }
      if b.left.contains(height) { cost += 1_000 }
    }
    for height in b.left where height > a.low && height < a.high { cost += 1 }
    return cost
  }

  /// Each run goes where it costs least among those that are placed, and again when all are.
  private func order(_ bent: [Int]) -> [Int] {
    var order: [Int] = []
    let inserted = bent.sorted { (runs[$0].low, runs[$0].high, $0) < (runs[$1].low, runs[$1].high, $1) }
    for run in inserted { insert(run, into: &order) }
    for _ in 0..<(bent.count > 150 ? 1 : 4) {
      let before = order
      for run in inserted {
        order.removeAll { $0 == run }
        insert(run, into: &order)
      }
      if order == before { break }
    }
    return order
  }

  private func insert(_ run: Int, into order: inout [Int]) {
    // From the place at the left end on, the cost changes with each run that is passed.
    var cost = 0
    var best = (cost: 0, place: 0)
    for (place, other) in order.enumerated() {
      cost += self.cost(runs[other], runs[run]) - self.cost(runs[run], runs[other])
      if cost < best.cost { best = (cost, place + 1) }
    }
    order.insert(run, at: best.place)
  }

  // MARK: Tracks

  /// Runs whose vertical pieces do not touch share a track.
  private mutating func assignTracks(_ order: [Int]) {
    tracks = Array(repeating: 0, count: runs.count)
    for (place, run) in order.enumerated() {
      for other in order[..<place] where runs[other].low <= runs[run].high && runs[run].low <= runs[other].high {
        tracks[run] = max(tracks[run], tracks[other] + 1)
      }
      trackCount = max(trackCount, tracks[run] + 1)
    }
  }

  /// A line that goes to the right at the height at which another one comes from the left has to turn after that one did.
  private mutating func addJogs(_ order: [Int]) {
    var last = trackCount
    for run in order {
      for height in runs[run].right {
        let isTaken = order.contains { other in
          other != run && tracks[other] > tracks[run] && runs[other].left.contains(height)
        }
        guard isTaken else { continue }
        // No other line has such a height: all ends are on the grid, and its two sides have different distances.
        jogs[run, default: [:]][height] = Jog(height: height + (runs[run].low < height ? -4 : 3), track: last)
        last += 1
      }
    }
    trackCount = last
  }

  private mutating func count(_ order: [Int]) {
    for (place, run) in order.enumerated() {
      for other in order[..<place] { crossings += cost(runs[other], runs[run]) }
    }
    for straight in runs where straight.isStraight {
      for run in order where runs[run].low < straight.low && straight.low < runs[run].high { crossings += 1 }
    }
  }
}
