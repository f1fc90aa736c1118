extension Array where Element: Hashable {
  /// The list with further elements, each behind the nearest of its predecessors in another list; at the front if it has
  /// none.
  ///
  /// - Complexity: linear in the lengths of the lists.
  package func woven(with elements: Set<Element>, inTheOrderOf list: [Element]) -> [Element] {
    let present = Set(self)
    var followers: [Element: [Element]] = [:]
    var first: [Element] = []
    var anchor: Element?
    for element in list {
      if present.contains(element) {
        anchor = element
      } else if elements.contains(element) {
        if let anchor { followers[anchor, default: []].append(element) } else { first.append(element) }
      }
    }
    return first + flatMap { [$0] + (followers[$0] ?? []) }
  }

  /// The elements that are in a set, in their order.
  func only(_ elements: Set<Element>) -> [Element] { filter(elements.contains) }
}
