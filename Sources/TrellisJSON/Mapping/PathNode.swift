import TrellisModel

/// The paths of an entity as a tree: what is to be read at a place of an object, and below it.
///
/// The tree is walked along the bytes, so that an object is read once whatever the number of its paths.
///
/// A node is changed while the mapping is read and not afterwards, so that its properties need no checks of exclusive
/// access, which would cost more than the walk itself.
package final class PathNode {
  /// What a value is read for.
  package enum Target: Hashable {
    /// The attribute of a field.
    case field(Int)
    /// An element of the list of a field.
    case item(Int)
    /// The partner, or a member, of a link.
    case link(Int)
  }

  /// The elements of a list of which the value at a path has one of some texts.
  struct Filter {
    let names: [[UInt8]]
    var nodes: [(text: String, node: PathNode)]
  }

  @exclusivity(unchecked) private(set) var targets: [Target] = []
  @exclusivity(unchecked) private(set) var names: [(key: [UInt8], node: PathNode)] = []
  @exclusivity(unchecked) private(set) var entries: PathNode?
  @exclusivity(unchecked) private(set) var elements: PathNode?
  @exclusivity(unchecked) private(set) var positions: [(position: Int, node: PathNode)] = []
  @exclusivity(unchecked) private(set) var filters: [Filter] = []
  /// The targets with several values of which this node is the first list, or object of entries, on the way. They are
  /// empty where this one is.
  @exclusivity(unchecked) private(set) var collections: [Target] = []
  /// The targets with several values of which the list, or object of entries, encloses this node, and that lie here or
  /// below. Each time the node is reached adds to them.
  @exclusivity(unchecked) private(set) var collected: [Target] = []
  private var unions: [[ObjectIdentifier]: PathNode] = [:]
  private var below: PathNode?

  var isObject: Bool { !names.isEmpty || entries != nil }
  var isList: Bool { elements != nil || !positions.isEmpty || !filters.isEmpty }
  var isLeaf: Bool { !isObject && !isList }

  func add(_ steps: [JSONPath.Step], _ target: Target) {
    var node = self
    var isCollected = false
    for step in steps {
      if !isCollected, step == .entries || step == .elements {
        node.collections.append(target)
        isCollected = true
      }
      node = node.next(step)
      if isCollected { node.collected.append(target) }
    }
    node.targets.append(target)
  }

  private func next(_ step: JSONPath.Step) -> PathNode {
    switch step {
    case .name(let name):
      let key = Array(name.utf8)
      if let known = names.first(where: { $0.key == key }) { return known.node }
      let node = PathNode()
      names.append((key, node))
      return node
    case .entries:
      let node = entries ?? PathNode()
      entries = node
      return node
    case .elements:
      let node = elements ?? PathNode()
      elements = node
      return node
    case .element(let position):
      if let known = positions.first(where: { $0.position == position }) { return known.node }
      let node = PathNode()
      positions.append((position, node))
      return node
    case .matching(let path, let text):
      let names = path.map { Array($0.utf8) }
      let place = filters.firstIndex { $0.names == names } ?? filters.count
      if place == filters.count { filters.append(Filter(names: names, nodes: [])) }
      if let known = filters[place].nodes.first(where: { $0.text == text }) { return known.node }
      let node = PathNode()
      filters[place].nodes.append((text, node))
      return node
    // These stand alone, and are not inside of the object.
    case .enclosing, .key, .value: return self
    }
  }

  /// The number of a key among the names.
  func number(named key: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
    names.firstIndex { $0.key.count == key.count && $0.key.elementsEqual(key) }
  }

  /// The nodes right below this one.
  var children: [PathNode] { inner + [entries, elements].compactMap(\.self) }

  /// The nodes right below this one that stand for one value.
  var inner: [PathNode] { names.map(\.node) + positions.map(\.node) + filters.flatMap { $0.nodes.map(\.node) } }

  /// One node that leads to all that several nodes lead to.
  func union(_ nodes: [PathNode]) -> PathNode {
    if nodes.count == 1 { return nodes[0] }
    let numbers = nodes.map(ObjectIdentifier.init)
    if let known = unions[numbers] { return known }
    let node = PathNode()
    for other in nodes { node.include(other) }
    unions[numbers] = node
    return node
  }

  private func include(_ other: PathNode) {
    targets += other.targets
    collections += other.collections
    collected += other.collected
    for (name, node) in other.names {
      if let place = names.firstIndex(where: { $0.key == name }) {
        names[place].node = Self.joined(names[place].node, node)
      } else {
        names.append((name, node))
      }
    }
    for (position, node) in other.positions {
      if let place = positions.firstIndex(where: { $0.position == position }) {
        positions[place].node = Self.joined(positions[place].node, node)
      } else {
        positions.append((position, node))
      }
    }
    for filter in other.filters {
      guard let place = filters.firstIndex(where: { $0.names == filter.names }) else {
        filters.append(filter)
        continue
      }
      for (text, node) in filter.nodes {
        if let known = filters[place].nodes.firstIndex(where: { $0.text == text }) {
          filters[place].nodes[known].node = Self.joined(filters[place].nodes[known].node, node)
        } else {
          filters[place].nodes.append((text, node))
        }
      }
    }
    entries = Self.joined(entries, other.entries)
    elements = Self.joined(elements, other.elements)
  }

  private static func joined(_ first: PathNode, _ second: PathNode) -> PathNode {
    let node = PathNode()
    node.include(first)
    node.include(second)
    return node
  }

  private static func joined(_ first: PathNode?, _ second: PathNode?) -> PathNode? {
    guard let first, let second else { return first ?? second }
    return joined(first, second)
  }
}

extension PathNode {
  /// What lies below a node, without what is read at the node itself.
  static func withoutTargets(_ node: PathNode) -> PathNode {
    if node.targets.isEmpty { return node }
    if let known = node.below { return known }
    let below = PathNode()
    below.include(node)
    below.targets = []
    node.below = below
    return below
  }
}
