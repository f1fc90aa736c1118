import Testing
import Trellis
import TrellisDiaryModel

/// The samples of `Docs/Conflicts.md`, word by word.
@Suite("The guide to several writers") struct ConflictGuideTests {
  let container: PersistentContainer
  let context: ManagedObjectContext
  let diary: EmotionDiary

  init() throws {
    container = try PersistentContainer(model: .diary, store: .memory)
    context = container.newContext()
    diary = EmotionDiary(in: context, emotion: .happy, content: "read", mood: "")
    try context.save()
  }

  private func writeElsewhere() throws {
    let other = container.newContext()
    try other.first(EmotionDiary.all)?.content = "theirs"
    try other.save()
  }

  @Test("policies") func policies() throws {
    diary.content = "mine"
    try writeElsewhere()
    context.mergePolicy = .objectTrump
    try context.save(mergePolicy: .storeTrump)
    #expect(diary.content == "theirs")
  }

  @Test("the three values") func values() throws {
    diary.content = "mine"
    try writeElsewhere()
    do {
      try context.save()
    } catch let conflict as SaveConflict {
      for row in conflict.rows {
        guard let mine = row.mine(EmotionDiary.Snapshot.self), let theirs = row.theirs(EmotionDiary.Snapshot.self)
        else { continue }
        print(row.properties, "mine:", mine.content, "theirs:", theirs.content)
      }
      try context.save(mergePolicy: .objectTrump)
    }
    #expect(try container.newContext().first(EmotionDiary.all)?.content == "mine")
  }

  @Test("again, on fresh values") func again() throws {
    try context.saveRetrying(atMost: 20) {
      guard let diary = try context.first(EmotionDiary.all) else { return }
      diary.mood = (diary.mood ?? "") + "!"
    }
    #expect(diary.mood == "!")
  }

  @Test("an import that looks for nothing") func importing() throws {
    for name in ["비", "산책", "비"] { _ = Tag(in: context, name: name) }
    try context.save(mergePolicy: .objectTrump)
    #expect(try context.count(Tag.all) == 2)
    let tag = Tag(in: context, name: "비")
    try context.save(mergePolicy: .objectTrump)
    let kept = try tag.replacedBy.flatMap { try context.object(with: $0) } ?? tag
    print(kept.diaries.count)
    #expect(kept !== tag && kept.name == "비")
  }
}
