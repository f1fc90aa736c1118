/// Texts as UTF-8 bytes: the order, equality and search that all stores share.
public enum TextBytes {
  /// Negative if `left` comes first, zero if the bytes are equal, positive otherwise.
  ///
  /// - Complexity: linear in the common prefix.
  public static func compare(_ left: String, _ right: String) -> Int {
    withBytes(left) { a in withBytes(right) { b in compare(a, b) } }
  }

  /// Whether both texts have the same bytes.
  public static func areEqual(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    return withBytes(left) { a in withBytes(right) { b in commonPrefix(a, b) == a.count } }
  }

  /// Whether a text begins with another one, byte by byte.
  public static func hasPrefix(_ text: String, _ prefix: String) -> Bool {
    withBytes(text) { a in withBytes(prefix) { b in a.count >= b.count && commonPrefix(a, b) == b.count } }
  }

  /// Whether a text ends with another one, byte by byte.
  public static func hasSuffix(_ text: String, _ suffix: String) -> Bool {
    withBytes(text) { a in
      withBytes(suffix) { b in
        a.count >= b.count && commonPrefix(UnsafeRawBufferPointer(rebasing: a.suffix(b.count)), b) == b.count
      }
    }
  }

  /// Whether `part` occurs in `text`. An empty part always does.
  ///
  /// - Complexity: linear in both.
  public static func contains(_ text: String, _ part: String) -> Bool {
    withBytes(text) { a in withBytes(part) { b in contains(a, b) } }
  }

  /// The lexicographic order of bytes. If one sequence is a prefix of the other, the shorter comes first.
  public static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let same = commonPrefix(left, right)
    guard same < left.count, same < right.count else { return left.count - right.count }
    return Int(left[same]) - Int(right[same])
  }

  private static func withBytes<Result>(_ text: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    if let result = text.utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) { return result }
    return Array(text.utf8).withUnsafeBytes(body)
  }

  /// The length of the common prefix in bytes.
  static func commonPrefix(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    let end = min(a.count, b.count)
    var index = 0
    while index + 8 <= end {
      let difference =
        a.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        ^ b.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if difference != 0 { return index + UInt64(littleEndian: difference).trailingZeroBitCount / 8 }
      index += 8
    }
    while index < end, a[index] == b[index] { index += 1 }
    return index
  }

  /// The range of the first occurrence of `part` in `text` at or after `start`; nil if there is none or the part is
  /// empty.
  ///
  /// - Complexity: linear in the rest of the text, if the text is stored as UTF-8.
  public static func firstPlace(of part: String, in text: String, from start: String.Index) -> Range<String.Index>? {
    guard !part.isEmpty else { return nil }
    let utf8 = text.utf8
    let passed = utf8.distance(from: utf8.startIndex, to: start)
    let found = withBytes(text) { a in withBytes(part) { b in firstOffset(of: b, in: a, from: passed) } }
    guard let found else { return nil }
    let lower = utf8.index(start, offsetBy: found - passed)
    return lower..<utf8.index(lower, offsetBy: part.utf8.count)
  }

  private static func contains(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
    firstOffset(of: part, in: text, from: 0) != nil
  }

  private static func firstOffset(
    of part: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer, from start: Int
  ) -> Int? {
    var search = ByteSearch(part, in: text)
    return search.firstOffset(from: start)
  }
}

// MARK: - Byte search

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
