import Foundation
import Testing
import Trellis
import TrellisJSON
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

/// A store of the diary's former model, to be migrated.
struct DiaryStore {
  enum Kind: String, CaseIterable { case sqlite, json }

  let kind: Kind
  let folder: TestFolder
  let former: Model

  init(_ kind: Kind) throws {
    self.kind = kind
    folder = try TestFolder()
    former = try Model(DiaryChange.formerModel)
  }

  /// The number of bytes above which a scan is a file of its own.
  static let filesAbove = 100

  var url: URL { folder.file(name) }
  private var name: String { "store.\(kind)" }

  // MARK: Opening

  /// The store on a file system that a test has in its hand.
  func configuration(
    _ files: any FileOperations = SystemFiles(), durability: Durability = .durable,
    migration: MigrationPolicy = .automatic
  ) -> StoreConfiguration {
    StoreConfiguration { [kind, url] model, observer in
      switch kind {
      case .sqlite:
        var options = OpenOptions(durability: durability, busyTimeoutMilliseconds: 60_000, isReadOnly: false)
        (options.largestInRow, options.files, options.observer) = (Self.filesAbove, files, observer)
        options.migration = migration
        return try SQLiteStore(url: url, model: model, options: options)
      case .json:
        var options = DocumentOptions(durability: durability, largestInRow: Self.filesAbove, migration: migration)
        options.observer = observer
        return try JSONStore(path: url.path, model: model, options: options, files: files)
      }
    } plan: { [kind, url] model in
      switch kind {
      case .sqlite: try StoreConfiguration.sqlite(at: url).plan(model)
      case .json: try StoreConfiguration.json(at: url).plan(model)
      }
    }
  }

  func open(_ model: Model) throws { try configuration().open(model).close() }

  // MARK: Contents

  /// Makes the store, with rows in every table.
  ///
  /// - Returns: the files.
  func make(rowCount: Int) throws -> StoreImage {
    let store = try configuration().open(former)
    _ = try store.reserveKeys(100_000)
    let request = SaveRequest()
    request.inserts = [
      inserts("Tag", (1...8).map { (60_000 + $0, ["name": .text("\($0)")]) }),
      inserts("Draft", (1...rowCount).map { (70_000 + $0, ["title": .text("\($0)")]) }),
      inserts(
        "Entry",
        (1...rowCount).map { number in
          var values: [String: StoredValue] = ["title": .text("a title of some length \(number)")]
          if number % 3 == 0 { values["mood"] = .text("glad") }
          if number % 4 == 0 { values["tag"] = .integer(Int64(60_001 + number % 8)) }
          if number % 40 == 0 { values["scan"] = .blob([UInt8](repeating: 7, count: Self.filesAbove + number)) }
          return (number, values)
        }),
    ]
    try store.connect().save(request)
    store.close()
    return try StoreImage(of: folder.url)
  }

  private func inserts(_ name: String, _ rows: [(Int, [String: StoredValue])]) -> SaveRequest.Inserts {
    guard let entity = former.entity(named: name) else { return .init(entity: 0, records: []) }
    return .init(entity: entity.index, records: rows.map { PlainRecord(entity, key: Int64($0), $1) })
  }

  /// The rows as SQLite alone sees them, or the lines of the document.
  ///
  /// - Parameter change: The change that the store has seen; nil for the former model.
  func contents(_ change: DiaryChange?) throws -> [String] {
    switch kind {
    case .sqlite: try PlainSQLite(url).rows(change?.rows ?? DiaryChange.formerRows).flatMap(\.self)
    case .json:
      // The moment of the migration is another one each time.
      try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map {
        String($0.replacing(/"replaced": "[^"]*"/, with: ""))
      }
    }
  }

  // MARK: Expecting

  /// What a migration finds and what it makes.
  struct Expected {
    let change: DiaryChange
    let model: Model
    let image: StoreImage
    let former: [String]
    let migrated: [String]
  }

  /// Makes the store, and migrates it once without any fault.
  func expected(_ change: DiaryChange, rowCount: Int) throws -> Expected {
    let image = try make(rowCount: rowCount)
    let former = try contents(nil)
    let model = try Model(change.model)
    try open(model)
    let migrated = try contents(change)
    #expect(former.count >= rowCount && migrated.count >= rowCount)
    return Expected(change: change, model: model, image: image, former: former, migrated: migrated)
  }

  /// Expects the former store or the migrated one, migrates the former one, and looks for damage.
  ///
  /// - Returns: whether the store had been migrated.
  @discardableResult
  func expectWhole(_ expected: Expected, _ place: Comment) throws -> Bool {
    let isMigrated = try configuration().plan(expected.model) == nil
    if isMigrated {
      #expect(try contents(expected.change) == expected.migrated, place)
      if expected.change == .losing { try expectCopy(expected, place) }
    } else {
      #expect(try contents(nil) == expected.former, place)
    }
    let store = try configuration().open(expected.model)
    #expect(try contents(expected.change) == expected.migrated, place)
    try store.connect().check { Issue.record("\($0), \(place)") }
    store.close()
    if expected.change == .losing { try expectCopy(expected, place) }
    guard kind == .sqlite else { return isMigrated }
    let file = try PlainSQLite(url)
    #expect(try file.rows("PRAGMA integrity_check") == [["ok"]], place)
    #expect(try file.rows("SELECT count(*) FROM _models") == [["2"]], place)
    return isMigrated
  }

  /// The copy of the former store opens with the former model, and has its rows and its external files.
  private func expectCopy(_ expected: Expected, _ place: Comment) throws {
    let copy = try DiaryStore(kind)
    let prefix = "\(name).before-\(former.checksum)"
    try StoreImage(of: folder.url).renaming(prefix, to: name).put(into: copy.folder.url)
    try #require(FileManager.default.fileExists(atPath: copy.url.path), place)
    #expect(try copy.contents(nil) == expected.former, place)
    let store = try copy.configuration().open(former)
    try store.connect().check { Issue.record("the copy: \($0), \(place)") }
    store.close()
  }
}
