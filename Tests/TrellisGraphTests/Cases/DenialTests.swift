import Testing
import Trellis

@Suite("Deletes that are denied") struct DenialTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try PersistentContainer(model: .rules, store: .memory) { _ in }
    context = container.newContext()
  }

  @Test("who was given another partner meanwhile does not deny a delete", arguments: [false, true])
  func movedOn(reloaded: Bool) throws {
    let (old, new, child) = (ManyParent(in: context), ManyParent(in: context), ManyChild(in: context))
    old.setDenyNullify = [child]
    try context.save()
    let context = reloaded ? container.newContext() : context
    try context.delete(#require(try context.object(with: old.objectID)))
    #expect(throws: ValidationError.self) { try context.save() }
    let same = try #require(try context.object(with: child.objectID))
    #expect(same.setDenyNullify == nil)
    same.setDenyNullify = try context.object(with: new.objectID)
    try context.save()
    #expect(try container.newContext().count(ManyParent.all) == 1)
  }

  @Test("a partner that was never saved and is gone again does not deny a delete")
  func goneAgain() throws {
    let parent = ManyParent(in: context)
    try context.save()
    let child = ManyChild(in: context)
    parent.setDenyNullify = [child]
    try context.delete(parent)
    try context.delete(child)
    try context.save()
    #expect(try container.newContext().count(ManyParent.all) == 0)
  }

  @Test("a required one-way reference denies the delete of what it leads to, also from the store")
  func requiredReference() throws {
    let (album, track, painter) = (Album(in: context), Track(in: context), Singer(in: context))
    let cover = Cover(in: context)
    album.tracks = [track]
    album.singers = [painter]
    album.cover = cover
    cover.painter = painter
    try context.save()
    let other = container.newContext()
    let singer = try #require(try other.object(with: painter.objectID))
    try other.object(with: album.objectID)?.singers = [Singer(in: other)]
    try other.delete(singer)
    let error = #expect(throws: ValidationError.self) { try other.save() }
    #expect(error?.failures.map(\.property) == ["Cover.painter"] && error?.failures.map(\.rule) == [.deniedDelete])
  }

  @Test("members are counted at a save although their owner was never loaded", arguments: [false, true])
  func countedUnseen(deleting: Bool) throws {
    let (album, track, singer) = (Album(in: context), Track(in: context), Singer(in: context))
    album.tracks = [track]
    album.singers = [singer]
    album.cover = Cover(in: context)
    album.cover?.painter = singer
    try context.save()
    let other = container.newContext()
    let same = try #require(try other.object(with: track.objectID))
    if deleting { try other.delete(same) } else { same.album = nil }
    let error = #expect(throws: ValidationError.self) { try other.save() }
    #expect(error?.failures.contains { $0.property == "tracks" && $0.rule == .minimumCount } == true)
  }
}
