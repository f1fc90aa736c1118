import TrellisSchema

/// Runs of adjacent results with the same section value.
enum SectionRuns {
  /// The positions of each section.
  static func ranges(_ values: [StoredValue]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var start = 0
    for place in values.indices where place + 1 == values.count || values[place + 1] != values[place] {
      found.append(start..<(place + 1))
      start = place + 1
    }
    return found
  }

  /// The steps between two lists of sections. Sections are sorted by their values, so none of them moves.
  static func steps(from old: [StoredValue], to new: [StoredValue]) -> [LiveSectionStep] {
    let before = ranges(old).map { old[$0.lowerBound] }
    let after = ranges(new).map { new[$0.lowerBound] }
    let kept = Set(before).intersection(after)
    var steps: [LiveSectionStep] = []
    for (place, value) in before.enumerated().reversed() where !kept.contains(value) {
      steps.append(.delete(at: place))
    }
    for (place, value) in after.enumerated() where !kept.contains(value) { steps.append(.insert(at: place)) }
    return steps
  }
}
