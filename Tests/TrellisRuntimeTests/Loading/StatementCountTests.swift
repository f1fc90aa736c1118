import Foundation
import Testing
import Trellis
import TrellisDiaryModel
import TrellisTestSupport

@testable import TrellisRuntime
@testable import TrellisStorage

/// How many statements SQLite runs, which no busy machine changes.
@Suite("Statement counts") struct StatementCountTests {
  /// A file with diaries of a few images each, which goes with the object.
  private final class DiaryFile {
    private let folder: TestFolder
    let container: PersistentContainer

    init(diaries: Int, images: Int = 3, log: QueryLog? = nil) throws {
      folder = try TestFolder()
      let file = folder.file("diary.db")
      container = try PersistentContainer(model: .diary, store: .sqlite(at: file, durability: .relaxed), log: log)
      let context = container.newContext()
      for number in 0..<diaries {
        let diary = EmotionDiary(in: context, emotion: .happy, content: "\(number)")
        for place in 0..<images { _ = DiaryImage(in: context, imagePath: "\(place).png", diary: diary) }
      }
      try context.save()
    }
  }

  private func statements(_ context: ManagedObjectContext, _ body: () throws -> Void) throws -> Int {
    let connection = try #require(try context.graph.connection() as? LeasingConnection)
    let before = connection.statistics.run
    try body()
    return connection.statistics.run - before
  }

  @Test("asking whether a property has changed loads nothing: no row, no partner, no member, no file")
  func asking() throws {
    let file = try DiaryFile(diaries: 2)
    let context = file.container.newContext()
    let diary = try #require(try context.fetch(EmotionDiary.all).first)
    let image = try #require(try context.fetch(DiaryImage.all).first)
    let count = try statements(context) {
      #expect(!image.hasChanges(\.diary) && !image.hasChanges(\.diary?.content) && !image.hasChanges(\.data))
      #expect(!diary.hasChanges(\.images) && !diary.hasChanges(\.images.count) && !diary.hasChanges(\.tags))
      context.refreshAll()
      #expect(!diary.hasChanges(\.content) && diary.isFault)
    }
    #expect(count == 0)
    diary.content = "anew"
    image.diary = nil
    #expect(diary.hasChanges(\.content) && image.hasChanges(\.diary) && diary.hasChanges(\.images))
  }

  @Test(
    "deleting siblings one after the other reads each member once, however many there are",
    arguments: [(diaries: 2_000, images: 3, loads: 40), (diaries: 300, images: 10, loads: 300)])
  func deleting(_ diaries: Int, _ images: Int, _ loads: Int) throws {
    let queries = LoggedQueries()
    let file = try DiaryFile(diaries: diaries, images: images, log: queries.log())
    let context = file.container.newContext()
    // So that the members of 64 diaries are too many.
    if images > 3 { context.graph.fewMembers = 500 }
    let all = try context.fetch(EmotionDiary.all)
    queries.clear()
    for diary in all { try context.delete(diary) }
    let members = queries.entries.filter { $0.kind == .members && $0.subject == "EmotionDiary.images" }
    let rows = members.reduce(0) { $0 + $1.rows }
    // One load is given up at the limit.
    #expect(rows >= diaries * images && rows <= diaries * images + 600)
    #expect(members.count <= loads)
    try context.save()
    #expect(try context.count(EmotionDiary.all) + context.count(DiaryImage.all) == 0)
  }

  @Test("walking from 300,000 images to their diaries takes eight statements")
  func traverse() throws {
    let file = try DiaryFile(diaries: 100_000)
    let context = file.container.newContext()
    var total = 0
    let count = try statements(context) {
      for image in try context.fetch(DiaryImage.all) { total += image.diary == nil ? 0 : 1 }
    }
    #expect(total == 300_000)
    #expect(count <= 8)
  }

  /// Ways to look at all members; none of them loads keys and objects apart.
  private static let walks: [@Sendable (EmotionDiary) -> Int] = [
    { diary in diary.images.map(\.imagePath).count }, { diary in Array(diary.images).count },
    { diary in diary.images.sorted { $0.imagePath < $1.imagePath }.count },
    { diary in diary.images.filter { !$0.imagePath.isEmpty }.count },
    { diary in diary.images.reduce(0) { count, image in count + (image.imagePath.isEmpty ? 0 : 1) } },
  ]

  @Test("walking from diaries to their images takes a statement for each window of siblings", arguments: walks.indices)
  func toMany(walk: Int) throws {
    let file = try DiaryFile(diaries: 2_000)
    let context = file.container.newContext()
    var total = 0
    let count = try statements(context) {
      for diary in try context.fetch(EmotionDiary.all) { total += Self.walks[walk](diary) }
    }
    #expect(total == 6_000)
    #expect(count <= 4)
  }

  @Test("what was prefetched, to-one or to-many, takes one statement and none later")
  func prefetching() throws {
    let file = try DiaryFile(diaries: 2_000)
    let context = file.container.newContext()
    var diaries: [EmotionDiary] = []
    let forImages = try statements(context) {
      diaries = try context.fetch(EmotionDiary.all.prefetching { $0.images })
    }
    let later = try statements(context) { #expect(diaries.allSatisfy { $0.images.map(\.imagePath).count == 3 }) }
    #expect(forImages == 2 && later == 0)
    let other = file.container.newContext()
    var images: [DiaryImage] = []
    let forDiaries = try statements(other) { images = try other.fetch(DiaryImage.all.prefetching { $0.diary }) }
    let then = try statements(other) { #expect(images.allSatisfy { $0.diary?.content.isEmpty == false }) }
    #expect(forDiaries == 2 && then == 0)
  }

  @Test("prefetching through a to-one, of nothing, and of unsaved objects leads to the same objects")
  func prefetchingPaths() throws {
    let file = try DiaryFile(diaries: 10)
    let context = file.container.newContext()
    let tag = Tag(in: context, name: "walk")
    let diary = EmotionDiary(in: context, emotion: .calm, content: "new")
    diary.tags.append(tag)
    _ = DiaryImage(in: context, imagePath: "new.png", diary: diary)
    let images = try context.fetch(DiaryImage.all.prefetching { $0.diary.tags })
    #expect(images.count == 31)
    #expect(images.last?.diary?.tags.contains(tag) == true)
    #expect(try context.fetch(DiaryImage.where { $0.imagePath == "none" }.prefetching { $0.diary }).isEmpty)
  }
}
