/// A place in a picture, in pixels from its upper left corner.
package struct Point: Hashable, Sendable {
  package var x: Int
  package var y: Int

  package init(x: Int, y: Int) {
    self.x = x
    self.y = y
  }
}

package struct Size: Hashable, Sendable {
  package var width: Int
  package var height: Int
}

package struct Rectangle: Hashable, Sendable {
  package var x: Int
  package var y: Int
  package var width: Int
  package var height: Int

  package init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  package var maxX: Int { x + width }
  package var maxY: Int { y + height }

  /// Whether two rectangles have more than an edge in common.
  package func overlaps(_ other: Rectangle) -> Bool {
    x < other.maxX && other.x < maxX && y < other.maxY && other.y < maxY
  }
}

extension [Point] {
  /// The same way without points that repeat, and without those in the middle of a straight piece.
  var withoutNeedlessPoints: [Point] {
    var kept: [Point] = []
    for point in self {
      if kept.last == point { continue }
      if kept.count > 1 {
        let (a, b) = (kept[kept.count - 2], kept[kept.count - 1])
        let isBetween =
          a.x == b.x && b.x == point.x && (b.y - a.y) * (point.y - b.y) >= 0
          || a.y == b.y && b.y == point.y && (b.x - a.x) * (point.x - b.x) >= 0
        if isBetween { kept.removeLast() }
      }
      kept.append(point)
    }
    return kept
  }
}
