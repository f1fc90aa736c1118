import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Two writers and one partner of a one-to-one") struct PartnerConflictTests {
  /// Two contexts in which the next of different objects became one and the same.
  private struct World {
    let first: ManagedObjectContext
    let second: ManagedObjectContext
    let shared: Node
    let mine: Node
    let theirs: Node
    private let file = TemporaryFile()

    init(_ kind: StoreKind, isNew: Bool, kept: String? = nil) throws {
      let store: StoreConfiguration =
        kind == .memory ? .memory(named: UUID().uuidString) : .sqlite(at: file.url, durability: .relaxed)
      let one = try PersistentContainer(model: .shapes, store: store) { _ in }.newContext()
      let other = try PersistentContainer(model: .shapes, store: store) { _ in }.newContext()
      let saved = Node(in: one, name: "shared")
      let others = isNew ? [] : ["mine", "theirs"].map { Node(in: one, name: $0) }
      if let kept { others.first?.next = Node(in: one, name: kept) }
      try one.save()
      let known = try others.last.flatMap { try other.object(with: $0.objectID) }
      theirs = known ?? Node(in: other, name: "theirs")
      theirs.next = try other.object(with: saved.objectID)
      mine = others.first ?? Node(in: one, name: "mine")
      mine.next = saved
      mine.rank = 7
      (first, second, shared) = (one, other, saved)
      try second.save()
    }

    /// Who has whom, as a new context reads it.
    func stored() throws -> [String] {
      first.reset()
      return try first.fetch(Node.all.sorted { $0.name }).compactMap { node in
        node.next.map { "\(node.name) \(node.rank) > \($0.name) < \($0.previous?.name ?? "-")" }
      }
    }
  }

  static let all = StoreKind.inPlace.flatMap { kind in [(kind, false), (kind, true)] }

  @Test("is a conflict of the partner's property, and nothing changes", arguments: all)
  func conflict(_ kind: StoreKind, _ isNew: Bool) throws {
    let world = try World(kind, isNew: isNew)
    let rows = #expect(throws: SaveConflict.self) { try world.first.save() }?.rows ?? []
    #expect(rows.map(\.properties) == [["previous"]] && rows.map(\.key) == [world.shared.objectID.key])
    #expect(rows.first?.kind == .changedByBoth && rows.first?.entityName == "Node")
    #expect(rows.first?.theirs(Node.Snapshot.self)?.name == "shared")
    #expect(world.mine.next === world.shared && world.shared.previous === world.mine && world.first.hasChanges)
    #expect(try world.stored() == ["theirs 0 > shared < theirs"])
  }

  @Test(
    "goes to the object here under object trump and overwrite", arguments: all, [MergePolicy.objectTrump, .overwrite])
  func mineWins(_ world: (kind: StoreKind, isNew: Bool), _ policy: MergePolicy) throws {
    let world = try World(world.kind, isNew: world.isNew)
    try world.first.save(mergePolicy: policy)
    #expect(world.shared.previous === world.mine)
    #expect(try world.stored() == ["mine 7 > shared < mine"])
  }

  @Test("stays with the object in the store under store trump", arguments: all)
  func theirsWins(_ kind: StoreKind, _ isNew: Bool) throws {
    let world = try World(kind, isNew: isNew)
    try world.first.save(mergePolicy: .storeTrump)
    #expect(world.shared.previous?.objectID == world.theirs.objectID && world.mine.next == nil && world.mine.rank == 7)
    #expect(try world.stored() == ["theirs 0 > shared < theirs"])
  }

  @Test("gives the object back whom it had before", arguments: StoreKind.inPlace)
  func former(_ kind: StoreKind) throws {
    let world = try World(kind, isNew: false, kept: "kept")
    try world.first.save(mergePolicy: .rollback)
    #expect(world.mine.next?.name == "kept" && world.mine.rank == 0)
    #expect(try world.stored() == ["mine 0 > kept < mine", "theirs 0 > shared < theirs"])
  }

  @Test("is taken again by a closure that runs on fresh values", arguments: all)
  func retrying(_ kind: StoreKind, _ isNew: Bool) throws {
    let world = try World(kind, isNew: isNew)
    world.first.rollback()
    var runs = 0
    try world.first.saveRetrying {
      runs += 1
      let shared = try world.first.first(Node.where { $0.name == "shared" })
      _ = shared?.previous
      if runs == 1 {
        let other = try #require(try world.second.first(Node.where { $0.name == "shared" }))
        other.previous = Node(in: world.second, name: "later")
        try world.second.save()
      }
      Node(in: world.first, name: "mine").next = shared
    }
    #expect(runs == 2)
    #expect(try world.stored() == ["mine 0 > shared < mine"])
  }

  @Test("a child's object that takes what its parent has given away since is a conflict there")
  func child() throws {
    let context = try makeContext()
    let nodes = ["mine", "theirs", "shared"].map { Node(in: context, name: $0) }
    let child = context.newChildContext()
    let mine = try #require(try child.object(with: nodes[0].objectID))
    mine.next = try child.object(with: nodes[2].objectID)
    nodes[1].next = nodes[2]
    let rows = #expect(throws: SaveConflict.self) { try child.save() }?.rows ?? []
    #expect(rows.map(\.properties) == [["previous"]])
    #expect(nodes[2].previous === nodes[1])
    try child.save(mergePolicy: .objectTrump)
    #expect(nodes[2].previous === nodes[0] && nodes[1].next == nil)
  }
}
