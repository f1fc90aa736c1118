import Foundation
import Trellis
import TrellisDiaryModel

/// Runs through a diary's life on a new file, and prints each step with its Swift code, to show what Trellis does.
@MainActor struct Story {
  private let teller = Teller()
  private let folder = FileManager.default.temporaryDirectory.appending(path: "trellis-diary-\(NSUserName())")
  private var file: URL { folder.appending(path: "diary.db") }

  func play() async throws {
    try? FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    print("The story of a diary, told by Trellis. Indented further is the Swift that is at work.")
    try await tell()
    print(
      """

      The file is \(file.path). The next story begins it anew. Until then, look into it:
        sqlite3 '\(file.path)' .schema
        sqlite3 '\(file.path)' 'select _id, emotion, content from EmotionDiary'
      """)
  }

  private func tell() async throws {
    try write()
    let container = try PersistentContainer(model: .diary, store: .sqlite(at: file))
    let context = container.mainContext
    try read(context)
    try query(context)
    try refuse(context)
    try edit(context)
    try await workBeside(container)
    try delete(context)
  }

  // MARK: Writing

  private func write() throws {
    teller.chapter("1. Objects, related at once")
    let container = try PersistentContainer(model: .diary, store: .sqlite(at: file))
    let context = container.mainContext
    teller.code(
      """
      let diary = EmotionDiary(in: context, emotion: .happy, content: "산책하고 커피")
      let picture = DiaryImage(in: context, imagePath: "1.png")
      diary.images.append(picture)
      diary.tags = [walk, coffee]            // the tags 산책 and 커피
      """)
    let (walk, coffee) = (Tag(in: context, name: "산책"), Tag(in: context, name: "커피"))
    let diary = EmotionDiary(in: context, emotion: .happy, content: "산책하고 커피", createdAt: day(1))
    let picture = DiaryImage(in: context, imagePath: "1.png")
    diary.images.append(picture)
    diary.tags = [walk, coffee]
    teller.show("picture.diary is the diary, although only diary.images was set", picture.diary === diary)
    teller.show("the tag 커피 is on so many days", coffee.diaries.count)

    writeMore(context, coffee)
    teller.say("Two more days follow, with two pictures.")
    teller.code("try context.save()")
    teller.show("objects that waited for the save", context.insertedObjects.count)
    try context.save()
    teller.show("saved in one transaction; anything left to save", context.hasChanges)
  }

  private func writeMore(_ context: ManagedObjectContext, _ coffee: Tag) {
    let rainy = EmotionDiary(in: context, emotion: .calm, content: "비가 와서 책을 읽었다", createdAt: day(2), mood: "조용함")
    for name in ["2.png", "3.jpg"] { DiaryImage(in: context, imagePath: name).diary = rainy }
    let friends = EmotionDiary(in: context, emotion: .happy, content: "친구와 커피", createdAt: day(3))
    friends.tags.append(coffee)
  }

  // MARK: Reading

  private func read(_ context: ManagedObjectContext) throws {
    teller.chapter("2. The same graph, from the file")
    teller.code("for diary in try context.fetch(EmotionDiary.all.sorted { $0.createdAt }) { print(diary.summary) }")
    for diary in try context.fetch(EmotionDiary.all.sorted { $0.createdAt }) { teller.say(diary.summary) }
    teller.say("(summary is written by hand, in Models/Diary/EmotionDiary+Summary.swift.)")

    teller.chapter("3. The image feed: each picture knows its diary")
    teller.code(
      """
      for image in try context.fetch(DiaryImage.all) {
        print(image.imagePath, image.diary?.content ?? "-")
      }
      """)
    for image in try context.fetch(DiaryImage.all) { teller.say("\(image.imagePath) \(image.diary?.content ?? "-")") }
    teller.say("(The diaries of all pictures came in one statement, not in one for each picture.)")
  }

  // MARK: Queries

