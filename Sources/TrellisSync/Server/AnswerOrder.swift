import TrellisModel
import TrellisStorage

/// The order of the objects in answers. Those of an entity come behind those that they refer to, as far as they can.
struct AnswerOrder {
  /// The root entities.
  private(set) var roots: [Int] = []
  private let ranks: [Int]
  /// A number that stands for the model.
  let identity: UInt64

  init(_ model: Model) {
    identity = UInt64(model.checksum, radix: 16) ?? 0
    var references: [Int: [(root: Int, isRequired: Bool)]] = [:]
    for entity in model.entities {
      for case let relationship? in entity.properties.map(\.relationship) where relationship.home.isColumn {
        references[entity.root, default: []].append(
          (model.entities[relationship.destination].root, relationship.isRequired))
      }
    }
    /// A search in depth lists what an entity refers to before it.
    func sorted(_ starts: [Int], _ counts: (Bool) -> Bool) -> [Int] {
      var done: Set<Int> = []
      var list: [Int] = []
      func visit(_ root: Int) {
        guard done.insert(root).inserted else { return }
        for reference in references[root] ?? [] where counts(reference.isRequired) { visit(reference.root) }
        list.append(root)
      }
      for root in starts { visit(root) }
      return list
    }
    // What is required counts at last, so it counts most.
    roots = sorted(sorted(Set(model.roots).sorted()) { _ in true }) { $0 }
    var ranks = [Int](repeating: 0, count: model.entities.count)
    for (rank, root) in roots.enumerated() { ranks[root] = rank }
    self.ranks = model.entities.map { ranks[$0.root] }
  }

  /// A place for the replica, which hands it back.
  func marked(_ place: AnswerPlace) -> AnswerPlace {
    AnswerPlace(group: place.group, key: place.key, order: identity)
  }

  func place(of key: Int64, _ entity: Int) -> AnswerPlace { AnswerPlace(group: ranks[entity], key: key) }
}
