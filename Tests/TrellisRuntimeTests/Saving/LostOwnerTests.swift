import Foundation
import Testing
import Trellis
import TrellisTestSupport

/// An owner with a one-way to-many that one context edits and another one deletes.
final class LostOwner {
  enum Shape: CaseIterable { case unordered, ordered }

  private let file = TemporaryFile()
  private let container: PersistentContainer
  let mine: ManagedObjectContext
  private let reader: ManagedObjectContext
  let owner: Person
  let medal: Medal

  init(_ kind: StoreKind, _ shape: Shape, isNew: Bool) throws {
    let store: StoreConfiguration =
      kind == .memory ? .memory(named: UUID().uuidString) : .sqlite(at: file.url, durability: .relaxed)
    container = try PersistentContainer(model: .rivals, store: store) { _ in }
    mine = container.newContext()
    reader = container.newContext()
    owner = Person(in: mine, name: "owner")
    let known = Medal(in: mine, name: "known")
    try mine.save()
    let theirs = try PersistentContainer(model: .rivals, store: store) { _ in }.newContext()
    medal = isNew ? Medal(in: mine, name: "new") : known
    if shape == .ordered { owner.shelf.append(medal) } else { owner.medals.append(medal) }
    try theirs.first(Person.all).map(theirs.delete)
    try theirs.save()
  }

  var people: Int { get throws { try reader.count(Person.all) } }
  var medals: Int { get throws { try reader.count(Medal.all) } }
  var findings: [StoreFinding] { get throws { try container.check() } }
}

@Suite("A one-way to-many gets members, and its owner was deleted by somebody else") struct LostOwnerTests {
  static let all: [(kind: StoreKind, shape: LostOwner.Shape, isNew: Bool)] = StoreKind.inPlace
    .flatMap { kind in
      LostOwner.Shape.allCases.flatMap { shape in [(kind, shape, false), (kind, shape, true)] }
    }

  @Test(
    "is an edit of a deleted object, which nobody wins", arguments: all,
    [MergePolicy.error, .objectTrump, .overwrite])
  func conflict(
    _ test: (kind: StoreKind, shape: LostOwner.Shape, isNew: Bool), _ policy: MergePolicy
  ) throws {
    let world = try LostOwner(test.kind, test.shape, isNew: test.isNew)
    for _ in 0..<2 {
      let conflict = #expect(throws: SaveConflict.self) { try world.mine.save(mergePolicy: policy) }
      #expect(conflict?.rows.map(\.key) == [world.owner.objectID.key])
      #expect(conflict?.rows.first?.kind == .deletedByOthers && conflict?.rows.first?.entityName == "Person")
      #expect(!world.owner.isDeleted && world.mine.hasChanges)
      // A conflict breaks no rule.
      #expect(throws: SaveConflict.self) { try world.mine.saveValidChanges(mergePolicy: policy) }
    }
    #expect(try world.people == 0 && world.medals == 1)
    try world.owner.rollback()
    try world.mine.save()
    #expect(try world.medals == (test.isNew ? 2 : 1))
    #expect(try world.findings == [])
  }

  @Test(
    "the owner is deleted here, too, under store trump and rollback", arguments: all,
    [MergePolicy.storeTrump, .rollback])
  func deleted(
    _ test: (kind: StoreKind, shape: LostOwner.Shape, isNew: Bool), _ policy: MergePolicy
  ) throws {
    let world = try LostOwner(test.kind, test.shape, isNew: test.isNew)
    try world.mine.save(mergePolicy: policy)
    #expect(world.owner.isDeleted && !world.mine.hasChanges && !world.medal.isDeleted)
    #expect(try world.people == 0 && world.medals == (test.isNew ? 2 : 1))
    #expect(try world.findings == [])
  }
}
