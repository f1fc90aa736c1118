import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

@Suite("A stored model that is damaged, or not that of the rows, is refused or read, and never ends the program")
struct HostileModelTests {
  private static let count = TestSettings.number("TRELLIS_HOSTILE_MODELS", or: 100)

  @Test("a refused store stays as it is, byte for byte", arguments: DiaryStore.Kind.allCases)
  func refused(kind: DiaryStore.Kind) throws {
    let seed = TestSettings.seed()
    var random = SeededGenerator(seed: seed)
    let diary = try DiaryStore(kind)
    let whole = try diary.make(rowCount: 40)
    var hostile = HostileModel(DiaryChange.formerModel, seed: seed)
    let models = try [diary.former] + DiaryChange.allCases.map { try Model($0.model) }
    let policies: [MigrationPolicy] = [.automatic, .allowingDataLoss, .refused]
    var (refused, codes) = (0, Set<StoreError.Code>())
    for round in 1...Self.count {
      try whole.put(into: diary.folder.url)
      let (text, checksum) = hostile.next()
      try put(text, checksum, into: diary, mayTellStorage: random.below(4) == 0)
      let before = try diary.image
      let model = models[random.below(models.count)]
      let policy = policies[random.below(policies.count)]
      let place: Comment = "\(kind), seed \(seed), round \(round): \(text)"
      do {
        _ = try diary.configuration().plan(model)
      } catch {
        #expect(error is StoreError, place)
      }
      #expect(try diary.image == before, place)
      do {
        let store = try diary.configuration(migration: policy).open(model)
        try store.connect().check { _ in }
        store.close()
      } catch let error as StoreError {
        refused += 1
        codes.insert(error.code)
        #expect(error.code != .internalError, "\(error), \(place)")
        #expect(try diary.image == before, "\(error), \(place)")
      } catch {
        Issue.record(error, place)
      }
    }
    print(
      "\(kind): \(refused) of \(Self.count) hostile models refused, \(codes.map(\.rawValue).sorted()), seed \(seed)")
    #expect(refused > Self.count / 4 && codes.count > 1)
  }

  /// - Parameter mayTellStorage: whether what the store says of its tables is the lie's, if that is a model.
  private func put(_ text: String, _ checksum: String, into diary: DiaryStore, mayTellStorage: Bool) throws {
    switch diary.kind {
    case .sqlite:
      let file = try PlainSQLite(diary.url)
      try file.run("UPDATE _trellis SET value = ?1 WHERE key = 'modelJSON'", [text])
      try file.run("UPDATE _trellis SET value = ?1 WHERE key = 'checksum'", [checksum])
      if mayTellStorage, let lie = try? StoredModelReading.model(text, checksum: checksum, of: "") {
        try file.run("UPDATE _trellis SET value = ?1 WHERE key = 'storage'", [lie.storageSignature])
      }
      _ = try file.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    case .json:
      var document = try String(contentsOf: diary.url, encoding: .utf8)
      let description = try #require(document.range(of: "\"description\": "))
      let end = try #require(document.range(of: "\n}\n", options: .backwards))
      document.replaceSubrange(description.upperBound..<end.lowerBound, with: text)
      let words = try JSONSerialization.data(withJSONObject: checksum, options: .fragmentsAllowed)
      document = document.replacing(diary.former.checksum, with: "\u{1}", maxReplacements: 1)
        .replacing("\"\u{1}\"", with: String(decoding: words, as: UTF8.self), maxReplacements: 1)
      try Data(document.utf8).write(to: diary.url)
    }
  }
}

extension DiaryStore {
  /// The files without those that SQLite makes anew whenever it reads.
  fileprivate var image: StoreImage {
    get throws {
      var image = try StoreImage(of: folder.url)
      image.files = image.files.filter { !$0.key.hasSuffix("-shm") && !($0.key.hasSuffix("-wal") && $0.value.isEmpty) }
      return image
    }
  }
}
