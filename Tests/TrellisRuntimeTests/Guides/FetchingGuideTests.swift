import Foundation
import Testing
import Trellis
import TrellisDiaryModel
import TrellisModel
import TrellisTestSupport

// The samples of Docs/Fetching.md, block by block, each with what it is said to do.

struct Filter {
  var request: EmotionDiary.FetchRequest = EmotionDiary.all
  var condition: (EmotionDiary.Columns) -> QueryCondition = { $0.mood != nil }
}

@MainActor final class DiaryShelf {
  private let context: ManagedObjectContext
  private(set) var diaries: [EmotionDiary] = []
  private(set) var latest: EmotionDiary.LiveResults?

  init(_ container: PersistentContainer) { context = container.mainContext }

  func show(_ filter: Filter, by order: String) throws {
    diaries = try context.fetch(filter.request.where(filter.condition).sorted(by: order))
    latest = try context.live(filter.request.sorted { $0.createdAt.descending }.limit(1))
  }
}

@Suite("Requests that are kept and passed on") struct KeptRequestTests {
  @Test("a request, its conditions and its live results are kept on the main actor")
  @MainActor func kept() throws {
    let container = try PersistentContainer(model: .diary, store: .memory)
    for (day, mood) in [nil, "b", "a"].enumerated() {
      let date = Date(timeIntervalSince1970: Double(day))
      _ = EmotionDiary(in: container.mainContext, emotion: .calm, content: "x", createdAt: date, mood: mood)
    }
    try container.mainContext.save()
    let shelf = DiaryShelf(container)
    try shelf.show(Filter(), by: "mood")
    #expect(shelf.diaries.map(\.mood) == ["a", "b"] && shelf.latest?.map(\.mood) == ["a"])
  }
}

