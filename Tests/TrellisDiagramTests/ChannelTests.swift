import Testing
import TrellisTestSupport

@testable import TrellisDiagram

@Suite("The space between two columns") struct ChannelTests {
  /// Two boxes beside each other, whose ports are joined as the pairs say, at the same heights on both sides.
  private func ways(_ pairs: [(left: Int, right: Int)]) -> [PlacedComponent.Way] {
    func port(_ node: Int, _ place: Int) -> LayoutGraph.Port {
      LayoutGraph.Port(node: node, offset: 40 + 10 * place, room: 20)
    }
    let graph = LayoutGraph(
      nodes: Array(repeating: LayoutGraph.Node(width: 100, height: 200), count: 2),
      nets: pairs.map {
        LayoutGraph.Net(hub: port(0, $0.left), spokes: [port(1, $0.right)], leftPenalty: 0)
      })
    return PlacedComponent(Arrangement(graph, columns: [0, 1])).ways
  }

  private func overlaps(_ ways: [PlacedComponent.Way]) -> Int {
    let pieces = ways.enumerated().flatMap { number, way in
      zip(way.points, way.points.dropFirst()).map { (number, $0, $1) }
    }
    var count = 0
    for (first, a, b) in pieces {
      for (second, c, d) in pieces where first < second {
        let isOnOneHeight = a.y == b.y && c.y == d.y && a.y == c.y
        let isAtOneTrack = a.x == b.x && c.x == d.x && a.x == c.x
        if isOnOneHeight, min(a.x, b.x) <= max(c.x, d.x), min(c.x, d.x) <= max(a.x, b.x) { count += 1 }
        if isAtOneTrack, min(a.y, b.y) <= max(c.y, d.y), min(c.y, d.y) <= max(a.y, b.y) { count += 1 }
      }
    }
    return count
  }

  @Test("two lines that change their heights with each other do not run in one place")
  func exchange() {
    let ways = ways([(0, 1), (1, 0)])
    #expect(overlaps(ways) == 0)
    // One of them needs a second vertical piece.
    #expect(ways.map(\.points.count).sorted() == [4, 6])
  }

  @Test("no two lines run in one place, however the ends are permuted")
  func permutations() {
    var generator = SeededGenerator(seed: TestSettings.seed())
    for count in 2...12 {
      for _ in 0..<40 {
        let right = Array(0..<count).shuffled(using: &generator)
        let ways = ways(right.enumerated().map { ($0, $1) })
        let count = overlaps(ways)
        #expect(count == 0, "\(right)")
        if count > 0 { return }
      }
    }
  }

  @Test("lines that need not cross do not")
  func planar() {
    // Those that go down, those that go up, and a straight one, in one order on both sides.
    for right in [[3, 4, 5, 6], [0, 1, 2, 3], [0, 3, 6, 9]] {
      var runs: [Channel.Run] = []
      for (left, right) in right.enumerated() {
        runs.append(Channel.Run(sideNet: left, left: [10 * left + 20], right: [10 * right]))
      }
      #expect(Channel(runs).crossings == 0)
    }
  }

  @Test("counts the pairs in the wrong order")
  func inversions() {
    #expect(Inversions.count([]) == 0)
    #expect(Inversions.count([1, 1, 2, 3]) == 0)
    #expect(Inversions.count([4, 3, 2, 1]) == 6)
    var generator = SeededGenerator(seed: TestSettings.seed())
    for _ in 0..<50 {
      let values = (0..<20).map { _ in generator.below(12) }
      let expected = values.indices.reduce(0) { count, first in
        count + values[(first + 1)...].count { $0 < values[first] }
      }
      #expect(Inversions.count(values) == expected)
    }
  }
}
