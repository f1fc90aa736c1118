import Foundation
import Testing
import Trellis
import TrellisJSON
import TrellisTestSupport

/// Two contexts of one store and four nodes, of which some are twins: a one-to-one that is its own inverse.
private final class Couples {
  enum Place: CaseIterable { case memory, sqlite, json }

  private let file = TemporaryFile()
  private let container: PersistentContainer
  let mine: ManagedObjectContext
  let theirs: ManagedObjectContext
  private var reader: ManagedObjectContext?

  init(_ place: Place, _ couples: [String]) throws {
    let store: StoreConfiguration =
      switch place {
      case .memory: .memory(named: UUID().uuidString)
      case .sqlite: .sqlite(at: file.url, durability: .relaxed)
      case .json: .json(at: file.url)
      }
    container = try PersistentContainer(model: .shapes, store: store) { _ in }
    // A document belongs to one container at a time.
    let other = place == .json ? container : try PersistentContainer(model: .shapes, store: store) { _ in }
    mine = container.newContext()
    theirs = other.newContext()
    for name in ["a", "b", "c", "d"] { _ = Node(in: theirs, name: name) }
    try Couples.couple(couples, theirs)
    try theirs.save()
    for context in [mine, theirs] { _ = try context.fetch(Node.all).map { $0.twin?.name } }
  }

  static func node(_ name: Substring, _ context: ManagedObjectContext) throws -> Node {
    try context.first(Node.where { $0.name == String(name) }) ?? Node(in: context, name: String(name))
  }

  /// Changes: `ab` makes two twins, `a` leaves one without, `-a` deletes it, `+a` edits it.
  static func couple(_ changes: [String], _ context: ManagedObjectContext) throws {
    for change in changes {
      let name = change.suffix(1)
      switch change.first {
      case "-": try context.delete(try node(name, context))
      case "+": try node(name, context).rank += 1
      default: try node(change.prefix(1), context).twin = change.count == 1 ? nil : try node(name, context)
      }
    }
  }

  /// Every half of a couple.
  static func halves(_ context: ManagedObjectContext) throws -> [String] {
    try context.fetch(Node.all.sorted { $0.name }).compactMap { node in node.twin.map { node.name + $0.name } }
  }

  func stored() throws -> [String] {
    let context = container.newContext()
    reader = context
    return try Self.halves(context)
  }

  var findings: [String] { get throws { try container.check().map(\.description) } }
}

@Suite("Two writers and partners of a one-to-one that is its own inverse") struct CoupleConflictTests {
  struct Case: CustomTestStringConvertible {
    let before: [String]
    let mine: [String]
    let theirs: [String]
    /// The couples that are there in the end; nil where neither side wins.
    let ends: [MergePolicy: [String]?]

    init(
      _ before: [String], mine: [String], theirs: [String], error: [String]?, object: [String]?, store: [String]?,
      overwrite: [String]?, rollback: [String]?
    ) {
      (self.before, self.mine, self.theirs) = (before, mine, theirs)
      ends = [
        .error: error, .objectTrump: object, .storeTrump: store, .overwrite: overwrite, .rollback: rollback,
      ]
    }

    var testDescription: String { "\(before): \(mine) here, \(theirs) there" }
  }

  static let cases = [
    Case(
      [], mine: ["ab"], theirs: ["cb"], error: nil, object: ["ab"], store: ["bc"], overwrite: ["ab"], rollback: ["bc"]),
    Case(
      [], mine: ["xb"], theirs: ["cb"], error: nil, object: ["bx"], store: ["bc"], overwrite: ["bx"], rollback: ["bc"]),
    Case(
      [], mine: ["ab"], theirs: ["yb"], error: nil, object: ["ab"], store: ["by"], overwrite: ["ab"], rollback: ["by"]),
    Case(
      [], mine: ["ab", "cd"], theirs: ["ac", "bd"], error: nil, object: ["ab", "cd"], store: ["ac", "bd"],
      overwrite: ["ab", "cd"], rollback: ["ac", "bd"]),
    Case(["ab"], mine: ["a"], theirs: ["ac"], error: nil, object: [], store: ["ac"], overwrite: [], rollback: ["ac"]),
    Case(["ab"], mine: ["ac"], theirs: ["a"], error: nil, object: ["ac"], store: [], overwrite: ["ac"], rollback: []),
    Case(
      ["ab"], mine: ["ac"], theirs: ["bd"], error: nil, object: ["ac"], store: ["bd"], overwrite: ["ac"],
      rollback: ["bd"]),
    Case(
      [], mine: ["+a"], theirs: ["ac"], error: ["ac"], object: ["ac"], store: ["ac"], overwrite: [], rollback: ["ac"]),
    Case(["ab"], mine: ["+a"], theirs: ["a"], error: [], object: [], store: [], overwrite: ["ab"], rollback: []),
    Case(
      ["ab"], mine: ["+a"], theirs: ["bc"], error: ["bc"], object: ["bc"], store: ["bc"], overwrite: ["ab"],
      rollback: ["bc"]),
    Case(
      ["ab"], mine: ["+a", "+c"], theirs: ["ac"], error: ["ac"], object: ["ac"], store: ["ac"], overwrite: ["ab"],
      rollback: ["ac"]),
    Case([], mine: ["-b"], theirs: ["ab"], error: nil, object: [], store: ["ab"], overwrite: [], rollback: ["ab"]),
    Case(
      [], mine: ["-b", "+a"], theirs: ["ab"], error: nil, object: [], store: ["ab"], overwrite: [], rollback: ["ab"]),
    Case([], mine: ["-b"], theirs: ["yb"], error: nil, object: [], store: ["by"], overwrite: [], rollback: ["by"]),
    Case(["ab"], mine: ["-b"], theirs: ["bc"], error: nil, object: [], store: ["bc"], overwrite: [], rollback: ["bc"]),
    Case([], mine: ["ab"], theirs: ["-b"], error: nil, object: nil, store: [], overwrite: nil, rollback: []),
    Case(["ab"], mine: ["ac"], theirs: ["-b"], error: nil, object: nil, store: [], overwrite: nil, rollback: []),
  ]

