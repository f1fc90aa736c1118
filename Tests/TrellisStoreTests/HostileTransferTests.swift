import Foundation
import Testing
import TrellisJSON
import TrellisModel
import TrellisStorage
import TrellisStoreTesting
import TrellisTestSupport

/// Documents and files with changed bytes, as `trellis load`, `dump` and `doctor` meet them: read or refused with an error.
@Suite("Hostile stores, copied") struct HostileTransferTests {
  /// Looks at every value.
  private final class CountingWriter: BulkWriter {
    private let model: Model
    private(set) var bytes = 0

    init(_ model: Model) { self.model = model }

    func add(_ row: RowReader) throws {
      let writer = ValueWriter()
      row.write(model.entities[row.entity], to: writer)
      bytes += writer.values.count
    }

    func add(_ pair: SaveRequest.Pairs.Pair, to table: Int) throws { bytes += 2 }
  }

  /// How many documents are mutated, and a fortieth as many files: `TRELLIS_TRANSFER_MUTATIONS`, or 600.
  private static let count = TestSettings.number("TRELLIS_TRANSFER_MUTATIONS", or: 600)

  private func seed() -> UInt64 { UInt64(TestSettings.number("TRELLIS_TRANSFER_SEED", or: Int.random(in: 0 ... .max))) }

  private func mutate(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...5, using: &random) where !bytes.isEmpty {
      let place = Int.random(in: bytes.indices, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes[place] = .random(in: 0...255, using: &random)
      case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...8, using: &random)))
      default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 16)], at: place)
      }
    }
    return bytes
  }

  /// A store that a case of the kit has filled, with its model.
  private func filledStore(in folder: TestFolder) throws -> (url: URL, model: Model) {
    let url = folder.url.appending(path: "store.db")
    let made = Locked<Model?>(nil)
    _ = StoreConformance { model in
      made.withLock { $0 = model }
      try? FileManager.default.removeItem(at: url)
      return try StoreConfiguration.sqlite(at: url, durability: .relaxed).open(model)
    }.runDifferential(seed: 7, queries: 1)
    return (url, try #require(made.withLock { $0 }))
  }

  private func dump(_ url: URL, _ model: Model) throws -> [UInt8] {
    let store = try StoreConfiguration.sqlite(at: url, readOnly: true).open(model)
    defer { store.close() }
    var bytes: [UInt8] = []
    try DocumentStream.write(try #require(try store.connect() as? any TransferSource), model) { bytes += $0 }
    return bytes
  }

  @Test("a mutated document is read, or refused where it is wrong") func documents() throws {
    let folder = try TestFolder()
    let (url, model) = try filledStore(in: folder)
    let document = try dump(url, model)
    let seed = seed()
    print("seed \(seed), \(Self.count) documents of \(document.count) bytes")
    var random = SeededGenerator(seed: seed)
    var refused = 0
    for _ in 0..<Self.count {
      do {
        let source = try DocumentSource(Data(mutate(document, &random)), path: "the document")
        try source.transfer(to: CountingWriter(source.model))
      } catch let error {
        refused += 1
        #expect(error.message.hasPrefix("the document"), "\(error)")
      }
    }
    #expect(refused > Self.count / 2)
  }

  @Test("a mutated file is dumped, or refused") func files() throws {
    let folder = try TestFolder()
    let (url, _) = try filledStore(in: folder)
    let bytes = [UInt8](try Data(contentsOf: url))
    let seed = seed()
    print("seed \(seed), \(Self.count / 40) files of \(bytes.count) bytes")
    var random = SeededGenerator(seed: seed)
    for _ in 0..<Self.count / 40 {
      let broken = folder.url.appending(path: "broken.db")
      try Data(mutate(bytes, &random)).write(to: broken)
      guard let model = try? SQLiteStore.storedModel(at: broken) else { continue }
      _ = try? dump(broken, model)
    }
  }
}