@Suite("The samples of the guide to fetching", .serialized) struct FetchingGuideTests {
  private let file = TemporaryFile()
  private let slow = LoggedQueries()
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    let slow = slow
    container = try PersistentContainer(
      model: .diary, store: .sqlite(at: file.url),
      log: QueryLog { entry in
        if entry.duration > .milliseconds(50) { slow.add(entry) }
      }
    ) { _ in }
    let writer = container.newContext()
    let tag = Tag(in: writer, name: "walk")
    for number in 0..<3 {
      let diary = EmotionDiary(in: writer, emotion: .happy, content: "Coffee \(number)")
      diary.tags.append(tag)
      _ = DiaryImage(in: writer, imagePath: "\(number).png", diary: diary)
    }
    _ = DiaryImage(in: writer, imagePath: "alone.png")
    try writer.save()
    context = container.newContext()
  }

  private var request: FetchRequest<EmotionDiary.Columns> {
    EmotionDiary.where {
      $0.emotion == .happy
      $0.content.contains("coffee", .caseInsensitive)
    }.sorted { $0.createdAt.descending }.limit(20)
  }

  @Test("objects, and values instead of them")
  func objects() throws {
    let diaries = try context.fetch(request)
    let latest = try context.first(request)
    let count = try context.count(request)
    let isAny = try context.exists(request)
    #expect(diaries.count == 3 && latest == diaries.first && count == 3 && isAny)

    let ids = try context.ids(of: request)
    let moods = try context.values(of: EmotionDiary.all, distinct: true) { $0.mood }
    let days = try context.values(of: DiaryImage.all) { ($0.imagePath, $0.diary.createdAt.optional) }
    let snapshots = try context.snapshots(of: request)
    #expect(ids == diaries.map(\.objectID) && moods == [nil] && snapshots.count == 3)
    #expect(days.map(\.0).last == "alone.png" && days.last?.1 == nil && days.first?.1 != nil)
  }

  @Test("sums and groups")
  func sums() throws {
    let context = try EntryWorld(.sqlite).context
    let total = try context.aggregate(Entry.all) { $0.amount.sum }
    let (entries, least) = try context.aggregate(Entry.all) { ($0.count, $0.amount.minimum) }
    let groups = try context.grouped(Entry.all, by: { $0.memo }) { ($0.count, $0.amount.sum) }
    #expect(total == Decimal(string: "12.8") && entries == 4 && least == Decimal(string: "0.1"))
    let byBoth = try context.grouped(Entry.all, by: { ($0.category.name.optional, $0.memo) }) { $0.amount.sum }
    #expect(byBoth.count == 4 && byBoth.map(\.value).reduce(0, +) == total)
    #expect(groups.map(\.key) == [nil, "a", "b"])
    let largest = try context.grouped(Entry.all, by: { $0.memo }, limit: 10) {
      ($0.count, $0.amount.sum)
    } having: {
      $0.count > 1
    } sorted: {
      $0.amount.sum.descending
    }
    #expect(largest.map(\.key) == ["a"])
  }

  @Test("a list for people of one language is sorted when it is there")
  func language() throws {
    for name in ["zoo", "ärlig"] { _ = Tag(in: context, name: name) }
    let names = try context.values(of: Tag.all) { $0.name }.sorted {
      $0.compare($1, locale: Locale(identifier: "sv_SE")) == .orderedAscending
    }
    #expect(names == ["walk", "zoo", "ärlig"])
    for name in ["apfelmus", "Äpfel", "apfel"] { _ = Tag(in: context, name: name) }
    let folded = Tag.where { $0.name.contains("pfel") }.sorted {
      $0.name.ascending([.caseInsensitive, .diacriticInsensitive])
    }
    #expect(try context.values(of: folded) { $0.name } == ["Äpfel", "apfel", "apfelmus"])
  }

  @Test("changing many at once")
  func sets() throws {
    let lastYear = Date(timeIntervalSinceNow: -365 * 86_400)
    let old = EmotionDiary(in: context, emotion: .sad, content: "old")
    old.createdAt = lastYear - 1
    try context.save()
    let read = try context.updateAll(EmotionDiary.where { $0.emotion == .sad }) { $0.mood.set("read") }
    #expect(read == 1 && old.mood == "read")
    try context.updateAll(EmotionDiary.all) { $0.mood.set($0.content.optional) }
    #expect(old.mood == "old")
    let gone = try context.deleteAll(EmotionDiary.where { $0.createdAt < lastYear })
    #expect(try gone == 1 && old.isDeleted && context.count(EmotionDiary.all) == 3)

    let world = try EntryWorld(.sqlite)
    try world.context.updateAll(Entry.where { $0.memo == "a" }) {
      $0.amount.multiply(by: 2)
      $0.memo.set(nil)
    }
    #expect(try world.context.aggregate(Entry.all) { $0.memo.count } == 1)
    let category = Category(in: world.context, name: "all")
    try world.context.save()
    #expect(try world.context.updateAll(Entry.all) { $0.category.set(category) } == 4 && category.entries.count == 4)
  }

  @Test("many objects")
  func streams() throws {
    var lengths = 0
    var contents: [String] = []
    try context.stream(EmotionDiary.all.sorted { $0.createdAt }) { diary in
      lengths += diary.content.count
    }
    try context.streamSnapshots(of: EmotionDiary.all, batchSize: 500) { contents.append($0.content) }
    #expect(lengths == 24 && contents.count == 3)
  }

  @Test("relationships")
  func relationships() throws {
    let images = try context.fetch(DiaryImage.all.prefetching { $0.diary.tags })
    let tags = try context.fetch(Tag.all.prefetching({ $0.diaries }, then: { $0.images }))
    #expect(images.count == 4 && tags.first?.diaries.count == 3)

    let strict = container.newContext()
    strict.lazyLoading = .forbidden
    for image in try strict.fetch(DiaryImage.all) { _ = image.diary?.content ?? "" }
    let error = #expect(throws: ContextError.self) { try strict.save() }
    #expect(
      error?.description
        == "DiaryImage.diary was loaded when it was used, of an object, which came with 3 siblings; fetch DiaryImage with "
        + ".prefetching { $0.diary }. [lazy-load]")

    var contents: [String] = []
    try container.withoutLazyLoading { context in
      for image in try context.fetch(DiaryImage.all.prefetching { $0.diary }) {
        contents.append(image.diary?.content ?? "")
      }
    }
    #expect(contents.count == 4)
  }

  /// A span of a tracer.
  private struct Span {
    static let ended = Locked<[String]>([])
    let name: String

    init(_ kind: String, _ subject: String?) { name = "\(kind) \(subject ?? "-")" }

    func end(rows: Int, failure: String?) { Self.ended.withLock { $0.append("\(name) \(rows) \(failure ?? "-")") } }
  }

  @Test("a log that is told of begins")
  func begins() throws {
    let log = QueryLog(begin: { kind, subject in
      let span = Span(kind.rawValue, subject)
      return { entry in span.end(rows: entry.rows, failure: entry.failure) }
    })
    let container = try PersistentContainer(model: .diary, store: .memory, log: log)
    let context = container.newContext()
    _ = Tag(in: context, name: "a")
    try context.save()
    _ = try context.fetch(Tag.all)
    #expect(Span.ended.withLock { $0 } == ["opening - 0 -", "save - 1 -", "fetch Tag 1 -"])
  }

  @Test("explaining")
  func explaining() throws {
    let plan = try context.explain(EmotionDiary.where { $0.mood == "tired" }.sorted { $0.createdAt.descending })
    let lines = plan.description.split(separator: "\n").suffix(4)
    #expect(
      Array(lines) == [
        "  SCAN t0", "  USE TEMP B-TREE FOR ORDER BY", "scans the whole table EmotionDiary",
        #"add "indexes": [["mood", "-createdAt"]] to the entity EmotionDiary"#,
      ])
  }
}
