import Testing
import TrellisModel
@testable import TrellisStorage

/// What SQLite does with the statements: an index that is not used makes a fetch a thousand times slower.
@Suite("Plans of SQLite") struct PlanTests {
  let store: TestStore
  let layout: SQLiteLayout

  init() throws {
    store = try TestStore(TestModels.diary)
    layout = SQLiteLayout(store.model)
  }

  private func plan(_ text: String) throws -> String {
    try store.connection.leased { try $0.database.plan(of: text) }
  }

  private func plan(
    _ entity: String, _ predicate: QueryPredicate?, sort: [SortKey] = [], limit: Int? = nil
  ) throws -> String {
    let request = StoreRequest(
      entity: try store.entity(entity).index, predicate: predicate, sort: sort, limit: limit)
    return try plan(RequestStatement(request, for: .rows, in: layout).text)
  }

  private func term(
    _ path: PropertyPath, _ relation: ComparisonOperator, _ value: StoredValue, _ kind: ValueKind
  ) -> QueryPredicate {
    .comparison(Comparison(.path(path), relation, .value(value), kind: kind))
  }

  @Test("equality and the order after it come from one index, without sorting")
  func indexedOrder() throws {
    let found = try plan(
      "EmotionDiary", term(store.path("EmotionDiary", "emotion"), .equal, .text("happy"), .text),
      sort: [SortKey(store.path("EmotionDiary", "createdAt"), descending: true, kind: .integer)], limit: 1)
    #expect(found.contains("SEARCH t0 USING INDEX _index.EmotionDiary.emotion.createdAt (emotion=?)"), "\(found)")
    #expect(!found.contains("TEMP B-TREE"), "\(found)")
  }

  @Test("prefixes, lists and unique keys are searched")
  func searches() throws {
    let prefix = try plan("DiaryImage", term(store.path("DiaryImage", "imagePath"), .hasPrefix, .text("a"), .text))
    #expect(
      prefix.contains("SEARCH t0 USING INDEX _index.DiaryImage.imagePath (imagePath>? AND imagePath<?)"), "\(prefix)")
    let list = try plan("Tag", .isIn(.path(store.path("Tag", "name")), [.text("a")], .text))
    #expect(list.contains("SEARCH t0 USING INDEX _unique.Tag.name (name=?)"), "\(list)")
    let unique = try plan("EmotionDiary", term(store.path("EmotionDiary", "id"), .equal, .blob([1]), .blob))
    #expect(unique.contains("USING INDEX _unique.EmotionDiary.id"), "\(unique)")
  }

  @Test("a condition on a partner is searched from the partner's index")
  func path() throws {
    let found = try plan(
      "DiaryImage", term(store.path("DiaryImage", "diary", "emotion"), .equal, .text("happy"), .text))
    #expect(found.contains("INDEX _index.EmotionDiary.emotion.createdAt (emotion=?)"), "\(found)")
    #expect(found.contains("USING INDEX _reference.DiaryImage.diary"), "\(found)")
  }

  @Test("a condition on members is searched in the index of their references")
  func members() throws {
    let inner = term(try store.path("DiaryImage", "imagePath", variable: 1), .hasSuffix, .text(".png"), .text)
    let found = try plan(
      "EmotionDiary", .quantified(.any, store.path("EmotionDiary", "images"), variable: 1, inner))
    #expect(found.contains("SEARCH t1 USING INDEX _reference.DiaryImage.diary (diary=?)"), "\(found)")
  }

  @Test("members of many owners come from their index, without sorting")
  func owners() throws {
    let images = try store.number("EmotionDiary", "images")
    let texts = try #require(MemberStatements(layout, entity: images.entity, property: images.property))
    for text in [texts.rows, texts.keys] {
      let found = try plan(text)
      #expect(found.contains("_reference.DiaryImage.diary (diary=?)") && !found.contains("TEMP B-TREE"), "\(found)")
    }
    let diaries = try store.number("Tag", "diaries")
    let reversed = try #require(MemberStatements(layout, entity: diaries.entity, property: diaries.property))
    let found = try plan(reversed.rows)
    #expect(found.contains("INDEX _reverse.EmotionDiary_tags (tags=?)") && !found.contains("TEMP B-TREE"), "\(found)")
  }
}
