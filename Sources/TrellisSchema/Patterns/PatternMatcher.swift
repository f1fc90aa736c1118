/// Runs a compiled pattern over a text: all places that the pattern can be at are kept, each once.
struct PatternMatcher {
  private let program: [Instruction]
  private var current: [Int] = []
  private var following: [Int] = []
  /// The step in which an instruction was last added, so that none is added twice.
  private var added: [Int]
  private var step = 0
  private var work = 0

  private let ignoresCase: Bool

  init(_ program: [Instruction], ignoresCase: Bool) {
    self.ignoresCase = ignoresCase
    self.program = program
    added = [Int](repeating: -1, count: program.count)
  }

  mutating func run(_ text: String) -> Pattern.Outcome {
    var rest = text.unicodeScalars.makeIterator()
    var scalar = rest.next()
    follow(0, into: \.current, isStart: true, isEnd: scalar == nil)
    while let present = scalar {
      let next = rest.next()
      step += 1
      for place in current {
        if case .scalar(let set) = program[place],
          ignoresCase ? set.containsAnyCase(of: present) : set.contains(present)
        {
          follow(place + 1, into: \.following, isStart: false, isEnd: next == nil)
        }
      }
      work += current.count + 1
      if work > Pattern.stepLimit { return .tooCostly }
      if following.isEmpty { return .differs }
      swap(&current, &following)
      following.removeAll(keepingCapacity: true)
      scalar = next
    }
    return current.contains { if case .accept = program[$0] { true } else { false } } ? .matches : .differs
  }

  /// Adds a place and all that it leads to without taking a scalar.
  private mutating func follow(
    _ start: Int, into list: WritableKeyPath<PatternMatcher, [Int]>, isStart: Bool, isEnd: Bool
  ) {
    var open = [start]
    while let place = open.popLast() {
      guard added[place] != step else { continue }
      added[place] = step
      work += 1
      switch program[place] {
      case .jump(let target): open.append(target)
      case .split(let first, let second): open += [second, first]
      case .start: if isStart { open.append(place + 1) }
      case .end: if isEnd { open.append(place + 1) }
      case .scalar, .accept: self[keyPath: list].append(place)
      }
    }
  }
}
