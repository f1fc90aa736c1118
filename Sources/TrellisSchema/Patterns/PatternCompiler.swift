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
