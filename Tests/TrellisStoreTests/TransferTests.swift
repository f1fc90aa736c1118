import Foundation
import Testing
import TrellisJSON
import TrellisModel
import TrellisStorage
import TrellisStoreTesting
import TrellisTestSupport

/// The contents of each store that the cases of the kit leave behind are the material of these tests.
@Suite("The copy of a store") struct TransferTests {
  /// The stores that a run of cases makes, with their models.
  private final class MadeStores: Sendable {
    private let made = Locked<[(store: any Store, model: Model)]>([])

    var all: [(store: any Store, model: Model)] { made.withLock { $0 } }

    func note(_ store: any Store, _ model: Model) -> any Store {
      made.withLock { $0.append((store, model)) }
      return store
    }
  }

  /// A store by its kind, and whether its external data lies in files.
  enum Kind: String, CaseIterable, Sendable {
    case memory, json, sqlite, jsonWithFiles, sqliteWithFiles

    func open(_ model: Model, in folder: TestFolder) throws -> any Store {
      let path = folder.url.appending(path: UUID().uuidString)
      return switch self {
      case .memory: MemoryStore(model)
      case .json: try StoreConfiguration.json(at: path).open(model)
      case .sqlite: try StoreConfiguration.sqlite(at: path, durability: .relaxed).open(model)
      case .jsonWithFiles: try StoreConfiguration.json(at: path, filesAbove: 0).open(model)
      case .sqliteWithFiles: try StoreConfiguration.sqlite(at: path, durability: .relaxed, filesAbove: 0).open(model)
      }
    }
  }

  /// Each case with each kind of store in long runs, otherwise with one of them.
  private static let filled = StoreConformance.cases.enumerated().flatMap { number, rule in
    let kinds = TestSettings.isLong ? Kind.allCases : [Kind.allCases[number % Kind.allCases.count]]
    return kinds.map { ($0, rule) }
  }

  @Test("a dump that is loaded gives the same dump, whatever the store holds", arguments: filled)
  func dumps(_ kind: Kind, _ rule: ConformanceCase) throws {
    try compare(kind) { _ = $0.run(rule) }
  }

  @Test("so does the dump of a random graph", arguments: Kind.allCases, [UInt64](1...3) + [.random(in: .min ... .max)])
  func randomGraphs(_ kind: Kind, _ seed: UInt64) throws {
    print("\(kind), seed \(seed)")
    try compare(kind) { _ = $0.runDifferential(seed: seed, queries: 1) }
  }

  private func compare(_ kind: Kind, _ fill: (StoreConformance) -> Void) throws {
    let folder = try TestFolder()
    let made = MadeStores()
    fill(StoreConformance { model in made.note(try kind.open(model, in: folder), model) })
    #expect(!made.all.isEmpty)
    for (store, model) in made.all {
      let dump = try dump(store, model)
      let fromDump = try emptyStore(model, in: folder)
      let source = try DocumentSource(Data(dump), path: "the dump")
      #expect(source.model.checksum == model.checksum)
      try fromDump.load(source.lineage) { try source.transfer(to: $0) }
      expectSame(try self.dump(fromDump, model), dump)

      let fromRows = try emptyStore(model, in: folder)
      let rows = try connection(to: store)
      try fromRows.load(rows.lineage()) { try rows.transfer(model, to: $0) }
      expectSame(try self.dump(fromRows, model), dump)
    }
  }

  private func emptyStore(_ model: Model, in folder: TestFolder) throws -> SQLiteStore {
    try #require(try Kind.sqlite.open(model, in: folder) as? SQLiteStore)
  }

  private func connection(to store: any Store) throws -> any TransferSource {
    try #require(try store.connect() as? any TransferSource)
  }

  private func dump(_ store: any Store, _ model: Model) throws -> [UInt8] {
    var dump: [UInt8] = []
    try DocumentStream.write(try connection(to: store), model) { dump += $0 }
    return dump
  }

  /// Records the first lines that two dumps do not share.
  private func expectSame(_ found: [UInt8], _ expected: [UInt8]) {
    if found == expected { return }
    let (found, expected) = (found.split(separator: UInt8(ascii: "\n")), expected.split(separator: UInt8(ascii: "\n")))
    let place = zip(found, expected).prefix { $0 == $1 }.count
    func line(_ lines: [ArraySlice<UInt8>]) -> String {
      lines.indices.contains(place) ? String(decoding: lines[place], as: UTF8.self) : "the end"
    }
    Issue.record("\(line(found)) instead of \(line(expected))")
  }
}
