import Foundation
import Testing
import Trellis
import TrellisDiaryModel
import TrellisTestSupport

@Suite("Lazy loading", .serialized) struct LazyLoadingTests {
  private let problems: ReportedErrors
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    let problems = ReportedErrors()
    self.problems = problems
    container = try PersistentContainer(model: .diary, store: .memory) { problems.add($0) }
    let writer = container.newContext()
    let tag = Tag(in: writer, name: "walk")
    for number in 0..<3 {
      let diary = EmotionDiary(in: writer, emotion: .happy, content: "\(number)")
      diary.tags.append(tag)
      _ = DiaryImage(in: writer, imagePath: "\(number).png", diary: diary)
    }
    try writer.save()
    context = container.newContext()
  }

  @Test("where it is allowed, nothing is said")
  func allowed() throws {
    for image in try context.fetch(DiaryImage.all) { _ = image.diary }
    try context.save()
    #expect(problems.messages.isEmpty)
  }

  @Test("where it is reported, the message names entity, relationship, siblings and the prefetch that helps")
  func reported() throws {
    context.lazyLoading = .reported
    for image in try context.fetch(DiaryImage.all) { #expect(image.diary != nil) }
    try context.save()
    #expect(
      problems.messages == [
        "DiaryImage.diary was loaded when it was used, of an object, which came with 2 siblings; "
          + "fetch DiaryImage with .prefetching { $0.diary }."
      ])
    #expect(problems.codes == [.lazyLoad])
  }

  @Test("where it is forbidden, the relationship is there, and the next fetch or save throws")
  func forbidden() throws {
    context.lazyLoading = .forbidden
    let diaries = try context.fetch(EmotionDiary.all)
    #expect(diaries.first?.images.count == 1)
    #expect(throws: ContextError.self) { try context.fetch(Tag.all) }
    #expect(try context.fetch(Tag.all).count == 1)
    #expect(diaries.first?.tags.map(\.name) == ["walk"])
    #expect(throws: ContextError.self) { try context.save() }
  }

  @Test("what was prefetched, over several steps too, is no lazy load")
  func prefetched() throws {
    context.lazyLoading = .forbidden
    for image in try context.fetch(DiaryImage.all.prefetching { $0.diary.tags }) {
      #expect(image.diary?.tags.map(\.name) == ["walk"])
    }
    let request = Tag.all.prefetching({ $0.diaries }, then: { $0.images })
    for tag in try context.fetch(request) { #expect(tag.diaries.flatMap { Array($0.images) }.count == 3) }
    try context.save()
    #expect(problems.messages.isEmpty)
  }

  @Test("the prefetch that helps begins at the request, over to-manys too")
  func way() throws {
    context.lazyLoading = .reported
    for tag in try context.fetch(Tag.all) { for diary in tag.diaries { _ = diary.images.count } }
    #expect(
      problems.messages.last?.hasSuffix("fetch Tag with .prefetching({ $0.diaries }, then: { $0.images }).") == true)
  }

  @Test("a request may be stricter than its context, what is found from its results included")
  func request() throws {
    let images = try context.fetch(DiaryImage.all.prefetching { $0.diary }.lazyLoading(.forbidden))
    _ = images.first?.diary?.tags.count
    #expect(throws: ContextError.self) { try context.save() }
    let other = container.newContext()
    _ = try other.fetch(DiaryImage.all).first?.diary
    try other.save()
    let one = try #require(try other.first(EmotionDiary.all.lazyLoading(.forbidden)))
    _ = one.images.count
    #expect(throws: ContextError.self) { try other.save() }
  }

  @Test("a fetch that is answered in memory loads for itself and says nothing")
  func evaluating() throws {
    context.lazyLoading = .forbidden
    _ = EmotionDiary(in: context, emotion: .calm, content: "new")
    #expect(try context.fetch(DiaryImage.where { $0.diary.tags.any { $0.name == "walk" } }).count == 3)
    try context.save()
    #expect(problems.messages.isEmpty)
  }

  @Test("work that may not load lazily throws by itself")
  func strictly() throws {
    #expect(throws: ContextError.self) {
      try container.withoutLazyLoading { context in try context.first(DiaryImage.all)?.diary?.content }
    }
    let request = DiaryImage.all.prefetching { $0.diary }
    #expect(try container.withoutLazyLoading { try $0.first(request)?.diary?.content } == "0")
  }
}
