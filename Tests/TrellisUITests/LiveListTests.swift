import Foundation
import Synchronization
import Testing
import Trellis
import TrellisDiaryModel
import TrellisTestSupport
import TrellisUI

@MainActor @Suite("A list shows the results of its request") struct LiveListTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let other: ManagedObjectContext
  private let queries = QueryCount()

  private final class QueryCount: Sendable {
    let total = Atomic(0)
  }

  init() throws {
    let queries = queries
    container = try PersistentContainer(
      model: .diary, store: .memory,
      log: QueryLog(includesValues: false) { _ in queries.total.add(1, ordering: .relaxed) })
    context = container.mainContext
    context.isObserving = true
    other = container.newContext()
  }

  private func day(_ month: Int, _ day: Int) -> Date {
    Calendar.current.date(from: DateComponents(year: 2026, month: month, day: day, hour: 12)) ?? .distantPast
  }

  /// Saves entries of another context, and merges them.
  @discardableResult private func write(_ texts: String..., emotion: Emotion = .calm) throws -> [ObjectID<EmotionDiary>]
  {
    let made = texts.map { EmotionDiary(in: other, emotion: emotion, content: $0) }
    try other.save()
    context.mergeChanges()
    return made.map(\.objectID)
  }

  private func change(_ id: ObjectID<EmotionDiary>, _ body: (EmotionDiary) throws -> Void) throws {
    try body(try #require(try other.object(with: id)))
    try other.save()
    context.mergeChanges()
  }

  private let byText = EmotionDiary.all.sorted { $0.content }

  // MARK: Evaluations

  @Test("each change of the list evaluates its reader once, and nothing else does") func oncePerChange() throws {
    let ids = try write("b", "d")
    let entries = LiveListController(EmotionDiary.where { $0.emotion == .calm }.sorted { $0.content }, in: context)
    var shown: [String] = []
    let view = Evaluations { shown = entries.list.map(\.content) }
    #expect(view.settled() == 0 && shown == ["b", "d"])
    try write("c")
    #expect(view.settled() == 1 && shown == ["b", "c", "d"])
    try write("a", "e", "f")
    #expect(view.settled() == 1 && shown == ["a", "b", "c", "d", "e", "f"])
    try change(ids[0]) { $0.content = "z" }
    #expect(view.settled() == 1 && shown == ["a", "c", "d", "e", "f", "z"])
    try change(ids[1]) { try other.delete($0) }
    #expect(view.settled() == 1 && shown == ["a", "c", "e", "f", "z"])
    // Saves that concern no object of the list, and none at all.
    try write("sad", emotion: .sad)
    _ = Tag(in: other, name: "sea")
    try other.save()
    context.mergeChanges()
    context.mergeChanges()
    #expect(view.settled() == 0)
  }

  @Test("a reader of the identifiers alone is not evaluated for an unsaved edit, and a row is, once") func rows() throws
  {
    let ids = try write("a", "b")
    let entries = LiveListController(byText, in: context)
    let list = Evaluations { _ = entries.list.ids }
    let rows = try ids.map { id in
      let entry = try #require(try context.object(with: id))
      return Evaluations { _ = entry.content }
    }
    try #require(try context.object(with: ids[1])).content = "edited"
    #expect(list.settled() == 0 && rows.map { $0.settled() } == [0, 1])
    try context.save()
    #expect(list.settled() == 1)
  }

  @Test("the main context's own saves count as one change, too") func ownSave() throws {
    let entries = LiveListController(byText, in: context)
    let view = Evaluations { _ = entries.list.ids }
    _ = EmotionDiary(in: context, emotion: .happy, content: "a")
    #expect(view.settled() == 0, "the list shows what is saved")
    try context.save()
    #expect(view.settled() == 1 && entries.list.count == 1)
    try context.save()
    #expect(view.settled() == 0)
  }

  // MARK: Requests that change

  @Test("an equal request is not run again, and another one is run once, for one evaluation") func changingRequests()
    throws
  {
    try write("apple", "pear", "plum")
    func request(_ word: String) -> EmotionDiary.FetchRequest {
      EmotionDiary.where { $0.content.contains(word) }.sorted { $0.content }
    }
    let entries = LiveListController(request("p"), in: context)
    var shown: [EmotionDiary] = []
    let view = Evaluations { shown = Array(entries.list) }
    let first = shown
    #expect(first.map(\.content) == ["apple", "pear", "plum"])
    var before = queries.total.load(ordering: .relaxed)
    entries.request = request("p")
    #expect(view.settled() == 0 && queries.total.load(ordering: .relaxed) == before)
    before = queries.total.load(ordering: .relaxed)
    entries.request = request("pl")
    #expect(queries.total.load(ordering: .relaxed) == before + 1)
    #expect(view.settled() == 1 && shown.map(\.content) == ["apple", "plum"])
    #expect(shown[0] === first[0] && shown[1] === first[2], "the same objects")
    for word in ["plu", "pl", "p"] { entries.request = request(word) }
    #expect(view.settled() == 1 && shown.elementsEqual(first, by: ===))
    // What the former requests have found is followed no more.
    try change(first[1].objectID) { $0.content = "pearl" }
    #expect(view.settled() == 1)
  }

  @Test("a request that fails leaves the list as it is, still up to date, with the error until one succeeds")
  func failures() throws {
    try write("a")
    let entries = LiveListController(byText, in: context)
    var texts: [String] = []
    var failed = false
    let view = Evaluations {
      texts = entries.list.map(\.content)
      failed = entries.list.error != nil
    }
    entries.request = EmotionDiary.where("contents == 'a'")
    #expect(view.settled() == 1 && texts == ["a"] && failed)
    #expect(entries.list.error is PredicateFormatError)
    try write("b")
    #expect(view.settled() == 1 && texts == ["a", "b"] && failed)
    entries.request = EmotionDiary.where { $0.content == "b" }
    #expect(view.settled() == 1 && texts == ["b"] && !failed)
  }

  @Test("a list whose first request fails is empty, and can be asked again") func firstFailure() throws {
    try write("a")
    let entries = LiveListController(EmotionDiary.where("contents == 'a'"), in: context)
    #expect(entries.list.isEmpty && entries.list.ids.isEmpty && entries.list.error != nil && !entries.list.hasMore)
    entries.request = byText
    #expect(entries.list.count == 1 && entries.list.error == nil)
  }

  @Test("the view that gives the request is not notified of it, other readers are, and both are of later changes")
  func owner() throws {
    try write("a", "b")
    let entries = LiveListController(byText, in: context)
    let reader = Evaluations { _ = entries.list.ids }
    let asker = Evaluations { _ = entries.request }
    entries.request = EmotionDiary.where { $0.content == "a" }
    #expect(reader.settled() == 1 && asker.settled() == 1)
    try write("a")
    #expect(reader.settled() == 1 && asker.settled() == 0)
  }

  // MARK: Pages

  @Test("a list in pages says whether there is more, exactly, and grows by a page", arguments: 0...7)
  func pages(count: Int) throws {
    for number in 0..<count { _ = EmotionDiary(in: other, emotion: .calm, content: "\(number)") }
    try other.save()
    let entries = LiveListController(byText, pageSize: 3, in: context)
    let view = Evaluations { _ = entries.list.ids }
    for page in 1...3 {
      #expect(entries.list.map(\.content) == (0..<min(3 * page, count)).map(String.init))
      #expect(entries.list.hasMore == (count > 3 * page))
      let grows = entries.list.hasMore
      entries.loadMore()
      #expect(view.settled() == (grows ? 1 : 0))
    }
  }

  @Test("a page stays full while its objects come and go") func fullPage() throws {
    let ids = try write("b", "c", "d", "e")
    let entries = LiveListController(byText, pageSize: 2, in: context)
    let view = Evaluations { _ = entries.list.ids }
    #expect(entries.list.map(\.content) == ["b", "c"] && entries.list.hasMore)
    try write("a")
    #expect(view.settled() == 1 && entries.list.map(\.content) == ["a", "b"])
    for id in ids.prefix(3) { try change(id) { try other.delete($0) } }
    #expect(view.settled() == 1 && entries.list.map(\.content) == ["a", "e"] && !entries.list.hasMore)
    entries.loadMore()
    #expect(view.settled() == 0, "there is no more")
    try write("f")
    #expect(view.settled() == 1 && entries.list.hasMore)
    entries.loadMore()
    #expect(view.settled() == 1 && entries.list.map(\.content) == ["a", "e", "f"])
    entries.request = EmotionDiary.all.sorted { $0.content.descending }
    #expect(entries.list.map(\.content) == ["f", "e"], "another request begins with its first page")
  }

  // MARK: Sections

  @Test("sections have the values of an attribute, the months of a date, or the initials of a name") func sections()
    throws
  {
    for (month, text) in [(1, "나무"), (1, "가을"), (3, "apple"), (3, "바다")] {
      let entry = EmotionDiary(in: other, emotion: month == 1 ? .sad : .happy, content: text)
      entry.createdAt = day(month, 5)
    }
    try other.save()
    let emotions = LiveListController(byText, sections: .by { $0.emotion }, in: context)
    #expect(emotions.list.sections.map(\.value) == [.happy, .sad])
    let months = LiveListController(
      EmotionDiary.all.sorted { $0.createdAt.descending }, sections: .by { $0.createdAt.month() }, in: context)
    #expect(months.list.sections.map(\.count) == [2, 2])
    #expect(months.list.sections.first.map { $0.value.contains(day(3, 5)) } == true)
    let names = LiveListController(
      EmotionDiary.all, sections: .by { $0.content.initial(in: Locale(identifier: "ko")) }, in: context)
    #expect(names.list.sections.map(\.value) == ["ㄱ", "ㄴ", "ㅂ", "A"])
    #expect(names.list.sections.map { $0.map(\.content) } == [["가을"], ["나무"], ["바다"], ["apple"]])
    #expect(names.list.sections.flatMap(\.ids) == names.list.ids)
  }

  @Test("a section keeps its identity, and the last one shows the part that the page has") func sectionsInPages() throws
  {
    for (text, emotion) in [("a", Emotion.happy), ("b", .happy), ("c", .sad), ("d", .sad)] {
      try write(text, emotion: emotion)
    }
    let entries = LiveListController(byText, sections: .by { $0.emotion }, pageSize: 3, in: context)
    let view = Evaluations { _ = entries.list.sections.count }
    func shown() -> [String] { entries.list.sections.map { $0.map(\.content).joined() } }
    #expect(shown() == ["ab", "c"] && entries.list.hasMore)
    let ids = entries.list.sections.map(\.id)
    entries.loadMore()
    #expect(view.settled() == 1 && shown() == ["ab", "cd"] && entries.list.sections.map(\.id) == ids)
    try write("e", emotion: .angry)
    #expect(view.settled() == 1 && shown() == ["e", "ab", "cd"])
    #expect(Array(entries.list.sections.map(\.id).dropFirst()) == ids)
  }

  @Test("sections whose values Swift holds for equal, and the store does not, have identities of their own")
  func equalSections() throws {
    let composed = "가"
    for text in [composed, composed.decomposedStringWithCanonicalMapping] { try write(text) }
    let entries = LiveListController(EmotionDiary.all, sections: .by { $0.content }, in: context)
    let sections = entries.list.sections
    #expect(sections.count == 2 && sections[0].value == sections[1].value && Set(sections.map(\.id)).count == 2)
  }

  // MARK: A value

  @Test("what a list has shown stays as it was, with readable objects, whatever is deleted") func values() throws {
    let ids = try write("a", "b", "c")
    let entries = LiveListController(byText, sections: .by { $0.content }, in: context)
    let before = entries.list
    let held = before[1]
    #expect(before.map(\.content) == ["a", "b", "c"])
    for id in ids { try change(id) { try other.delete($0) } }
    #expect(entries.list.isEmpty)
    #expect(before.count == 3 && before.ids == ids && before.allSatisfy(\.isDeleted))
    #expect(held.content == "b" && held.isDeleted)
    #expect(before.sections.map { $0.count } == [1, 1, 1] && before.sections.allSatisfy { $0.allSatisfy(\.isDeleted) })
  }

  @Test("objects that nobody has loaded before they were deleted read as deleted, without a trap") func neverLoaded()
    throws
  {
    let ids = try write("a", "b")
    let entries = LiveListController(byText, in: context)
    let before = entries.list
    for id in ids { try change(id) { try other.delete($0) } }
    #expect(before.count == 2 && before.allSatisfy(\.isDeleted))
  }

  // MARK: News

  @Test("the changes since the list was seen are counted, each object once") func news() throws {
    let ids = try write("a", "b", "c")
    let entries = LiveListController(byText, in: context)
    let view = Evaluations { _ = entries.list.news }
    #expect(entries.list.news.isEmpty)
    let new = try write("d", "e")
    try change(ids[0]) { $0.content = "z" }
    try change(ids[0]) { $0.content = "y" }
    try change(ids[1]) { try other.delete($0) }
    try change(new[1]) { try other.delete($0) }
    #expect(view.settled() == 1)
    #expect(entries.list.news.inserted == [new[0]] && entries.list.news.updated == [ids[0]])
    #expect(entries.list.news.removed == [ids[1]])
    entries.markSeen()
    #expect(view.settled() == 1 && entries.list.news.isEmpty)
    entries.markSeen()
    #expect(view.settled() == 0)
    try write("f")
    #expect(entries.list.news.inserted.count == 1)
    entries.request = EmotionDiary.all
    #expect(entries.list.news.isEmpty, "what another request finds is no news")
  }

  @Test("what a further page shows is no news, and what was news stays so") func newsInPages() throws {
    try write("b", "c", "d", "e")
    let entries = LiveListController(byText, pageSize: 2, in: context)
    let new = try write("a")
    entries.loadMore()
    #expect(entries.list.count == 4 && entries.list.news.inserted == Set(new))
  }

  @Test("what comes and goes beyond the page is no news, nor is what the page pushes out") func newsBeyondThePage()
    throws
  {
    try write("b", "c")
    let entries = LiveListController(byText, pageSize: 2, in: context)
    let last = try write("d", "e")
    #expect(entries.list.news.isEmpty && entries.list.hasMore)
    let first = try write("a")
    #expect(entries.list.news.inserted == Set(first) && entries.list.news.removed.isEmpty)
    for id in last { try change(id) { try other.delete($0) } }
    try change(first[0]) { try other.delete($0) }
    #expect(entries.list.map(\.content) == ["b", "c"] && entries.list.news.isEmpty)
  }

  @Test("a page of any size is shown", arguments: [Int.min, 0, 1, Int.max - 1, Int.max]) func pageSizes(size: Int)
    throws
  {
    try write("a", "b")
    let entries = LiveListController(byText, pageSize: size, in: context)
    for _ in 0..<3 { entries.loadMore() }
    #expect(entries.list.count == 2 && !entries.list.hasMore)
  }

  // MARK: Following

  @Test("one who follows receives the list, each change with the objects it concerns, and nothing after the end")
  func following() async throws {
    let ids = try write("a", "b")
    let entries = LiveListController(byText, in: context)
    var received: [(texts: [String], updated: [ObjectID<EmotionDiary>])] = []
    let following = Task {
      await entries.follow { received.append(($0.list.map(\.content), $0.updated)) }
    }
    func waitFor(_ count: Int) async {
      while received.count < count { await Task.yield() }
    }
    await waitFor(1)
    try change(ids[1]) { $0.content = "bb" }
    await waitFor(2)
    try write("c")
    try change(ids[0]) { $0.content = "aa" }
    await waitFor(3)
    entries.request = EmotionDiary.where { $0.content == "c" }
    await waitFor(4)
    #expect(received.map(\.texts) == [["a", "b"], ["a", "bb"], ["aa", "bb", "c"], ["c"]])
    #expect(received.map(\.updated) == [[], [ids[1]], [ids[0]], []])
    following.cancel()
    await following.value
    try write("c")
    for _ in 0..<10 { await Task.yield() }
    #expect(received.count == 4)
  }

  // MARK: Memory

  @Test("a list that nobody holds is released, and its results with it") func release() throws {
    weak var controller: LiveListController<EmotionDiary.Columns, Never>?
    do {
      let entries = LiveListController(byText, in: context)
      controller = entries
      _ = entries.list
    }
    #expect(controller == nil)
  }

  // MARK: Randomly

  @Test("whatever is saved and asked for, the list is what a fetch finds, after at most one evaluation for each step")
  func random() throws {
    let seed = TestSettings.seed()
    var numbers = SeededGenerator(seed: seed)
    let words = ["a", "b", "c", ""]
    var word = ""
    var shownCount = 4
    func request(_ word: String) -> EmotionDiary.FetchRequest {
      EmotionDiary.where { $0.content.contains(word) }.sorted {
        $0.content
        $0.createdAt
      }
    }
    let entries = LiveListController(request(""), sections: .by { $0.emotion }, pageSize: 4, in: context)
    var shown: [ObjectID<EmotionDiary>] = []
    let view = Evaluations { shown = entries.list.ids }
    for step in 1...400 {
      let before = shown
      switch Int.random(in: 0..<10, using: &numbers) {
      case 0:
        let next = words[Int.random(in: 0..<4, using: &numbers)]
        if next != word { shownCount = 4 }
        word = next
        entries.request = request(next)
      case 1:
        if entries.list.hasMore { shownCount += 4 }
        entries.loadMore()
      default:
        let writer = Bool.random(using: &numbers) ? other : context
        for _ in 0...Int.random(in: 0..<3, using: &numbers) {
          let known = try writer.fetch(EmotionDiary.all)
          let text = String(repeating: words[Int.random(in: 0..<3, using: &numbers)], count: 2)
          let emotion = Emotion.allCases[Int.random(in: 0..<4, using: &numbers)]
          let entry = known.randomElement(using: &numbers)
          switch Int.random(in: 0..<4, using: &numbers) {
          case 0 where known.count > 3: if let entry { try writer.delete(entry) }
          case 1: entry?.content = text
          case 2: entry?.emotion = emotion
          default: _ = EmotionDiary(in: writer, emotion: emotion, content: text)
          }
        }
        try writer.save(mergePolicy: .objectTrump)
        context.mergeChanges()
        other.mergeChanges()
      }
      let evaluations = view.settled()
      let all = try context.fetch(
        EmotionDiary.where { $0.content.contains(word) }.sorted {
          $0.emotion
          $0.content
          $0.createdAt
        })
      let expected = all.prefix(shownCount).map(\.objectID)
      try #require(entries.list.ids == expected, "seed \(seed), step \(step)")
      try #require(entries.list.hasMore == (all.count > shownCount), "seed \(seed), step \(step)")
      try #require(entries.list.sections.flatMap(\.ids) == expected, "seed \(seed), step \(step)")
      try #require(
        entries.list.sections.allSatisfy { section in section.allSatisfy { $0.emotion == section.value } },
        "seed \(seed), step \(step)")
      try #require(evaluations <= 1 && (evaluations == 1 || shown == before), "seed \(seed), step \(step)")
      try #require(shown == expected, "seed \(seed), step \(step): the reader has seen it")
    }
  }
}
