import Foundation
import Testing
import TrellisAdoption
import TrellisTestSupport

/// The samples of `Docs/Adopting.md`.
@Suite struct AdoptingGuideTests {
  static func adopt(_ old: URL, as new: URL) throws {
    let database = try AdoptedDatabase(sqlite: old, name: "Music")
    for note in database.notes { print(note) }  // changed albums.price: holds binary numbers, which become …
    print(try database.copy(to: new))  // copied 2 × Artist …
  }

  @Test func `the samples of the page run`() throws {
    #expect(try GuideText("Adopting.md").samples(missingFrom: #filePath) == [])
    let file = try AdoptionTestFile("CREATE TABLE artists (name TEXT); INSERT INTO artists VALUES ('Ann');")
    try Self.adopt(file.source, as: file.target)
    #expect(try file.copied("SELECT name FROM Artist") == ["Ann"])
  }
}
