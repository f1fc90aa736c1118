/// Runs a compiled pattern over a text.
///
/// All positions that the pattern can be at form one state, each position once. States and transitions are computed on
/// first use and cached (a lazy DFA), so a pattern with many parallel positions costs no more per scalar of a long text
/// than any other.
struct PatternMatcher {
  /// The positions that consume a scalar.
  private typealias Places = [Int]

  private struct Step: Hashable {
    let state: Int
    let scalar: Unicode.Scalar
  }

  /// The maximum number of cached states and transitions. Beyond it, the cache is emptied.
  private static let memoryLimit = 4_096

  private let program: [Instruction]
  private let ignoresCase: Bool
  private var states: [Places] = []
  /// State numbers, by the positions after a scalar, before instructions that consume no scalar are followed.
  private var stateNumbers: [[Int]: Int] = [:]
  private var steps: [Step: Int] = [:]
  /// The search that last reached each instruction, so that each is visited once.
  private var reached: [Int]
  private var search = 0
  private var open: [Int] = []
  private var work = 0

  init(_ program: [Instruction], ignoresCase: Bool) {
    self.program = program
    self.ignoresCase = ignoresCase
    reached = [Int](repeating: -1, count: program.count)
  }

  mutating func run(_ text: String) -> Pattern.Outcome {
    guard !text.isEmpty else { return accepts([0], isStart: true) ? .matches : .differs }
    // The positions after the last scalar, from which `accepts` checks whether the pattern can end.
    var latest: [Int] = []
    var state = add(places(from: [0], isStart: true))
    var rest = text.unicodeScalars.makeIterator()
    var scalar = rest.next()
    while let present = scalar {
      scalar = rest.next()
      if scalar == nil {
        latest = targets(of: states[state], present)
      } else {
        state = following(state, present)
        if states[state].isEmpty { return .differs }
      }
      if work > Pattern.stepLimit { return .tooCostly }
    }
    return accepts(latest, isStart: false) ? .matches : .differs
  }

  private mutating func following(_ state: Int, _ scalar: Unicode.Scalar) -> Int {
    let step = Step(state: state, scalar: scalar)
    if let known = steps[step] { return known }
    let targets = targets(of: states[state], scalar)
    if let known = stateNumbers[targets] {
      steps[step] = known
      return known
    }
    if states.count + steps.count > Self.memoryLimit { forget() }
    let number = add(places(from: targets, isStart: false))
    stateNumbers[targets] = number
    // After `forget()`, the source state's number refers to another state.
    if number > 0 { steps[step] = number }
    return number
  }

  private mutating func add(_ places: Places) -> Int {
    states.append(places)
    return states.count - 1
  }

  private mutating func forget() {
    states.removeAll(keepingCapacity: true)
    stateNumbers.removeAll(keepingCapacity: true)
    steps.removeAll(keepingCapacity: true)
  }

  /// The positions after a scalar is consumed.
  private mutating func targets(of places: Places, _ scalar: Unicode.Scalar) -> [Int] {
    work += places.count
    var targets: [Int] = []
    for place in places {
      if case .scalar(let set) = program[place],
        ignoresCase ? set.containsAnyCase(of: scalar) : set.contains(scalar)
      {
        targets.append(place + 1)
      }
    }
    return targets
  }

  /// All positions that consume a scalar and are reachable without consuming one.
  private mutating func places(from starts: [Int], isStart: Bool) -> Places {
    var places: Places = []
    follow(starts, isStart: isStart, isEnd: false) { place in
      places.append(place)
      return true
    }
    return places
  }

  private mutating func accepts(_ starts: [Int], isStart: Bool) -> Bool {
    var isAccepted = false
    let program = program
    follow(starts, isStart: isStart, isEnd: true) { place in
      if case .accept = program[place] { isAccepted = true }
      return !isAccepted
    }
    return isAccepted
  }

  /// Follows instructions that consume no scalar, and passes each final position to `found` until that returns false.
  private mutating func follow(_ starts: [Int], isStart: Bool, isEnd: Bool, _ found: (Int) -> Bool) {
    search += 1
    for start in starts {
      open.append(start)
      while let place = open.popLast() {
        guard reached[place] != search else { continue }
        reached[place] = search
        work += 1
        switch program[place] {
        case .jump(let target): open.append(target)
        case .split(let first, let second):
          open.append(second)
          open.append(first)
        case .start: if isStart { open.append(place + 1) }
        case .end: if isEnd { open.append(place + 1) }
        case .scalar, .accept:
          if !found(place) {
            open.removeAll(keepingCapacity: true)
            return
          }
        }
      }
    }
  }
}
