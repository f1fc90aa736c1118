import Foundation
import Testing
import Trellis
import TrellisDiaryModel
import TrellisTestSupport

// The samples of Docs/Predicates.md about typed conditions and formats, block by block, each with what it finds.

@Suite("The samples of the guide to predicates") struct PredicateGuideTests {
  private let context: ManagedObjectContext
  private let keyword = "café"

  init() throws {
    context = try PersistentContainer(model: .diary, store: .memory).newContext()
    let walk = EmotionDiary(in: context, emotion: .happy, content: "a walk")
    let rain = EmotionDiary(in: context, emotion: .sad, content: "rain, Cafe", mood: "low")
    for number in 0..<4 { _ = DiaryImage(in: context, imagePath: "\(number).PNG", diary: number < 2 ? walk : rain) }
    rain.tags.append(Tag(in: context, name: "private"))
    try context.save()
  }

  @Test("the ways of writing a predicate")
  func ways() throws {
    let typed = EmotionDiary.where { $0.emotion == .happy }
    let text = EmotionDiary.where("content CONTAINS[cd] \(keyword) OR emotion == %@", "happy")
    let both = EmotionDiary.where { $0.emotion == .happy }.where("images.@count > %d", 1)
    let either = EmotionDiary.where { $0.emotion == .happy }.or("images.@count > %d", 1)
    #expect(try [typed, text, both, either].map { try context.count($0) } == [1, 2, 1, 2])
  }

  @Test("typed conditions")
  func conditions() throws {
    let begin: Date? = nil
    let found = EmotionDiary.where {
      $0.emotion == .happy || $0.mood == nil
      $0.content.contains(keyword, [.caseInsensitive, .diacriticInsensitive])
      $0.images.any { $0.imagePath.hasSuffix(".png") }
      if let begin { $0.createdAt >= begin }
    }
    #expect(try context.count(found) == 0)
  }

  @Test("lists of conditions")
  func lists() throws {
    let words = ["coffee", "tea"]
    let either = EmotionDiary.where { diary in QueryCondition.any(of: words.map { diary.content.contains($0) }) }
    #expect(try context.count(either) == 0)
  }

  @Test("arithmetic")
  func arithmetic() throws {
    let world = try EntryWorld(.memory)
    let now = Date(timeIntervalSince1970: 0)
    let large = Entry.where { $0.amount * 2 > 10 }
    let recent = Entry.where { $0.day + 3600 > now }
    let ledgers = Ledger.where { $0.entries.sum { $0.amount * $0.amount } > 100 }
    let byDistance = Entry.all.sorted { ($0.amount - 10).absolute }
    #expect(try world.context.first(byDistance)?.amount == world.context.fetch(large).first?.amount)
    #expect(try world.context.count(large) == 1 && world.context.count(recent) == 4)
    #expect(try world.context.count(ledgers) == 1)
  }

  @Test("formats")
  func formats() throws {
    let byEmotion: PredicateFormat = "emotion == $emotion AND \(key: "createdAt") < now()"
    let happy = try context.fetch(EmotionDiary.where(byEmotion.binding(["emotion": Emotion.happy])))
    let pictured = try context.fetch(
      EmotionDiary.where(
        "SUBQUERY(images, $i, $i.imagePath LIKE[c] '*.png').@count > 0 AND NONE tags.name IN %@", ["private"]))
    #expect(happy.map(\.content) == ["a walk"] && pictured == happy)
    let early = try context.fetch(
      EmotionDiary.where(
        "createdAt < CAST(CAST(now(), 'NSNumber') - 60, 'NSDate') AND modulus:by:(length(content), 2) == 0"))
    let named = try context.fetch(EmotionDiary.where("TERNARY(mood == nil, content, mood) IN %@", ["low", "a walk"]))
    let either = try context.fetch(
      EmotionDiary.where("ANY {'happy', 'calm'} == emotion AND max({images.@count, 1}) < 9"))
    #expect(early.isEmpty && named.count == 2 && either == happy)
  }

  @Test("a request's conditions as a format")
  func printing() throws {
    let request = EmotionDiary.where { $0.mood == nil }.where("images.@count > %d", 1)
    print(try context.formatText(of: request))  // mood == NIL AND images.@count > 1
    let text = try context.formatText(of: request)
    #expect(text == "mood == NIL AND images.@count > 1")
    let again = EmotionDiary.where(PredicateFormat(verbatim: text))
    #expect(try context.ids(of: again) == context.ids(of: request) && context.formatText(of: again) == text)
    #expect(try context.formatText(of: EmotionDiary.all) == "TRUEPREDICATE")
  }

  @Test("every sample of the guide but that about #Predicate is among those that are compiled and run")
  func compiled() throws {
    let missing = try GuideText("Predicates.md").samples(missingFrom: #filePath)
    #expect(missing.filter { !$0.contains("#Predicate") } == [])
  }
}
