import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Hostile texts are texts like others") struct HostileValueTests {
  /// How many texts; more by the environment variable TRELLIS_HOSTILE_STRINGS.
  private static let count = TestSettings.number("TRELLIS_HOSTILE_STRINGS", or: 300)
  private static let seed = UInt64.random(in: 0 ... .max)

  @Test("as values they come back and are found, alone and among others", arguments: ClubStore.Kind.allCases)
  func values(kind: ClubStore.Kind) throws {
    let store = try ClubStore(kind)
    try store.fill()
    var texts = HostileText(seed: Self.seed)
    var left = Self.count
    while left > 0 {
      let batch = (0..<min(left, 200)).map { _ in texts.next() }
      left -= batch.count
      try keepAndFind(batch, store)
    }
    #expect(try store.findings() == [], "seed \(Self.seed)")
  }

  private func keepAndFind(_ batch: [String], _ store: ClubStore) throws {
    let container = try store.open()
    defer { container.close() }
    let writing = container.newContext()
    let songs = batch.map { Song(in: writing, title: $0) }
    try writing.save()
    let context = container.newContext()
    for (song, text) in zip(songs, batch) {
      let id = song.objectID
      let found = try #require(try context.object(with: id), "seed \(Self.seed)")
      try #require(found.title.utf8.elementsEqual(text.utf8), "seed \(Self.seed): \(text.debugDescription)")
      for request in [
        Song.where { $0.title == text }, Song.where("title == %@", text), Song.where("title == \(text)"),
        Song.where { $0.title.contains(text) }, Song.where { $0.title.isIn([text, "other"]) },
      ] {
        try #require(
          try context.fetch(request).contains { $0.objectID == id }, "seed \(Self.seed): \(text.debugDescription)")
      }
      _ = try context.count(Song.where { $0.title.matching(text) })
    }
    try writing.deleteAll(Song.where { $0.title.isIn(batch) })
  }

  @Test("as formats and names in formats they are an error, or a format") func formats() throws {
    let container = try PersistentContainer(model: .club, store: .memory, log: nil)
    let context = container.newContext()
    _ = Song(in: context, title: "only")
    try context.save()
    var texts = HostileText(seed: Self.seed)
    var accepted = 0
    for _ in 0..<Self.count {
      let text = texts.next()
      for format in [text, "\(text) == 1", "title == \(text)", "fans.\(text) == 1"] {
        do {
          _ = try context.count(Song.where(PredicateFormat(verbatim: format)))
          accepted += 1
        } catch let error as PredicateFormatError {
          #expect(!"\(error)".isEmpty)
        }
      }
    }
    #expect(try context.count(Song.all) == 1)
    print("hostile formats: seed \(Self.seed), \(accepted) of \(4 * Self.count) are formats")
  }
}
