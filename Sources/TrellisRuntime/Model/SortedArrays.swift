extension Array where Element: Comparable {
  /// The elements in order, without duplicates.
  var sortedWithoutRepeats: [Element] {
    var result: [Element] = []
    result.reserveCapacity(count)
    for element in sorted() where result.last != element { result.append(element) }
    return result
  }

  /// Whether a sorted array contains an element.
  ///
  /// - Complexity: logarithmic in the number of elements.
  func containsInOrder(_ element: Element) -> Bool {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < element { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low] == element
  }
}
