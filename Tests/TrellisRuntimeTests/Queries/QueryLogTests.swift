import Foundation
import Testing
import Trellis
import TrellisDiaryModel
import TrellisModel
import TrellisTestSupport

@testable import TrellisRuntime

/// What a container said it asked its store.
final class LoggedQueries: Sendable {
  private let found = Locked<[QueryLogEntry]>([])

  var entries: [QueryLogEntry] { found.withLock { $0 } }

  func log(values: Bool = false) -> QueryLog {
    QueryLog(includesValues: values) { entry in self.add(entry) }
  }

  func add(_ entry: QueryLogEntry) { found.withLock { $0.append(entry) } }

  func clear() { found.withLock { $0.removeAll() } }
}

@Suite("The query log") struct QueryLogTests {
  private let file = TemporaryFile()
  private let queries = LoggedQueries()

  private func context(values: Bool = false) throws -> ManagedObjectContext {
    let container = try PersistentContainer(
      model: .diary, store: .sqlite(at: file.url), log: queries.log(values: values))
    let context = container.newContext()
    for number in 0..<3 { _ = EmotionDiary(in: context, emotion: .happy, content: "secret \(number)") }
    try context.save()
    return context
  }

  @Test("each request says what it is, how many rows it has, its statement, and whether that was compiled before")
  func entries() throws {
    let context = try context()
    #expect(queries.entries.map(\.kind) == [.opening, .save])
    #expect(queries.entries.last?.rows == 3)
    queries.clear()
    for _ in 0..<2 { _ = try context.fetch(EmotionDiary.where { $0.content == "secret 1" }) }
    let entries = queries.entries
    #expect(entries.map(\.kind) == [.fetch, .fetch] && entries.map(\.rows) == [1, 1])
    #expect(entries.map(\.subject) == ["EmotionDiary", "EmotionDiary"])
    #expect(entries.first?.description.hasPrefix("fetch EmotionDiary, 1 row, ") == true)
    #expect(entries.flatMap(\.statements).map(\.isReused) == [false, true])
    #expect(entries.first?.statements.first?.text.contains("WHERE") == true)
    #expect(entries.allSatisfy { !$0.description.contains("secret") && $0.duration > .zero })
  }

  @Test("values are in it when they are asked for")
  func values() throws {
    let context = try context(values: true)
    queries.clear()
    _ = try context.fetch(EmotionDiary.where { $0.content == "secret 1" })
    #expect(queries.entries.first?.statements.first?.values == [.text("secret 1")])
  }

  @Test("a lazy load of a to-many is one request for all siblings")
  func members() throws {
    let context = try context()
    let diaries = try context.fetch(EmotionDiary.all)
    context.refreshAll()
    queries.clear()
    for diary in try context.fetch(EmotionDiary.all) { _ = diary.images.count }
    #expect(queries.entries.map(\.kind) == [.fetch, .memberKeys])
    #expect(queries.entries.last?.subject == "EmotionDiary.images")
    #expect(diaries.count == 3)
  }

  @Test("the environment variable asks for queries, and for values beside them")
  func environment() {
    #expect(QueryLog.wanted(by: "") == nil && QueryLog.wanted(by: "values") == nil)
    #expect(QueryLog.wanted(by: "queries")?.includesValues == false)
    #expect(QueryLog.wanted(by: "queries, values")?.includesValues == true)
  }

  @Test("an environment variable that asks for nothing is complained about, with what it may say")
  func complaints() {
    for setting in ["query", "queries,all", "values", "1"] {
      #expect(QueryLog.complaint(about: setting)?.contains("TRELLIS_LOG=\(setting)") == true)
      #expect(QueryLog.complaint(about: setting)?.contains("\"queries\"") == true)
    }
    for setting in ["", "queries", "queries, values", "values,queries"] {
      #expect(QueryLog.complaint(about: setting) == nil)
    }
  }

  @Test("explain names the index that is missing, and none where one serves or none could")
  func explaining() throws {
    let context = try context()
    let scan = try context.explain(EmotionDiary.where { $0.mood == "tired" }.sorted { $0.createdAt.descending })
    #expect(scan.scansWholeTable)
    #expect(scan.missingIndex?.modelLine == #""indexes": [["mood", "-createdAt"]]"#)
    #expect(scan.description.contains("scans the whole table EmotionDiary"))
    let search = try context.explain(EmotionDiary.where { $0.emotion == .happy }.sorted { $0.createdAt.descending })
    #expect(!search.scansWholeTable && search.missingIndex == nil)
    #expect(search.steps.first?.contains("USING INDEX") == true)
    let text = try context.explain(EmotionDiary.where { $0.content.contains("coffee") })
    #expect(text.scansWholeTable && text.missingIndex == nil)
  }
}
