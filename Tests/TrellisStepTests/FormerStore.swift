import Foundation
import TrellisJSON
import TrellisModel
import TrellisModelFile
import TrellisTestSupport
import Testing
import Trellis

@testable import TrellisPostgres
@testable import TrellisStorage

/// The kinds of stores that steps are tried on.
enum FormerKind: CaseIterable {
  case file, document, schema

  /// The kinds that this machine has.
  static var present: [FormerKind] { TestServer.isThere ? allCases : [.file, .document] }
}

/// Stores of the released versions of the journal.
final class FormerStore {
  let folder: TestFolder
  let kind: FormerKind
  let url: URL
  private let schema = TestServer.newSchema()

  init(_ kind: FormerKind) throws {
    folder = try TestFolder()
    self.kind = kind
    url = folder.file(kind == .document ? "journal.json" : "journal.sqlite")
  }

  deinit { if kind == .schema { _ = try? texts("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") } }

  func configuration(_ migration: MigrationPolicy = .automatic) -> StoreConfiguration {
    switch kind {
    case .file: .sqlite(at: url, filesAbove: 100, migration: migration)
    case .document: .json(at: url, filesAbove: 100, migration: migration)
    case .schema: .postgres(TestServer.url, schema: schema, connections: 2, timeout: 300, migration: migration)
    }
  }

  /// The model of a released version.
  static func model(_ number: Int) throws -> Model {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Journal.history")
    let path = folder.appending(path: ModelHistory.fileName(of: number))
    let history = ModelHistory.version(
      in: .init(path: path.path, bytes: Array(try Data(contentsOf: path))))
    let version = try #require(try history?.get())
    return try StoredModelReading.model(version.canonicalText, checksum: version.checksum, of: path.path)
  }

  /// All that the store consists of, to compare it with what it was before.
  func contents() throws -> Data {
    guard kind == .schema else { return try Data(contentsOf: url) }
    let tables = try texts(
      "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace = '\"\(schema)\"'::regnamespace "
        + "AND c.relkind IN ('r', 'i') ORDER BY 1")
    let rows = try texts(
      "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace = '\"\(schema)\"'::regnamespace "
        + "AND c.relkind = 'r' ORDER BY 1"
    ).flatMap { table in try texts("SELECT concat_ws(' ', '\(table)', t::text) FROM \(table) AS t ORDER BY 1") }
    return Data((tables + rows).joined(separator: "\n").utf8)
  }

  private func texts(_ question: String) throws -> [String] {
    let address = try ServerAddress(TestServer.url)
    let connection = try ServerConnection(address.keywords(timeout: 10), preparesStatements: false)
    let result = try connection.run(ServerStatement(question))
    return (0..<result.count).compactMap { result.text($0, 0) }
  }

  static let photo = [UInt8](repeating: 7, count: 500)

  /// Notes of three persons, two of whom have the same name. The first note mentions the others.
  func fill(version number: Int, notes count: Int = 3) throws {
    let model = try Self.model(number)
    let store = try configuration().open(model)
    defer { store.close() }
    _ = try store.reserveKeys(10_000)
    let note = try #require(model.entity(named: "Note"))
    let person = try #require(model.entity(named: "Person"))
    let request = SaveRequest()
    let people = ["Ada", "Ben", "Ada"].enumerated().map { place, name in
      PlainRecord(person, key: Int64(1 + place), ["name": .text(name)])
    }
    var notes: [PlainRecord] = []
    for place in 0..<count {
      var values: [String: StoredValue] = ["author": .integer(Int64(1 + place % 3))]
      if number == 1 {
        values["title"] = .text("Note \(place)")
        values["tagText"] = .text("sea sun")
      } else {
        values["headline"] = .text("Note \(place)")
        values["tagList"] = .text(place == 1 ? "[]" : "[\"sea\",\"day \(place)\"]")
        values["mood"] = .text("good")
        if place == 0 { values["photo"] = .blob(Self.photo) }
      }
      notes.append(PlainRecord(note, key: Int64(10 + place), values))
    }
    request.inserts = [.init(entity: person.index, records: people), .init(entity: note.index, records: notes)]
    if let letter = model.entity(named: "Letter") {
      let values: [String: StoredValue] = [
        "headline": .text("Letter"), "tagList": .text("[\"sun\"]"), "address": .text("Rome"), "author": .integer(2),
        "Letter.headline": .text("Letter"), "Letter.address": .text("Rome"),
      ]
      request.inserts.append(.init(entity: letter.index, records: [PlainRecord(letter, key: 9, values)]))
    }
    let mentions = try #require(note.property(named: "mentions")?.relationship)
    guard case .joinTable(let table, _) = mentions.home else { return }
    var pairs = SaveRequest.Pairs(table: table)
    pairs.added = [
      .init(first: 10, partner: 2, place: 1_024), .init(first: 10, partner: 3, place: 2_048),
    ]
    request.pairs = [pairs]
    try store.connect().save(request)
  }
}