  @Test(
    "both halves of a couple are written or neither, and the policy says whose", arguments: cases, MergePolicy.allCases)
  func ends(_ test: Case, _ policy: MergePolicy) throws {
    LinkFindings.demandNone()
    for place in Couples.Place.allCases { try end(test, policy, place) }
  }

  private func end(_ test: Case, _ policy: MergePolicy, _ place: Couples.Place) throws {
    let world = try Couples(place, test.before)
    try Couples.couple(test.mine, world.mine)
    let unsaved = Set(try Couples.halves(world.mine))
    try Couples.couple(test.theirs, world.theirs)
    try world.theirs.save()
    let before = try world.stored()
    do {
      try world.mine.save(mergePolicy: policy)
      let expected = try #require(test.ends[policy] ?? nil, "\(place) was saved")
      let halves = expected.flatMap { [$0, String($0.reversed())] }.sorted()
      #expect(try world.stored() == halves, "\(place)")
      #expect(try Couples.halves(world.mine) == halves, "\(place), in memory")
    } catch is SaveConflict {
      #expect(test.ends[policy] == .some(nil), "\(place)")
      #expect(try world.stored() == before && unsaved.isSubset(of: Couples.halves(world.mine)), "\(place)")
    }
    #expect(try world.findings == [], "\(place)")
  }

  @Test("the conflict names the partner that both want, and nothing changes", arguments: [false, true])
  func conflict(isNew: Bool) throws {
    let world = try Couples(.sqlite, [])
    try Couples.couple([isNew ? "xb" : "ab"], world.mine)
    try Couples.couple(["cb"], world.theirs)
    try world.theirs.save()
    let rows = #expect(throws: SaveConflict.self) { try world.mine.save() }?.rows ?? []
    let shared = try Couples.node("b", world.mine)
    #expect(rows.map(\.properties) == [["twin"]] && rows.map(\.key) == [shared.objectID.key])
    #expect(shared.twin?.name == (isNew ? "x" : "a") && shared.twin?.twin === shared && world.mine.hasChanges)
  }

  @Test("a closure that runs on fresh values takes the partner over")
  func retrying() throws {
    let world = try Couples(.sqlite, [])
    var runs = 0
    try world.mine.saveRetrying {
      runs += 1
      let shared = try Couples.node("b", world.mine)
      let own = try Couples.node("a", world.mine)
      own.rank += 1
      own.twin = shared
      if runs == 1 {
        try Couples.couple(["cb"], world.theirs)
        try world.theirs.save()
      }
    }
    #expect(runs == 2)
    #expect(try world.stored() == ["ab", "ba"])
    #expect(try world.findings == [])
  }

  @Test("a child's couple meets what its parent has done since", arguments: [MergePolicy.objectTrump, .storeTrump])
  func child(_ policy: MergePolicy) throws {
    let context = try makeContext()
    let nodes = ["a", "b", "c"].map { Node(in: context, name: $0) }
    let child = context.newChildContext()
    try Couples.couple(["ab"], child)
    nodes[2].twin = nodes[1]
    #expect(throws: SaveConflict.self) { try child.save() }
    try child.save(mergePolicy: policy)
    let couple = policy == .objectTrump ? ["ab", "ba"] : ["bc", "cb"]
    #expect(try Couples.halves(context) == couple)
    #expect(try Couples.halves(child) == couple)
    try context.save()
  }
}
