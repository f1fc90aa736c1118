/// Boxes and nets to lay out, with nothing of what they show. All numbers are pixels.
struct LayoutGraph {
  struct Node {
    let width: Int
    /// A multiple of ``Measure/grid``, as are all offsets.
    let height: Int
  }

  struct Port {
    let node: Int
    /// From the top of the node.
    let offset: Int
    /// The length beside the box that marks and labels of this end need.
    let room: Int
  }

  /// A line that joins a hub with each spoke. Only the lines of one net may run in the same place.
  struct Net {
    let hub: Port
    let spokes: [Port]
    /// How much worse a spoke is on the left of its hub, in percent of an edge.
    let leftPenalty: Int

    var ports: [Port] { [hub] + spokes }
  }

  var nodes: [Node] = []
  var nets: [Net] = []

  /// The nodes that lines connect, each list and all lists by the number of the first node.
  func components() -> [[Int]] {
    var parent = Array(nodes.indices)
    func root(_ node: Int) -> Int {
      var node = node
      while parent[node] != node {
        parent[node] = parent[parent[node]]
        node = parent[node]
      }
      return node
    }
    for net in nets {
      for spoke in net.spokes {
        let (a, b) = (root(net.hub.node), root(spoke.node))
        if a != b { parent[max(a, b)] = min(a, b) }
      }
    }
    var lists: [Int: [Int]] = [:]
    for node in nodes.indices { lists[root(node), default: []].append(node) }
    return lists.values.sorted { $0[0] < $1[0] }
  }

  /// The graph of some nodes, which are numbered anew, and the numbers that its nets have here.
  func part(_ members: [Int], nets numbers: [Int]) -> LayoutGraph {
    let number = Dictionary(uniqueKeysWithValues: members.enumerated().map { ($1, $0) })
    func port(_ port: Port) -> Port { Port(node: number[port.node] ?? 0, offset: port.offset, room: port.room) }
    return LayoutGraph(
      nodes: members.map { nodes[$0] },
      nets: numbers.map { nets[$0] }.map {
        Net(hub: port($0.hub), spokes: $0.spokes.map(port), leftPenalty: $0.leftPenalty)
      })
  }
}
