/// Orders the elements of each column so that few lines cross.
///
/// Elements go to the mean height of what they are linked with, column after column, to and fro, and the best order that was
/// seen is kept. Then neighbours change places as long as that removes crossings.
struct ColumnOrder {
  private var arrangement: Arrangement
  /// The places of the elements in their columns.
  private var places: [Int]
  private var middles: [Double]

  static func apply(to arrangement: inout Arrangement, from start: Int) {
    var order = ColumnOrder(arrangement)
    order.begin(from: start)
    order.sweep()
    order.exchange()
    arrangement.columns = order.arrangement.columns
  }

  private init(_ arrangement: Arrangement) {
    self.arrangement = arrangement
    places = Array(repeating: 0, count: arrangement.elements.count)
    middles = Array(repeating: 0, count: arrangement.elements.count)
  }

  private func links(_ element: Int) -> [Arrangement.Link] {
    let element = arrangement.elements[element]
    return element.left + element.right + element.same
  }

  /// The first order is that in which a walk from a node finds the elements.
  private mutating func begin(from start: Int) {
    var number = Array(repeating: -1, count: arrangement.elements.count)
    number[start] = 0
    var queue = [start]
    var next = 0
    while next < queue.count {
      for link in links(queue[next]) where number[link.other] < 0 {
        number[link.other] = queue.count
        queue.append(link.other)
      }
      next += 1
    }
    for column in arrangement.columns.indices {
      arrangement.columns[column].sort { (number[$0], $0) < (number[$1], $1) }
      stack(column)
    }
  }

  /// Puts the elements of a column one below the other around 0.
  private mutating func stack(_ column: Int) {
    let elements = arrangement.columns[column]
    var tops: [Int] = []
    var top = 0
    for (place, element) in elements.enumerated() {
      if place > 0 { top += arrangement.separation(elements[place - 1], element) }
      tops.append(top)
      places[element] = place
    }
    let half = Double(top + (elements.last.map { arrangement.elements[$0].height } ?? 0)) / 2
    for (element, top) in zip(elements, tops) {
      middles[element] = Double(top) + Double(arrangement.elements[element].height) / 2 - half
    }
  }

  // MARK: Sweeps

  private mutating func sweep() {
    var best = arrangement.columns
    var fewest = crossings()
    let rounds = arrangement.elements.count > 2_000 ? 6 : 16
    for round in 0..<rounds {
      let isForth = round % 2 == 0
      let columns = Array(arrangement.columns.indices)
      for column in isForth ? columns : columns.reversed() { sort(column, isForth) }
      let count = crossings()
      if count < fewest { (best, fewest) = (arrangement.columns, count) }
      if count == 0 { break }
    }
    arrangement.columns = best
    for column in best.indices { stack(column) }
  }

  private mutating func sort(_ column: Int, _ isForth: Bool) {
    var wanted: [Int: Double] = [:]
    for number in arrangement.columns[column] {
      let element = arrangement.elements[number]
      var sum = 0.0
      var weight = 0.0
      func add(_ links: [Arrangement.Link], _ share: Double) {
        for link in links {
          let other = arrangement.elements[link.other]
          let line = middles[link.other] - Double(other.height) / 2 + Double(link.otherOffset)
          sum += share * (line - Double(link.ownOffset) + Double(element.height) / 2)
          weight += share
        }
      }
      add(isForth ? element.left : element.right, 1)
      add(isForth ? element.right : element.left, 0.1)
      add(element.same, 0.5)
      wanted[number] = weight > 0 ? sum / weight : middles[number]
    }
    let present = places
    arrangement.columns[column].sort {
      let (a, b) = (wanted[$0] ?? 0, wanted[$1] ?? 0)
      return a == b ? present[$0] < present[$1] : a < b
    }
    stack(column)
  }

  // MARK: Crossings

  /// The crossings of lines between neighbouring columns, and what brackets inside of columns span.
  private func crossings() -> Int {
    var count = 0
    for column in arrangement.columns {
      var ends: [(from: Int, to: Int)] = []
      for number in column {
        for link in arrangement.elements[number].right {
          ends.append((key(number, link.ownOffset), key(link.other, link.otherOffset)))
        }
        for link in arrangement.elements[number].same { count += max(0, abs(places[link.other] - places[number]) - 1) }
      }
      ends.sort { $0 < $1 }
      count += 2 * Inversions.count(ends.map(\.to))
    }
    return count
  }

  /// Larger for what is farther down.
  private func key(_ element: Int, _ offset: Int) -> Int { places[element] << 20 + offset }

  // MARK: Exchanges

  private mutating func exchange() {
    for _ in 0..<12 {
      var hasChanged = false
      for column in arrangement.columns.indices {
        let count = arrangement.columns[column].count
        for place in 0..<max(0, count - 1) where exchange(column, place) { hasChanged = true }
      }
      if !hasChanged { return }
    }
  }

  private mutating func exchange(_ column: Int, _ place: Int) -> Bool {
    let upper = arrangement.columns[column][place]
    let lower = arrangement.columns[column][place + 1]
    guard cost(lower, upper) + sameCost(lower, upper, place) < cost(upper, lower) + sameCost(upper, lower, place) else {
      return false
    }
    arrangement.columns[column].swapAt(place, place + 1)
    places[lower] = place
    places[upper] = place + 1
    return true
  }

  /// The crossings among the lines of two elements if the first is above the second.
  private func cost(_ upper: Int, _ lower: Int) -> Int {
    let (above, below) = (arrangement.elements[upper], arrangement.elements[lower])
    return 2 * (crossings(above.left, below.left) + crossings(above.right, below.right))
  }

  private func crossings(_ above: [Arrangement.Link], _ below: [Arrangement.Link]) -> Int {
    var count = 0
    for a in above {
      let end = key(a.other, a.otherOffset)
      for b in below where key(b.other, b.otherOffset) < end { count += 1 }
    }
    return count
  }

  /// The spans of brackets if the first element has this place and the second the next.
  private func sameCost(_ upper: Int, _ lower: Int, _ place: Int) -> Int {
    func span(_ element: Int, _ place: Int, besides other: Int) -> Int {
      arrangement.elements[element].same.reduce(0) {
        $1.other == other || $1.other == element ? $0 : $0 + max(0, abs(places[$1.other] - place) - 1)
      }
    }
    return 2 * (span(upper, place, besides: lower) + span(lower, place + 1, besides: upper))
  }
}

/// Counts pairs in the wrong order.
enum Inversions {
  /// - Complexity: n log n in the number of values.
  static func count(_ values: [Int]) -> Int {
    var values = values
    var buffer = values
    return sort(&values, &buffer, values.indices)
  }

  private static func sort(_ values: inout [Int], _ buffer: inout [Int], _ range: Range<Int>) -> Int {
    guard range.count > 1 else { return 0 }
    let middle = range.lowerBound + range.count / 2
    var count =
      sort(&values, &buffer, range.lowerBound..<middle) + sort(&values, &buffer, middle..<range.upperBound)
    var (left, right) = (range.lowerBound, middle)
    for place in range {
      if left < middle, right >= range.upperBound || values[left] <= values[right] {
        buffer[place] = values[left]
        left += 1
      } else {
        buffer[place] = values[right]
        count += middle - left
        right += 1
      }
    }
    for place in range { values[place] = buffer[place] }
    return count
  }
}
