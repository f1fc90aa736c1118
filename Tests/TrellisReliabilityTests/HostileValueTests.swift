import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Hostile texts are texts like others") struct HostileValueTests {
  /// How many texts; more by the environment variable TRELLIS_HOSTILE_STRINGS.
  private static let count = TestSettings.number("TRELLIS_HOSTILE_STRINGS", or: 100)
  private static let seed = TestSettings.seed()

  @Test(
    "as values they come back, and predicates find them and those alone that they should",
    arguments: ClubStore.Kind.allCases)
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
    let all = try context.fetch(Song.all).map { (id: $0.objectID, bytes: Data($0.title.utf8)) }
    #expect(all.count == batch.count + 2)
    for (song, text) in zip(songs, batch) {
      let found = try #require(try context.object(with: song.objectID), "seed \(Self.seed)")
      try #require(found.title.utf8.elementsEqual(text.utf8), "seed \(Self.seed): \(text.debugDescription)")
      func check(_ request: FetchRequest<Song.Columns>, _ name: String, _ holds: (Data) -> Bool) throws {
        let expected = Set(all.filter { holds($0.bytes) }.map(\.id))
        let ids = Set(try context.fetch(request).map(\.objectID))
        try #require(ids == expected, "seed \(Self.seed): \(name) \(text.debugDescription)")
      }
      let bytes = Data(text.utf8)
      let isSame = { (title: Data) in title == bytes }
      try check(Song.where { $0.title == text }, "==", isSame)
      try check(Song.where("title == %@", text), "== %@", isSame)
      try check(Song.where("title == \(text)"), "interpolated", isSame)
      try check(Song.where { $0.title.isIn([text, "other"]) }, "isIn") { isSame($0) || $0 == Data("other".utf8) }
      try check(Song.where { $0.title.contains(text) }, "contains") { $0.range(of: bytes) != nil }
      let matching = Set(try context.fetch(Song.where { $0.title.matching(text) }).map(\.objectID))
      // Whoever asks for no word finds nothing; every text with a word has its own words.
      let isWord = { (scalar: Unicode.Scalar) in scalar.isASCII && scalar.properties.generalCategory.isOfWords }
      if text.unicodeScalars.allSatisfy({ $0.isASCII && !isWord($0) }) {
        try #require(matching == [], "seed \(Self.seed): matching \(text.debugDescription)")
      } else if text.unicodeScalars.contains(where: isWord) {
        try #require(matching.contains(song.objectID), "seed \(Self.seed): matching \(text.debugDescription)")
      }
    }
    #expect(try context.count(Song.where { $0.title.matching("zebra quagga") }) == 0)
    try writing.deleteAll(Song.where { $0.title.isIn(batch) })
    #expect(try writing.count(Song.all) == 2)
  }

  @Test("as formats and names in formats they are an error, or a format of which the opposite is one too")
  func formats() throws {
    let container = try PersistentContainer(model: .club, store: .memory, log: nil)
    let context = container.newContext()
    _ = Song(in: context, title: "only")
    try context.save()
    var texts = HostileText(seed: Self.seed)
    var (accepted, refused) = (0, 0)
    for number in 0..<Self.count {
      // One name that is known is among them, so that some are formats in the shortest run, too.
      let text = number == 0 ? "title" : texts.next()
      for format in [text, "\(text) == 1", "title == \(text)", "fans.\(text) == 1"] {
        let request = Song.where(PredicateFormat(verbatim: format))
        do {
          _ = try context.count(request)
        } catch let error as PredicateFormatError {
          refused += 1
          #expect(error.text == format, "seed \(Self.seed)")
          continue
        }
        accepted += 1
        // Logic has two values: of one object, either the one holds or the other.
        let opposite = Song.where(PredicateFormat(verbatim: "NOT (\(format))"))
        #expect(
          try context.count(request) + context.count(opposite) == 1, "seed \(Self.seed): \(format.debugDescription)")
      }
    }
    #expect(try context.count(Song.all) == 1)
    #expect(accepted > 0)
    #expect(refused > accepted, "seed \(Self.seed): \(accepted) of \(4 * Self.count) are formats")
  }
}

extension Unicode.GeneralCategory {
  /// Whether letters and digits of ASCII are of this kind.
  fileprivate var isOfWords: Bool {
    switch self {
    case .uppercaseLetter, .lowercaseLetter, .decimalNumber: true
    default: false
    }
  }
}
