import BenchModel
import Trellis
import Workload

extension TrellisBench {
  /// Nodes, each the child of the one before, in one save.
  func chainInsert(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    return {
      let context = container.newContext()
      var last = Node(in: context, number: 0)
      for number in 1..<count {
        let node = Node(in: context, number: Int64(number))
        node.parent = last
        last = node
      }
      try context.save()
      return count
    }
  }

  private func node(_ number: Int, _ context: ManagedObjectContext) throws -> Node {
    guard let node = try context.first(Node.where { $0.number == Int64(number) }) else { throw Unexpected() }
    return node
  }

  func chainDown(_ store: TrellisStore) throws -> Work {
    let context = try store.newContext(), root = try node(0, context)
    return { withExtendedLifetime(context) { walk(from: root) { $0.children.first } } }
  }

  func chainUp(_ store: TrellisStore) throws -> Work {
    let context = try store.newContext(), last = try node(count - 1, context)
    return { withExtendedLifetime(context) { walk(from: last) { $0.parent } } }
  }

  private func walk(from start: Node, _ next: (Node) -> Node?) -> Int {
    var numbers: [Int] = []
    var node: Node? = start
    while let current = node {
      numbers.append(Int(current.number))
      node = next(current)
    }
    return orderedSum(numbers)
  }

  /// A node with all below it.
  func chainDelete(_ store: TrellisStore) throws -> Work {
    let context = try store.newContext(), root = try node(0, context)
    return {
      try context.delete(root)
      try context.save()
      return count
    }
  }
}
