/// Searches bytes for a part, in linear time for any input.
///
/// Most searches end after a few bytes, so the search first tries one position after the other. Once that compares more
/// than a few bytes per position, the Two-Way algorithm of Crochemore and Perrin searches the rest. It preprocesses the
/// part and needs no extra memory.
package struct ByteSearch {
  private let part: UnsafeRawBufferPointer
  private let text: UnsafeRawBufferPointer
  /// The number of bytes compared so far.
  package private(set) var steps = 0

  package init(_ part: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) {
    self.part = part
    self.text = text
  }

  /// The first position at or after `start` at which the part occurs; nil if there is none. An empty part occurs at
  /// every position.
  ///
  /// - Complexity: linear in the part and in the rest of the text.
  package mutating func firstOffset(from start: Int) -> Int? {
    guard let first = part.first, let last = part.last else { return start }
    var place = start
    // One byte per position, plus some extra comparisons now and then.
    var credit = 256
    while place + part.count <= text.count {
      steps += 1
      if text[place] == first, text[place + part.count - 1] == last {
        let common = TextBytes.commonPrefix(UnsafeRawBufferPointer(rebasing: text[place...]), part)
        steps += common
        if common == part.count { return place }
        credit -= common
        if credit < 0 { return twoWay(from: place + 1) }
      }
      credit += 2
      place += 1
    }
    return nil
  }

  // MARK: Two-Way

  /// A factorization of the part into two halves. A mismatch after the cut allows a shift as long as the compared
  /// bytes, a mismatch before the cut allows a shift by the period.
  private struct Cut {
    /// The start of the second half.
    var place: Int
    /// The period of the second half.
    var period: Int
  }

  private mutating func twoWay(from start: Int) -> Int? {
    let up = maximalSuffix { $0 < $1 }
    let down = maximalSuffix { $0 > $1 }
    var cut = up.place > down.place ? up : down
    let isPeriodic = repeats(upTo: cut)
    // The number of bytes of the part known to match after a shift by the period of the whole part.
    let overlap = isPeriodic ? part.count - cut.period : 0
    if !isPeriodic { cut.period = max(cut.place, part.count - cut.place) + 1 }
    var place = start
    var known = 0
    while place + part.count <= text.count {
      let mismatch = firstMismatch(at: place, from: max(cut.place, known))
      if mismatch < part.count {
        place += mismatch - cut.place + 1
        known = 0
        continue
      }
      if fits(at: place, from: known, to: cut.place) { return place }
      place += cut.period
      known = overlap
    }
    return nil
  }

  /// The maximal suffix of the part under an order of bytes, and its period.
  private mutating func maximalSuffix(_ isBefore: (UInt8, UInt8) -> Bool) -> Cut {
    var (best, candidate, length, period) = (0, 1, 0, 1)
    while candidate + length < part.count {
      steps += 1
      let (own, other) = (part[best + length], part[candidate + length])
      if own == other {
        length += 1
        if length == period {
          candidate += period
          length = 0
        }
      } else if isBefore(other, own) {
        candidate += length + 1
        length = 0
        period = candidate - best
      } else {
        best = candidate
        candidate += 1
        length = 0
        period = 1
      }
    }
    return Cut(place: best, period: period)
  }

  /// Whether the period of the second half is also the period of the whole part.
  private mutating func repeats(upTo cut: Cut) -> Bool {
    guard cut.place + cut.period <= part.count else { return false }
    steps += cut.place
    return (0..<cut.place).allSatisfy { part[$0] == part[$0 + cut.period] }
  }

  private mutating func firstMismatch(at place: Int, from start: Int) -> Int {
    var index = start
    while index < part.count, part[index] == text[place + index] { index += 1 }
    steps += index - start + 1
    return index
  }

  /// Whether the part matches between two of its positions.
  private mutating func fits(at place: Int, from low: Int, to high: Int) -> Bool {
    var index = high
    while index > low, part[index - 1] == text[place + index - 1] { index -= 1 }
    steps += max(0, high - index) + 1
    return index <= low
  }
}
