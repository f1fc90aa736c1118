import Trellis
import TrellisTestSupport

/// Changes of a graph of every shape by chance, as its objects offer them.
struct RandomChanges {
  var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Whether something happens that happens once in so many times.
  mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &generator) == 0 }

  mutating func upTo(_ most: Int) -> Int { Int.random(in: 0...most, using: &generator) }

  private mutating func node(_ context: ManagedObjectContext) throws -> Node {
    try context.fetch(Node.all).randomElement(using: &generator) ?? Node(in: context)
  }

  private mutating func nodes(_ context: ManagedObjectContext) throws -> [Node] {
    let all = try context.fetch(Node.all).shuffled(using: &generator)
    return Array(all.prefix(Int.random(in: 0...3, using: &generator)))
  }

  private mutating func team(_ context: ManagedObjectContext) throws -> Team? {
    try context.fetch(Team.where { $0.size < 9 }).randomElement(using: &generator)
  }

  mutating func change(_ context: ManagedObjectContext) throws {
    let node = try node(context)
    switch Int.random(in: 0..<18, using: &generator) {
    case 0: node.name = "\(Int.random(in: 0..<100, using: &generator))"
    case 1: node.rank += 1
    case 2: node.twin = chance(3) ? nil : try self.node(context)
    case 3: node.next = chance(3) ? nil : try self.node(context)
    case 4: node.previous = try self.node(context)
    case 5: node.parent = chance(3) ? nil : try self.node(context)
    case 6: node.children.append(try self.node(context))
    case 7: node.children.insert(try self.node(context), at: Int.random(in: 0...2, using: &generator))
    case 8: node.children = OrderedToMany(try nodes(context))
    case 9: node.friends.append(try self.node(context))
    case 10: node.friends = ToMany(try nodes(context))
    case 11: node.likes.insert(try self.node(context), at: 0)
    case 12: node.likes = OrderedToMany(try nodes(context))
    case 13: node.likedBy = ToMany(try nodes(context))
    case 14: node.team = chance(3) ? nil : try team(context)
    case 15: Node(in: context, name: "new", parent: chance(2) ? node : nil).friends.append(node)
    case 16: try context.delete(node)
    default:
      if chance(3), let team = try team(context) { try context.delete(team) } else { node.guarded = try team(context) }
    }
  }
}
