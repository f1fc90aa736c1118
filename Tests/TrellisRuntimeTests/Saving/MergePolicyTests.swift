import Foundation
import Testing
import Trellis

/// Each policy against each way in which two writers can meet. `mine` saves last.
@Suite("Conflicts are settled by policy") struct MergePolicyTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let place: WriterPair.Place
    let policy: MergePolicy
    var testDescription: String { "\(policy), \(place.testDescription)" }
  }

  static let all = WriterPair.Place.allCases.flatMap { place in
    MergePolicy.allCases.map { Case(place: place, policy: $0) }
  }

  /// An essay that both writers have read.
  private func essay(_ pair: WriterPair) throws -> (mine: Essay, theirs: Essay) {
    let mine = Essay(in: pair.first, title: "read", words: 10, memo: "read")
    try pair.first.save()
    return (mine, try pair.theirs(mine))
  }

  /// - Returns: the conflict, where the policy throws.
  private func save(_ context: ManagedObjectContext, _ policy: MergePolicy) throws -> SaveConflict? {
    do {
      try context.save(mergePolicy: policy)
      return nil
    } catch let conflict as SaveConflict {
      return conflict
    }
  }

  @Test("the same property, edited by both", arguments: all) func sameProperty(_ test: Case) throws {
    let pair = try WriterPair(test.place)
    let (mine, theirs) = try essay(pair)
    (theirs.title, theirs.words) = ("theirs", 20)
    (mine.title, mine.memo) = ("mine", "mine")
    try pair.second.save()
    let conflict = try save(pair.first, test.policy)
    #expect((conflict != nil) == (test.policy == .error))
    let stored = try #require(try pair.stored(Essay.all).first)
    let values = [stored.title, "\(stored.words)", stored.memo]
    switch test.policy {
    case .error:
      #expect(values == ["theirs", "20", "read"])
      #expect(mine.title == "mine" && mine.memo == "mine" && mine.words == 10 && mine.committed?.title == "read")
      let row = try #require(conflict?.rows.first)
      #expect(row.kind == .changedByBoth && row.properties == ["title"] && row.entityName == "Essay")
      let snapshots = [
        row.original(Essay.Snapshot.self), row.mine(Essay.Snapshot.self), row.theirs(Essay.Snapshot.self),
      ]
      #expect(snapshots.map { $0?.title } == ["read", "mine", "theirs"])
      #expect(snapshots.map { $0?.words } == [10, 10, 20] && snapshots[1]?.objectID == mine.objectID)
      #expect(row.mine(Binder.Snapshot.self) == nil)
    case .objectTrump: #expect(values == ["mine", "20", "mine"])
    case .storeTrump: #expect(values == ["theirs", "20", "mine"])
    case .overwrite: #expect(values == ["mine", "10", "mine"])
    case .rollback: #expect(values == ["theirs", "20", "read"])
    }
    guard test.policy != .error else { return }
    #expect(!pair.first.hasChanges && mine.snapshot == stored.snapshot)
    mine.words += 1
    try pair.first.save()
    #expect(try pair.stored(Essay.all).first?.words == stored.words + 1)
  }

  @Test("different properties, edited by both", arguments: all) func disjoint(_ test: Case) throws {
    let pair = try WriterPair(test.place)
    let (mine, theirs) = try essay(pair)
    theirs.words = 20
    mine.memo = nil
    try pair.second.save()
    #expect(try save(pair.first, test.policy) == nil)
    let stored = try #require(try pair.stored(Essay.all).first)
    #expect(stored.words == (test.policy == .overwrite ? 10 : 20))
    #expect(stored.memo == (test.policy == .rollback ? "read" : nil))
    #expect(mine.snapshot == stored.snapshot && !pair.first.hasChanges)
  }

  /// Two that count up from one number write the same: only to throw keeps both.
  @Test("the same value, set by both", arguments: all) func sameValue(_ test: Case) throws {
    let pair = try WriterPair(test.place)
    let (mine, theirs) = try essay(pair)
    mine.words += 1
    theirs.words += 1
    try pair.second.save()
    #expect((try save(pair.first, test.policy) == nil) == (test.policy != .error))
    #expect(try pair.stored(Essay.all).map(\.words) == [11])
  }

  @Test("edited here, deleted there", arguments: all) func deletedThere(_ test: Case) throws {
    let pair = try WriterPair(test.place)
    let (mine, theirs) = try essay(pair)
    let chapter = Chapter(in: pair.first, essay: mine)
    mine.title = "mine"
    try pair.second.delete(theirs)
    try pair.second.save()
    let conflict = try save(pair.first, test.policy)
    #expect(try pair.stored(Essay.all).isEmpty)
    switch test.policy {
    case .storeTrump, .rollback:
      // The delete's rules hold here, too.
      #expect(conflict == nil && mine.isDeleted && mine.title == "mine" && chapter.isDeleted)
      #expect(try pair.stored(Chapter.all).isEmpty && !pair.first.hasChanges)
    case .error, .objectTrump, .overwrite:
      let row = try #require(conflict?.rows.first)
      #expect(row.kind == .deletedByOthers && row.mine(Essay.Snapshot.self)?.title == "mine")
      #expect(row.theirs(Essay.Snapshot.self) == nil && row.original(Essay.Snapshot.self)?.title == "read")
      #expect(!mine.isDeleted && mine.title == "mine" && pair.first.updatedObjects.contains(mine))
    }
  }

  @Test("deleted here, edited there", arguments: all) func deletedHere(_ test: Case) throws {
    let pair = try WriterPair(test.place)
    let (mine, theirs) = try essay(pair)
    let binder = Binder(in: pair.first)
    binder.essays = [mine]
    try pair.first.save()
    try pair.second.refresh(theirs)
    theirs.title = "theirs"
    try pair.first.delete(mine)
    #expect(binder.essays.isEmpty)
    try pair.second.save()
    let conflict = try save(pair.first, test.policy)
    let stored = try pair.stored(Essay.all).map(\.title)
    switch test.policy {
    case .objectTrump, .overwrite: #expect(conflict == nil && stored.isEmpty && mine.isDeleted)
    case .storeTrump, .rollback:
      #expect(conflict == nil && stored == ["theirs"] && !mine.isDeleted)
      #expect(mine.title == "theirs" && mine.binder === binder && Array(binder.essays) == [mine])
    case .error:
      #expect(conflict?.rows.first?.kind == .deletedHere && stored == ["theirs"])
      #expect(conflict?.rows.first?.theirs(Essay.Snapshot.self)?.title == "theirs")
      #expect(mine.isDeleted && pair.first.deletedObjects == [mine])
    }
  }

  @Test("deleted by both", arguments: all) func deletedByBoth(_ test: Case) throws {
    let pair = try WriterPair(test.place)
    let (mine, theirs) = try essay(pair)
    let other = Essay(in: pair.first)
    try pair.first.delete(mine)
    try pair.second.delete(theirs)
    try pair.second.save()
    #expect(try save(pair.first, test.policy) == nil)
    #expect(mine.isDeleted && !pair.first.hasChanges && !other.isInserted)
    #expect(try pair.stored(Essay.all).count == 1)
  }

  @Test("members that both bring and take", arguments: all) func members(_ test: Case) throws {
    let pair = try WriterPair(test.place)
    let (mine, theirs) = try essay(pair)
    let marks = (0..<4).map { Mark(in: pair.first, name: "\($0)") }
    mine.marks = [marks[0], marks[1]]
    try pair.first.save()
    try pair.second.refresh(theirs)
    #expect(theirs.marks.count == 2 && mine.marks.count == 2)
    theirs.marks.append(try pair.theirs(marks[2]))
    theirs.marks.remove(try pair.theirs(marks[0]))
    theirs.chapters.append(Chapter(in: pair.second, name: "theirs"))
    mine.marks.append(marks[3])
    mine.marks.remove(marks[1])
    mine.chapters.append(Chapter(in: pair.first, name: "mine"))
    try pair.second.save()
    #expect(try save(pair.first, test.policy) == nil)
    let stored = try #require(try pair.stored(Essay.all).first)
    #expect(Set(stored.marks.map(\.name)) == ["2", "3"])
    #expect(Set(stored.chapters.map(\.name)) == ["mine", "theirs"])
  }

  @Test("an ordered list that both change keeps what each has moved and brought", arguments: all)
  func order(_ test: Case) throws {
    let pair = try WriterPair(test.place)
    let mine = Binder(in: pair.first)
    mine.stack = OrderedToMany("abc".map { Essay(in: pair.first, title: String($0)) })
    try pair.first.save()
    let theirs = try pair.theirs(mine)
    #expect(theirs.stack.count == 3)
    theirs.stack.move(from: 2, to: 0)
    theirs.stack.append(Essay(in: pair.second, title: "theirs"))
    mine.stack.append(Essay(in: pair.first, title: "mine"))
    try pair.second.save()
    #expect(try save(pair.first, test.policy) == nil)
    let titles = try #require(try pair.stored(Binder.all).first).stack.map(\.title)
    #expect(titles.prefix(3) == ["c", "a", "b"] && Set(titles.dropFirst(3)) == ["mine", "theirs"])
  }

  @Test("a reference that both set", arguments: all) func references(_ test: Case) throws {
    let pair = try WriterPair(test.place)
    let binders = ["read", "mine", "theirs"].map { Binder(in: pair.first, name: $0) }
    let (mine, theirs) = try essay(pair)
    mine.binder = binders[0]
    try pair.first.save()
    for binder in binders { _ = binder.essays.count }
    try pair.second.refresh(theirs)
    theirs.binder = try pair.theirs(binders[2])
    mine.binder = binders[1]
    try pair.second.save()
    let conflict = try save(pair.first, test.policy)
    let winner = try #require(try pair.stored(Essay.all).first?.binder?.name)
    switch test.policy {
    case .error:
      #expect(conflict?.rows.first?.properties == ["binder"] && winner == "theirs" && mine.binder === binders[1])
    case .objectTrump, .overwrite: #expect(winner == "mine" && mine.binder === binders[1])
    case .storeTrump, .rollback: #expect(winner == "theirs" && mine.binder === binders[2])
    }
    // Both ends agree, whoever has won.
    for binder in binders { #expect(Array(binder.essays) == (mine.binder === binder ? [mine] : []), "\(binder.name)") }
  }

  @Test("what is merged is checked, and when it breaks a rule everything is as it was", arguments: all)
  func validation(_ test: Case) throws {
    guard test.policy != .overwrite && test.policy != .rollback else { return }
    let pair = try WriterPair(test.place)
    let (mine, theirs) = try essay(pair)
    let binder = Binder(in: pair.first)
    try pair.first.save()
    theirs.least = 10
    theirs.memo = "theirs"
    mine.words = 5
    mine.binder = binder
    try pair.second.save()
    let broken = try #require(throws: ValidationError.self) { try pair.first.save(mergePolicy: test.policy) }
    #expect(broken.failures.map(\.property) == ["words"])
    #expect(mine.words == 5 && mine.least == 0 && mine.memo == "read" && mine.binder === binder)
    #expect(mine.committed?.words == 10 && Set(mine.changedProperties) == ["words", "binder"])
    #expect(Array(binder.essays) == [mine])
    mine.words = 15
    try pair.first.save(mergePolicy: test.policy)
    let stored = try #require(try pair.stored(Essay.all).first)
    #expect(stored.words == 15 && stored.least == 10 && stored.memo == "theirs" && stored.binder != nil)
  }

  @Test("a policy of the context holds for each of its saves") func policyOfContext() throws {
    let pair = try WriterPair(.memory)
    let (mine, theirs) = try essay(pair)
    pair.first.mergePolicy = .objectTrump
    (mine.title, theirs.title) = ("mine", "theirs")
    try pair.second.save()
    try pair.first.save()
    #expect(try pair.stored(Essay.all).map(\.title) == ["mine"])
  }

  @Test("a merge is no step that can be undone") func undo() throws {
    let pair = try WriterPair(.memory)
    let (mine, theirs) = try essay(pair)
    pair.first.undo.enable()
    mine.title = "mine"
    theirs.words = 20
    try pair.second.save()
    try pair.first.save()
    #expect(mine.words == 20)
    try pair.first.undo.undo()
    #expect(mine.title == "read" && mine.words == 20)
  }
}
