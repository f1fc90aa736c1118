import Testing
import Trellis
import TrellisDiaryModel
import TrellisReceiptMindModel
import TrellisTesting

@Suite("Random objects of generated classes") struct SeedTests {
  @Test("rules hold, and the same seed gives the same objects", arguments: [1, 2, 77] as [UInt64])
  func same(_ seed: UInt64) throws {
    var seen: [[String]] = []
    for _ in 0..<2 {
      let context = try PersistentContainer(model: .diary, store: .memory).newContext()
      let report = try context.seed(12, seed: seed)
      #expect(report.counts.map(\.entity) == ["EmotionDiary", "DiaryImage", "Tag"], "seed \(seed)")
      #expect(report.counts.allSatisfy { $0.count >= 12 } && report.notes.isEmpty && report.discarded.isEmpty)
      #expect("\(report)" == report.counts.map { "\($0.count) \($0.entity)" }.joined(separator: ", "))
      let diaries = try context.fetch(EmotionDiary.all)
      #expect(!context.hasChanges && diaries.allSatisfy { !$0.content.isEmpty && $0.images.count <= 10 })
      #expect(diaries.contains { !$0.tags.isEmpty })
      seen.append(
        diaries.map { "\($0.content) \($0.emotion) \($0.images.map(\.imagePath)) \($0.tags.map(\.name).sorted())" })
    }
    #expect(seen[0] == seen[1], "seed \(seed)")
  }

  @Test("objects that hooks refuse are left out and counted; the others are saved")
  func hooks() throws {
    let context = try PersistentContainer(model: .receiptMind, store: .memory).newContext()
    let report = try context.seed(20, seed: 5)
    #expect(!context.hasChanges && report.counts.contains { $0.entity == "Ledger" && $0.count >= 20 })
    let kept = try context.fetch(Receipt.all)
    #expect(kept.allSatisfy { $0.category == nil || $0.category?.kind == $0.kind })
    #expect(report.discarded.isEmpty == !"\(report)".contains("left out"))
  }

  @Test("unsaved changes are not saved along")
  func unsaved() throws {
    let context = try PersistentContainer(model: .diary, store: .memory).newContext()
    _ = Tag(in: context, name: "a")
    let refusal = try #require(throws: ContextError.self) { try context.seed(3) }
    #expect(refusal.code == .unsavedChanges && context.insertedObjects.count == 1)
  }
}
