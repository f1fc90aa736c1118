import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Small worlds") struct SmallWorldTests {
  /// How many moves long the sequences are.
  private static let length = TestSettings.number("TRELLIS_GRAPH_WORLD_LENGTH", or: 2)
  /// Every how many sequences one is played; 1 plays all.
  private static let stride = TestSettings.number("TRELLIS_GRAPH_WORLD_STRIDE", or: 2_503)
  private static let seed =
    TestSettings.seed("TRELLIS_GRAPH_SEED")
  private static let enough = 10

  @Test(
    "every shape, rule and order behaves as the reference, whatever few steps are taken", .timeLimit(.minutes(600)))
  func exhaustive() throws { try visit(levels: 0, stride: Self.stride) }

  @Test("every shape, rule and order behaves so in a child, too", .timeLimit(.minutes(600)))
  func exhaustiveInChild() throws { try visit(levels: 1, stride: Self.stride * 2) }

  private func visit(levels: Int, stride: Int) throws {
    let rules = try Rules()
    var tour = Tour(rules: rules, levels: levels, next: Int(Self.seed % UInt64(max(1, stride))))
    for world in Self.worlds(rules.shapes) where tour.differences.count < Self.enough {
      for length in 1...Self.length { try tour.visit(world, length: length, stride: stride) }
    }
    for difference in tour.differences { Issue.record("seed \(Self.seed): \(difference)") }
    print(
      "small worlds\(levels > 0 ? " in a child" : ""): seed \(Self.seed), \(tour.played) of \(tour.sequences) sequences played"
    )
  }

  /// Each relationship once, from its first end; those that a save demands have worlds of their own elsewhere.
  private static func worlds(_ shapes: Shapes) -> [SmallWorld] {
    let matrix = shapes.all.filter { shape in
      shapes.lineages[shape.entity + "Kind"] != nil && shape.inverse ?? shape.index >= shape.index
    }
    return matrix.flatMap { shape in
      SmallWorld.Start.allCases.flatMap { start in
        [false, true].map { isLinked in
          SmallWorld(shape: shape, inverse: shapes.inverse(of: shape), start: start, isLinked: isLinked)
        }
      }
    }
  }
}

/// Walks through sequences of moves and keeps count.
private struct Tour {
  let rules: Rules
  let levels: Int
  var next: Int
  private(set) var sequences = 0
  private(set) var played = 0
  private(set) var differences: [String] = []
  private var container: PersistentContainer?
  private var worldsInContainer = 0

  init(rules: Rules, levels: Int, next: Int) {
    self.rules = rules
    self.levels = levels
    self.next = next
  }

  mutating func visit(_ world: SmallWorld, length: Int, stride: Int) throws {
    let moves = world.moves
    let count = (0..<length).reduce(1) { product, _ in product * moves.count }
    while next < count {
      let sequence = digits(of: next, base: moves.count, count: length).map { moves[$0] }
      try play(world, sequence)
      next += stride
    }
    next -= count
    sequences += count
  }

  private mutating func play(_ world: SmallWorld, _ sequence: [Operation]) throws {
    // Worlds share a store, which only grows; now and then there is a new one.
    if container == nil || worldsInContainer == 2000 {
      container = try PersistentContainer(model: .rules, store: .memory) { _ in }
      worldsInContainer = 0
    }
    guard let container else { return }
    worldsInContainer += 1
    do {
      if try world.play(sequence, in: container, rules, levels: levels) { played += 1 }
    } catch {
      let steps = sequence.map { "\($0)" }.joined(separator: ", ")
      differences.append("\(world.shape.entity) \(world.start)\(world.isLinked ? ", linked" : ""): \(steps): \(error)")
    }
  }

  private func digits(of number: Int, base: Int, count: Int) -> [Int] {
    var rest = number
    return (0..<count).map { _ in
      defer { rest /= base }
      return rest % base
    }
  }
}