  private func query(_ context: ManagedObjectContext) throws {
    teller.chapter("4. Questions")
    teller.code("EmotionDiary.where { $0.emotion == .happy }.sorted { $0.createdAt.descending }")
    let happy = EmotionDiary.where { $0.emotion == .happy }.sorted { $0.createdAt.descending }
    teller.show("happy days, newest first", try context.fetch(happy).map(\.content))
    teller.code("try context.first(EmotionDiary.latest(emotion: .happy))   // declared in the model")
    teller.show(
      "the latest of them, one row read", try context.first(EmotionDiary.latest(emotion: .happy))?.content ?? "-")

    teller.code("DiaryImage.where { $0.diary.emotion == .calm }.sorted { $0.imagePath }")
    let feed = DiaryImage.where { $0.diary.emotion == .calm }.sorted { $0.imagePath }
    teller.show("pictures of calm days", try context.fetch(feed).map(\.imagePath))

    teller.code("EmotionDiary.where { $0.content.contains(\"커피\") || $0.emotion == .calm }")
    let found = EmotionDiary.where { $0.content.contains("커피") || $0.emotion == .calm }
    teller.show("days with 커피, and calm ones", try context.fetch(found).map(\.content))

    teller.code("EmotionDiary.where { $0.images.any { $0.imagePath.hasSuffix(\".png\") } }")
    let withPNG = EmotionDiary.where { $0.images.any { $0.imagePath.hasSuffix(".png") } }
    teller.show("days with a PNG", try context.fetch(withPNG).map(\.content))

    teller.code("try context.count(EmotionDiary.where { $0.tags.count >= 2 })")
    teller.show("days with two tags or more", try context.count(EmotionDiary.where { $0.tags.count >= 2 }))
  }

  // MARK: Rules

  private func refuse(_ context: ManagedObjectContext) throws {
    teller.chapter("5. Rules hold at save, and nothing is half written")
    teller.code(
      """
      let empty = EmotionDiary(in: context, emotion: .sad, content: "")
      for number in 1...11 { empty.images.append(DiaryImage(in: context, imagePath: "\\(number).png")) }
      do { try context.save() } catch let error as ValidationError { … error.failures … }
      """)
    let empty = EmotionDiary(in: context, emotion: .sad, content: "")
    for number in 1...11 { empty.images.append(DiaryImage(in: context, imagePath: "\(number).png")) }
    do {
      try context.save()
    } catch let error as ValidationError {
      for failure in error.failures { teller.show("refused", failure) }
    }
    teller.code("context.rollback()")
    context.rollback()
    teller.show("anything left to save", context.hasChanges)
  }

  private func edit(_ context: ManagedObjectContext) throws {
    teller.chapter("6. An edit, and what was there before")
    guard let diary = try context.first(EmotionDiary.where { $0.emotion == .calm }) else { return }
    teller.code("diary.content = \"비가 그쳤다\"")
    diary.content = "비가 그쳤다"
    teller.show("diary.changedProperties", diary.changedProperties)
    teller.show("diary.committed?.content", diary.committed?.content ?? "-")
    teller.code("try context.save()")
    try context.save()
    teller.show("diary.changedProperties", diary.changedProperties)
  }

  // MARK: Background work

  private func workBeside(_ container: PersistentContainer) async throws {
    teller.chapter("7. Work beside the main actor: only values come back")
    teller.code(
      """
      let days = try await container.perform { context in
        EmotionDiary(in: context, emotion: .angry, content: "버스를 놓쳤다").tags = [Tag(in: context, name: "출근")]
        try context.save()
        return try context.fetch(EmotionDiary.all).map(\\.snapshot)
      }
      """)
    let days = try await container.perform { context in
      EmotionDiary(in: context, emotion: .angry, content: "버스를 놓쳤다").tags = [Tag(in: context, name: "출근")]
      try context.save()
      return try context.fetch(EmotionDiary.all).map(\.snapshot)
    }
    teller.show("days.map(\\.content)", days.map(\.content))
    teller.show("days that the main context finds now", try container.mainContext.count(EmotionDiary.all))
  }

  // MARK: Deleting

  private func delete(_ context: ManagedObjectContext) throws {
    teller.chapter("8. Delete rules")
    teller.show("pictures and tags before", "\(try context.count(DiaryImage.all)), \(try context.count(Tag.all))")
    guard let diary = try context.first(EmotionDiary.where { $0.emotion == .calm }) else { return }
    teller.code("try context.delete(diary)                // the calm day with two pictures")
    try context.delete(diary)
    teller.show("pictures after it, as their rule is cascade", try context.count(DiaryImage.all))
    try context.save()
    teller.show("tags after it, as their rule is nullify", try context.count(Tag.all))
  }

  private func day(_ number: Int) -> Date { Date(timeIntervalSince1970: 1_767_225_600 + Double(number - 1) * 86_400) }
}
