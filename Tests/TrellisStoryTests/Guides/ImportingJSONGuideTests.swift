import Foundation
import Testing
import Trellis
import TrellisJSON
import TrellisTestSupport

@Suite("The guide to JSON of others") final class ImportingJSONGuideTests: GuideRun {
  @Test("the samples print what the guide says")
  func samples() async throws {
    let context = try PersistentContainer(model: .samples, store: .memory).newContext()
    var data = Data(
      """
      [
        { "isbn": "978-0", "title": "Dune", "page_count": 412, "price": { "currency": "EUR", "amount": 9.5 } },
        { "isbn": "978-1", "title": "Emma", "page_count": 474 }
      ]
      """.utf8)
    let report = try context.importJSON(Book.self, from: data)
    print(report.inserted.count, "new,", report.updated.count, "changed,", report.unchanged.count, "as before")
    for book in try context.fetch(Book.all.sorted { $0.title }) {
      print(book.title, book.pageCount ?? 0)
    }

    let again = try context.importJSON(Book.self, from: data)
    print(again.inserted.count, "new,", again.updated.count, "changed,", again.unchanged.count, "as before")

    let seoul = Data(
      """
      {
        "id": 7,
        "names": { "ko": "서울", "en": "Seoul" },
        "figures": [{ "value": 605, "kind": "area" }, { "value": 9411000, "kind": "population" }],
        "officials": [{ "name": "Oh" }, { "name": "Kim" }],
        "languages": [{ "name": "Korean" }, { "name": "English" }],
        "motto": "My soul"
      }
      """.utf8)
    try context.importJSON(City.self, from: seoul)
    for city in try context.fetch(City.all) {
      print(city.name, city.population ?? 0, city.mayor ?? "-", city.languages)
    }

    let tree = Data(
      """
      { "text": "tree", "translations": { "de": "Baum", "fr": "arbre", "ko": "나무" } }
      """.utf8)
    try context.importJSON(Word.self, from: tree)
    for word in try context.fetch(Word.all) {
      print(word.text, word.meanings.map { "\($0.language) \($0.text)" }.sorted())
    }

    data = Data(
      """
      [
        { "id": 1, "title": "Tea", "links": { "author": "https://example.org/users/ada/" }, "related_ids": [2] },
        { "id": 2, "title": "Rice", "links": { "author": "https://example.org/users/eve/" } }
      ]
      """.utf8)
    try context.importJSON(Author.self, from: Data(#"{ "login": "ada", "name": "Ada" }"#.utf8))
    let articles = try context.importJSON(Article.self, from: data)
    for article in try context.fetch(Article.all.sorted { $0.number }) {
      print(article.title, article.author?.name ?? "-", article.related.map(\.title))
    }
    for failure in articles.unresolved { print(failure) }

    let folder = try TestFolder()
    let teams = folder.file("teams.json")
    try Data(
      """
      [{ "name": "Lions", "captain": 7 }, { "name": "Bears", "captain": 8 }]
      """.utf8
    ).write(to: teams)
    let answer = Data(
      """
      { "players": [{ "number": 7, "team": "Lions" }, { "number": 9, "team": "Lions" }] }
      """.utf8)
    let together = try context.importJSON([
      JSONInput(Team.self, from: teams),
      JSONInput(Player.self, from: answer, named: "answer", at: "players[*]"),
    ])
    print(together)
    for failure in together.rejected { print(failure) }

    data = Data(
      """
      [
        { "type": { "name": "film" }, "path": "a.mov", "minutes": 3 },
        { "path": "b.jpg", "width": 640, "type": { "name": "photo" } },
        { "path": "c.wav", "type": { "name": "sound" } }
      ]
      """.utf8)
    let media = try context.importJSON(Medium.self, from: data)
    for medium in try context.fetch(Medium.all.sorted { $0.path }) {
      print(medium.path, type(of: medium))
    }
    for failure in media.rejected { print(failure) }

    data = Data(
      """
      { "id": 1, "begins": "31.01.2026", "saved_at": 1769819400250, "paid_at": "2026-01-31T09:30:00+09:00" }
      """.utf8)
    try context.importJSON(Trip.self, from: data)
    for trip in try context.fetch(Trip.all) {
      print(trip.begins.timeIntervalSince1970, trip.savedAt?.timeIntervalSince1970 ?? 0)
    }

    try context.importJSON(City.self, from: Data(#"{ "id": 7, "officials": null, "motto": null }"#.utf8))
    for city in try context.fetch(City.all) {
      print(city.name, city.mayor ?? "-", city.motto ?? "-")
    }

    let rain = Data(
      """
      { "name": "Rain", "songs": [{ "title": "A" }, { "title": "B" }], "fans": [{ "login": "ada" }], "moods": [{ "name": "slow" }] }
      """.utf8)
    let later = Data(
      """
      { "name": "Rain", "songs": [{ "title": "C" }, { "title": "A" }], "fans": [{ "login": "eve" }], "moods": [{ "name": "fast" }] }
      """.utf8)
    try context.importJSON(Playlist.self, from: rain)
    try context.importJSON(Playlist.self, from: later)
    for list in try context.fetch(Playlist.all) {
      print(list.songs.map(\.title), list.fans.map(\.login).sorted(), list.moods.map(\.name))
    }

    data = Data(
      """
      [{ "isbn": "978-0", "title": "Dune II", "page_count": 1 }, { "isbn": "978-2", "title": "Ulysses" }]
      """.utf8)
    try context.importJSON(Book.self, from: data, mergePolicy: .storeTrump)
    print(try context.fetch(Book.all.sorted { $0.isbn }).map(\.title))
    try context.importJSON(Book.self, from: data)
    print(try context.fetch(Book.all.sorted { $0.isbn }).map(\.title))

    data = Data(
      """
      [
        { "isbn": "978-3", "title": "Walden", "page_count": 70000 },
        { "isbn": "978-4", "title": "", "page_count": 5 },
        { "title": "Iliad" },
        { "isbn": "978-5" },
        { "isbn": "978-6", "title": "Faust", "page_count": 300 }
      ]
      """.utf8)
    let partly = try context.importJSON(Book.self, from: data)
    print(partly.inserted.count, "new")
    for failure in partly.rejected { print(failure) }

    do {
      try context.importJSON(Book.self, from: data, rejecting: .everything)
    } catch let error as JSONImportError {
      print(error.message, error.failures.count)
    }

    let file = folder.file("books.ndjson")
    try Data(
      """
      { "isbn": "978-7", "title": "Hamlet" }
      { "isbn": "978-8", "title":
      { "isbn": "978-9", "title": "Lolita" }
      """.utf8
    ).write(to: file)
    var shown = ""
    let lines = try context.importJSON(Book.self, from: file) { progress in
      shown = "\(progress.bytes) of \(progress.totalBytes ?? 0) bytes, \(progress.elements) elements"
    }
    print(shown)
    for failure in lines.rejected { print(failure) }

    let bytes = AsyncStream<UInt8> { stream in
      for byte in #"{ "results": [{ "book": { "isbn": "978-7", "page_count": 90 } }] }"#.utf8 { stream.yield(byte) }
      stream.finish()
    }
    let received = try await context.importJSON(Book.self, from: bytes, at: "results[*].book")
    print(received.unchanged.count, received.updated.count)

    let words = try context.exportJSON(Word.all)
    print(String(decoding: words, as: UTF8.self))

    let short = try context.exportJSON(Playlist.all, layout: .lines, nesting: .prefetched)
    print(String(decoding: short, as: UTF8.self))
    let long = try context.exportJSON(Playlist.all.prefetching { $0.songs }, layout: .lines, nesting: .prefetched)
    print(String(decoding: long, as: UTF8.self))

    try expectPrinted(as: "ImportingJSON")
  }

  @Test("each sample stands in this test")
  func compiled() throws {
    #expect(try GuideText("ImportingJSON.md").samples(missingFrom: #filePath) == [])
  }

  @Test("each mapping of the guide stands in the model, and each document in this test")
  func models() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let model = try String(contentsOf: folder.appending(path: "Samples.model.json"), encoding: .utf8)
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    let known = [model, source].map(Self.trimmed)
    let pieces = try Page("ImportingJSON").models
    #expect(pieces.count > 10)
    for piece in pieces { #expect(known.contains { $0.contains(Self.trimmed(piece)) }, "\(piece)") }
  }
}
