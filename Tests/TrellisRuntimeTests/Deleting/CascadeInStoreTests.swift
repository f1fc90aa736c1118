import Testing
import Trellis
import TrellisRuntime
import TrellisTestSupport

/// A folder tree of which only the root is in memory: two branches of sheets with scraps, and a second root.
private struct Tree {
  let container: PersistentContainer
  let context: ManagedObjectContext
  let root: Folder
  private let file = TemporaryFile()

  init(_ kind: StoreKind) throws {
    let store: StoreConfiguration = kind == .memory ? .memory : .sqlite(at: file.url, durability: .relaxed)
    container = try PersistentContainer(model: .writers, store: store) { _ in }
    let filling = container.newContext()
    let roots = ["root", "other"].map { Folder(in: filling, name: $0) }
    for root in roots {
      for _ in 0..<2 {
        let branch = Folder(in: filling, name: "branch", parent: root)
        for _ in 0..<3 { _ = Scrap(in: filling, sheet: Sheet(in: filling, folder: branch)) }
      }
    }
    try filling.save()
    context = container.newContext()
    // So that few members are as good as many.
    context.graph.fewMembers = 0
    root = try #require(try context.first(Folder.where { $0.name == "root" }))
  }

  /// What the store holds: folders, sheets, scraps.
  func stored() throws -> [Int] {
    let context = container.newContext()
    return [try context.count(Folder.all), try context.count(Sheet.all), try context.count(Scrap.all)]
  }

  func seen() throws -> [Int] {
    [try context.count(Folder.all), try context.count(Sheet.all), try context.count(Scrap.all)]
  }
}

@Suite("Cascades that the store carries out") struct CascadeInStoreTests {
  @Test("nothing is loaded to delete what belongs to an object, through all levels", arguments: StoreKind.inPlace)
  func nothingLoaded(_ kind: StoreKind) throws {
    let tree = try Tree(kind)
    let before = tree.context.registeredCount
    try tree.context.delete(tree.root)
    #expect(tree.context.registeredCount <= before + 1 && tree.context.deletedObjects == [tree.root])
    #expect(try tree.stored() == [6, 12, 12])
    try tree.context.save()
    #expect(try tree.stored() == [3, 6, 6] && !tree.context.hasChanges)
    #expect(try tree.seen() == [3, 6, 6])
  }

  @Test("results are as if the context had just saved", arguments: StoreKind.inPlace)
  func fetching(_ kind: StoreKind) throws {
    for look in 0..<6 {
      let tree = try Tree(kind)
      let outside = try #require(try tree.container.newContext().first(Scrap.all)).objectID
      try tree.context.delete(tree.root)
      switch look {
      case 0: #expect(try tree.seen() == [3, 6, 6])
      case 1: #expect(try tree.context.fetch(Scrap.all).count == 6)
      case 2: #expect(try tree.context.object(with: outside) == nil)
      case 3: #expect(try tree.context.snapshots(of: Sheet.all).count == 6)
      case 4: #expect(try tree.context.count(Shelf.where { $0.sheets.any { $0.name == "" } }) == 0)
      default: #expect(try tree.context.fetch(Folder.where { $0.parent == nil }).map(\.name) == ["other"])
      }
      try tree.context.save()
      #expect(try tree.stored() == [3, 6, 6])
    }
  }

  @Test("members in memory are deleted at once, and others' to-manys show them no more", arguments: StoreKind.inPlace)
  func registered(_ kind: StoreKind) throws {
    let tree = try Tree(kind)
    let branches = try tree.context.fetch(Folder.where { $0.parent != nil })
    let mine = branches.filter { $0.parent === tree.root }
    try tree.context.delete(tree.root)
    #expect(mine.count == 2 && mine.allSatisfy(\.isDeleted))
    #expect(branches.filter(\.isDeleted).count == 2)
    try tree.context.save()
    #expect(try tree.stored() == [3, 6, 6])
  }

  @Test("a member that has gone elsewhere is spared, with what belongs to it", arguments: StoreKind.inPlace)
  func moved(_ kind: StoreKind) throws {
    let tree = try Tree(kind)
    let branch = try #require(try tree.context.first(Folder.where { $0.parent.name == "root" }))
    branch.parent = nil
    try tree.context.delete(tree.root)
    #expect(!branch.isDeleted)
    try tree.context.save()
    #expect(try tree.stored() == [4, 9, 9])
  }

  @Test(
    "it is taken back by undelete and by rollback, before and after anybody has looked", arguments: StoreKind.inPlace)
  func takingBack(_ kind: StoreKind) throws {
    for (looks, rollsBack) in [(false, false), (false, true), (true, false), (true, true)] {
      let tree = try Tree(kind)
      try tree.context.delete(tree.root)
      if looks { #expect(try tree.seen() == [3, 6, 6]) }
      if rollsBack { tree.context.rollback() } else { tree.context.undelete(tree.root) }
      #expect(try tree.seen() == [6, 12, 12] && !tree.root.isDeleted)
      #expect(tree.root.folders.count == 2)
      try tree.context.save()
      #expect(try tree.stored() == [6, 12, 12])
    }
  }

  @Test("undo brings everything back, as a delete that can be undone loads it", arguments: StoreKind.inPlace)
  func undoing(_ kind: StoreKind) throws {
    let tree = try Tree(kind)
    tree.context.undo.enable()
    try tree.context.delete(tree.root)
    try tree.context.save()
    #expect(try tree.stored() == [3, 6, 6])
    try tree.context.undo.undo()
    try tree.context.save()
    #expect(try tree.stored() == [6, 12, 12])
  }

  @Test("other contexts hear which objects went", arguments: StoreKind.inPlace)
  func otherContexts(_ kind: StoreKind) throws {
    let tree = try Tree(kind)
    let other = tree.container.newContext()
    let scraps = try other.fetch(Scrap.all)
    try tree.context.delete(tree.root)
    try tree.context.save()
    other.mergeChanges()
    #expect(scraps.filter(\.isDeleted).count == 6)
  }

  @Test("several deletes leave their members to the store together", arguments: StoreKind.inPlace)
  func several(_ kind: StoreKind) throws {
    let tree = try Tree(kind)
    let other = try #require(try tree.context.first(Folder.where { $0.name == "other" }))
    try tree.context.delete(tree.root)
    try tree.context.delete(other)
    #expect(tree.context.registeredCount <= 4)
    tree.context.undelete(tree.root)
    try tree.context.save()
    #expect(try tree.stored() == [3, 6, 6])
    #expect(try tree.context.fetch(Folder.where { $0.parent == nil }) == [tree.root])
  }

  @Test("what has a reference in memory to such a member is let go", arguments: StoreKind.inPlace)
  func tied(_ kind: StoreKind) throws {
    let tree = try Tree(kind)
    let filling = tree.container.newContext()
    let sheet = try #require(try filling.first(Sheet.where { $0.folder.parent.name == "root" }))
    let shelf = Shelf(in: filling)
    shelf.sheets = [sheet]
    try filling.save()
    let mine = try #require(try tree.context.object(with: shelf.objectID))
    #expect(mine.sheets.count == 1)
    try tree.context.delete(tree.root)
    #expect(mine.sheets.isEmpty)
    try tree.context.save()
    #expect(try tree.stored() == [3, 6, 6])
  }
}
