/// Places components beside each other, to about the shape of a screen.
///
/// Those of many boxes stand in rows, the highest first. Small ones fill the free places between them.
struct Packing {
  private(set) var corners: [Point]
  private(set) var size = Size(width: 0, height: 0)
  private let bound: Int
  /// The corner of the next component in the last row.
  private var cursor = Point(x: 0, y: 0)
  private var rowHeight = 0
  /// What is placed, as long as free places are looked for.
  private var obstacles: [Rectangle] = []
  private var places: Set<Point> = []

  /// Beyond this number of boxes, free places are not worth the search.
  private static let searched = 400

  init(_ components: [PlacedComponent]) {
    corners = Array(repeating: Point(x: 0, y: 0), count: components.count)
    let area = components.reduce(0.0) {
      $0 + Double($1.size.width + Spacing.components) * Double($1.size.height + Spacing.components)
    }
    bound = max(components.map(\.size.width).max() ?? 0, Int((area * 1.7).squareRoot()))
    let order = components.indices.sorted {
      (components[$0].isSmall ? 1 : 0, -components[$0].size.height, $0)
        < (components[$1].isSmall ? 1 : 0, -components[$1].size.height, $1)
    }
    let searches = components.reduce(0) { $0 + $1.boxes.count } <= Self.searched
    for number in order {
      let component = components[number]
      let corner = searches && component.isSmall ? freePlace(for: component.size) : rowPlace(for: component.size)
      corners[number] = corner
      size.width = max(size.width, corner.x + component.size.width)
      size.height = max(size.height, corner.y + component.size.height)
      if searches { occupy(component, corner) }
    }
  }

  // MARK: Rows

  private func nextRowPlace(for box: Size) -> Point {
    cursor.x > 0 && cursor.x + box.width > bound
      ? Point(x: 0, y: cursor.y + rowHeight + Spacing.components) : cursor
  }

  private mutating func rowPlace(for box: Size) -> Point {
    let corner = nextRowPlace(for: box)
    if corner.y > cursor.y { rowHeight = 0 }
    rowHeight = max(rowHeight, box.height)
    cursor = Point(x: corner.x + box.width + Spacing.components, y: corner.y)
    return corner
  }

  // MARK: Free places

  private mutating func occupy(_ component: PlacedComponent, _ corner: Point) {
    for box in component.boxes {
      let box = box.moved(by: corner)
      obstacles.append(box)
      places.formUnion([
        Point(x: box.x, y: box.maxY + Spacing.boxes), Point(x: box.maxX + Spacing.boxes, y: box.y),
        Point(x: box.x, y: 0), Point(x: 0, y: box.maxY + Spacing.boxes),
      ])
    }
    for way in component.ways {
      for (a, b) in zip(way.points, way.points.dropFirst()) {
        let piece = Rectangle(x: min(a.x, b.x), y: min(a.y, b.y), width: abs(a.x - b.x), height: abs(a.y - b.y))
        obstacles.append(piece.moved(by: corner))
      }
    }
  }

  /// The place where the picture grows least, the upper left one of several.
  private mutating func freePlace(for box: Size) -> Point {
    let inRow = nextRowPlace(for: box)
    func cost(_ corner: Point) -> (Int, Int, Int) {
      (max(size.height, corner.y + box.height), corner.y, corner.x)
    }
    let widest = max(bound, size.width)
    let free = places.filter { $0.x + box.width <= widest && cost($0) < cost(inRow) }
      .sorted { cost($0) < cost($1) }.first { isFree($0, box) }
    return free ?? (isFree(inRow, box) ? rowPlace(for: box) : below(box))
  }

  /// A new row under everything, if a free place was taken where the last row would go on.
  private mutating func below(_ box: Size) -> Point {
    cursor = Point(x: 0, y: size.height + Spacing.components)
    rowHeight = 0
    return rowPlace(for: box)
  }

  private func isFree(_ corner: Point, _ box: Size) -> Bool {
    let gap = Spacing.boxes - 10
    let frame = Rectangle(
      x: corner.x - gap, y: corner.y - gap, width: box.width + 2 * gap, height: box.height + 2 * gap)
    // Pieces of lines have no width, so they count if they are not outside.
    return !obstacles.contains {
      $0.x < frame.maxX && frame.x < $0.maxX + 1 && $0.y < frame.maxY && frame.y < $0.maxY + 1
    }
  }
}

extension PlacedComponent {
  fileprivate var isSmall: Bool { boxes.count <= 3 }
}
