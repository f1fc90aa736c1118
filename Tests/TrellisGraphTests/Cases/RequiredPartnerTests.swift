import Testing
import Trellis

@Suite("Required partners in the other row") struct RequiredPartnerTests {
  @Test("a save names both objects of a one-to-one that lose each other", arguments: [false, true])
  func bothEnds(reloaded: Bool) throws {
    let container = try PersistentContainer(model: .rules, store: .memory) { _ in }
    let first = container.newContext()
    let (album, cover, singer) = (Album(in: first), Cover(in: first), Singer(in: first))
    album.tracks = [Track(in: first)]
    album.singers = [singer]
    cover.painter = singer
    album.cover = cover
    try first.save()
    let context = reloaded ? container.newContext() : first
    let unlinked = try #require(try context.object(with: cover.objectID))
    unlinked.album = nil
    let error = #expect(throws: ValidationError.self) { try context.save() }
    #expect(
      error?.failures.map { "\($0.property) \($0.rule.rawValue)" }.sorted() == ["album required", "cover required"])
  }
}
