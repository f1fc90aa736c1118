/// A compiled pattern that the whole text of an attribute must match.
///
/// Matching scans the text once and tracks all alternatives in parallel, so no pattern takes exponential time, and a
/// limit on the work bounds the rest. In exchange there are no lookarounds and no backreferences.
///
/// ```swift
/// let pattern = try Pattern("[0-9]{3}-[0-9]{4}")
/// pattern.match("010-1234")   // .matches
/// ```
public struct Pattern: Sendable {
  /// The result of a match.
  public enum Outcome: Hashable, Sendable {
    /// The text matches.
    case matches
    /// The text does not match.
    case differs
    /// Text and pattern together would take more than ``stepLimit`` steps.
    case tooCostly
  }

  /// The maximum number of instructions of a pattern. `a{1000}` compiles to a thousand.
  public static let sizeLimit = 4_000
  /// The maximum nesting depth of groups.
  public static let depthLimit = 100
  /// The maximum number of steps of one match. A transition that is already cached does not count as a step.
  public static let stepLimit = 2_000_000

  let program: [Instruction]
  let ignoresCase: Bool

  /// Parses a pattern.
  ///
  /// - Parameter ignoringCase: whether a scalar in the pattern also matches its other case.
  /// - Parameter text: The pattern.
  /// - Throws: ``PatternError`` with the position of the error.
  public init(_ text: String, ignoringCase: Bool = false) throws(PatternError) {
    ignoresCase = ignoringCase
    var parser = PatternParser(text)
    let tree = try parser.parse()
    var compiler = PatternCompiler()
    try compiler.add(tree)
    program = compiler.finished
  }

  /// Matches the whole text, scalar by scalar.
  ///
  /// - Complexity: linear in the length of the text; at worst linear in that times the length of the pattern, up to
  ///   ``stepLimit``.
  public func match(_ text: String) -> Outcome {
    var matcher = PatternMatcher(program, ignoresCase: ignoresCase)
    return matcher.run(text)
  }
}

/// A syntax error in a pattern, with its position.
public struct PatternError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The index of the scalar at which the error is, from 0.
  public let position: Int
  /// The error, as the end of a sentence.
  public let message: String

  public var description: String { "The pattern is wrong at character \(position + 1): \(message)." }
}

/// One instruction of a compiled pattern.
enum Instruction: Sendable {
  case scalar(ScalarSet)
  /// Continues at both positions.
  case split(Int, Int)
  case jump(Int)
  /// Continues only at the start or at the end of the text.
  case start, end
  case accept
}

// MARK: - Pattern compiler

/// Compiles the tree of a pattern to instructions.
struct PatternCompiler {
  private var program: [Instruction] = []

  var finished: [Instruction] { program + [.accept] }

  mutating func add(_ tree: PatternTree) throws(PatternError) {
    switch tree {
    case .empty: break
    case .set(let set): try emit(.scalar(set))
    case .start: try emit(.start)
    case .end: try emit(.end)
    case .sequence(let terms): for term in terms { try add(term) }
    case .choice(let alternatives): try add(alternatives[...])
    case .repeated(let inner, let least, let most): try add(inner, least, most)
    }
  }

  private mutating func emit(_ instruction: Instruction) throws(PatternError) {
    guard program.count < Pattern.sizeLimit else {
      throw PatternError(position: 0, message: "it comes to more than \(Pattern.sizeLimit) steps")
    }
    program.append(instruction)
  }

  private mutating func add(_ alternatives: ArraySlice<PatternTree>) throws(PatternError) {
    var ends: [Int] = []
    for (index, alternative) in alternatives.enumerated() {
      guard index < alternatives.count - 1 else {
        try add(alternative)
        break
      }
      let split = program.count
      try emit(.split(split + 1, 0))
      try add(alternative)
      ends.append(program.count)
      try emit(.jump(0))
      program[split] = .split(split + 1, program.count)
    }
    for end in ends { program[end] = .jump(program.count) }
  }

  private mutating func add(_ tree: PatternTree, _ least: Int, _ most: Int?) throws(PatternError) {
    for _ in 0..<least { try add(tree) }
    guard let most else {
      let split = program.count
      try emit(.split(split + 1, 0))
      try add(tree)
      try emit(.jump(split))
      program[split] = .split(split + 1, program.count)
      return
    }
    var splits: [Int] = []
    for _ in least..<most {
      splits.append(program.count)
      try emit(.split(program.count + 1, 0))
      try add(tree)
    }
    for split in splits { program[split] = .split(split + 1, program.count) }
  }
}

// MARK: - Pattern matcher

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
