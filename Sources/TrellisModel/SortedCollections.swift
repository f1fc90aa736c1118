extension RandomAccessCollection {
  /// The end of the longest prefix whose elements satisfy a condition, in a collection where no later element does.
  ///
  /// - Complexity: logarithmic in the number of elements.
  @inlinable package func endOfPrefix(where isInPrefix: (Element) throws -> Bool) rethrows -> Index {
    var low = startIndex
    var rest = count
    while rest > 0 {
      let half = rest / 2
      let middle = index(low, offsetBy: half)
      if try isInPrefix(self[middle]) {
        low = index(after: middle)
        rest -= half + 1
      } else {
        rest = half
      }
    }
    return low
  }
}

extension RandomAccessCollection where Element: Comparable {
  /// The first index of a sorted collection whose element is not less than this one. `endIndex` if there is none.
  ///
  /// - Complexity: logarithmic in the number of elements.
  @inlinable package func firstIndex(notBefore element: Element) -> Index { endOfPrefix { $0 < element } }

  /// Whether a sorted collection contains an element.
  ///
  /// - Complexity: logarithmic in the number of elements.
  @inlinable package func containsInOrder(_ element: Element) -> Bool {
    let index = firstIndex(notBefore: element)
    return index < endIndex && self[index] == element
  }
}

extension Collection where Element: Comparable {
  /// Whether each element is less than the next one.
  ///
  /// - Complexity: linear in the number of elements.
  @inlinable package var isAscending: Bool { zip(self, dropFirst()).allSatisfy { $0 < $1 } }
}

extension Array where Element: Comparable {
  /// The elements in ascending order, each of them once.
  ///
  /// - Complexity: n log n in the number of elements.
  @inlinable package var sortedWithoutRepeats: [Element] { sorted().withoutRepeats }

  /// The elements of a sorted array, each of them once.
  @inlinable package var withoutRepeats: [Element] {
    var result: [Element] = []
    result.reserveCapacity(count)
    for element in self where result.last != element { result.append(element) }
    return result
  }

  /// The indexes of a longest subsequence whose elements rise.
  ///
  /// - Parameter isCounted: Whether the element at an index may belong to it.
  /// - Complexity: n log n in the number of elements.
  @inlinable package func indexesOfLongestRise(where isCounted: (Int) -> Bool = { _ in true }) -> [Int] {
    // ends[n] is the index of the smallest element that can end a rising subsequence of n + 1 elements.
    var ends: [Int] = []
    var previous = [Int](repeating: -1, count: count)
    for index in indices where isCounted(index) {
      let length = ends.endOfPrefix { self[$0] < self[index] }
      previous[index] = length > 0 ? ends[length - 1] : -1
      if length == ends.count { ends.append(index) } else { ends[length] = index }
    }
    var found: [Int] = []
    found.reserveCapacity(ends.count)
    var index = ends.last ?? -1
    while index >= 0 {
      found.append(index)
      index = previous[index]
    }
    return found.reversed()
  }
}

extension Array where Element == Int64 {
  /// The numbers in ascending order, each of them once.
  ///
  /// Many keys that leave few gaps are marked in a map of bits, which is read in order.
  ///
  /// - Complexity: linear in the number of elements if they ascend, or if one in 64 of the numbers between the least and
  ///   the greatest is among them; n log n otherwise.
  package var sortedWithoutRepeats: [Int64] {
    if isAscending { return self }
    guard count >= Self.leastMarked, let (least, places) = span, places / 64 < count else {
      return sorted().withoutRepeats
    }
    var marks = [UInt64](repeating: 0, count: places / 64 + 1)
    for element in self {
      let place = Int(element - least)
      marks[place >> 6] |= 1 &<< UInt64(place & 63)
    }
    var result: [Int64] = []
    result.reserveCapacity(count)
    for (number, word) in marks.enumerated() {
      var left = word
      while left != 0 {
        result.append(least + Int64(number << 6 + left.trailingZeroBitCount))
        left &= left - 1
      }
    }
    return result
  }

  /// Below this number of elements, a sort costs as little.
  private static var leastMarked: Int { 64 }

  /// The least element, and how far the greatest is from it. Nil if there is no element, or if that is beyond the numbers.
  private var span: (least: Int64, places: Int)? {
    guard var least = first else { return nil }
    var greatest = least
    for element in self {
      if element < least { least = element }
      if element > greatest { greatest = element }
    }
    let (places, isBeyond) = greatest.subtractingReportingOverflow(least)
    return isBeyond ? nil : Int(exactly: places).map { (least, $0) }
  }
}

extension Dictionary where Key: Comparable {
  /// The pairs in the order of their keys, so that the same dictionary always gives the same order.
  ///
  /// - Complexity: n log n in the number of pairs.
  @inlinable package var sortedByKey: [(key: Key, value: Value)] { sorted { $0.key < $1.key } }
}
