import TrellisDiaryModel
import Foundation
import Trellis

/// Plays a diary's life on a fresh file, and tells each step, so that whoever reads the output knows what Trellis does.
@MainActor struct Story {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "trellis-diary-\(UUID().uuidString)")
  private var file: URL { folder.appendingPathComponent("diary.db") }

  func play() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    print("The story of a diary, told by Trellis.\n")
    try write()
    let container = try PersistentContainer(model: .diary, store: .sqlite(at: file))
    let context = container.mainContext
    try read(context)
    try query(context)
    try refuse(context)
    try await workBeside(container)
    try delete(context)
    print("\nThe file is \(file.path). Look into it:\n  sqlite3 '\(file.path)' .schema")
  }

  // MARK: Writing

  private func write() throws {
    chapter("1. Objects, related at once")
    let container = try PersistentContainer(model: .diary, store: .sqlite(at: file))
    let context = container.mainContext
    let walk = Tag(in: context, name: "산책")
    let coffee = Tag(in: context, name: "커피")

    let first = EmotionDiary(in: context, emotion: .happy, content: "산책하고 커피", createdAt: day(1))
    let picture = DiaryImage(in: context, imagePath: "1.png")
    first.images.append(picture)
    first.tags = [walk, coffee]
    show("diary.images.append(image), and image.diary is the diary:", picture.diary === first)
    show("diary.tags = [walk, coffee], and coffee.diaries counts:", coffee.diaries.count)

    let second = EmotionDiary(in: context, emotion: .calm, content: "비가 와서 책을 읽었다", createdAt: day(2), mood: "조용함")
    for name in ["2.png", "3.jpg"] { DiaryImage(in: context, imagePath: name).diary = second }
    let third = EmotionDiary(in: context, emotion: .happy, content: "친구와 커피", createdAt: day(3))
    third.tags.append(coffee)
    show("objects that wait for the save:", context.insertedObjects.count)

    try context.save()
    show("saved in one transaction; changes left:", context.hasChanges)
  }

  // MARK: Reading

  private func read(_ context: ManagedObjectContext) throws {
    chapter("2. The same graph, from the file")
    for diary in try context.fetch(EmotionDiary.all.sorted { $0.createdAt.ascending }) {
      let tags = diary.tags.map(\.name).sorted().joined(separator: ", ")
      let images = diary.images.map(\.imagePath).joined(separator: ", ")
      print(
        "  \(diary.emotion.rawValue.padded(6)) \(diary.content)  [\(tags)]  pictures: \(images.isEmpty ? "none" : images)"
      )
    }
    chapter("3. The image feed: each picture knows its diary")
    for image in try context.fetch(DiaryImage.all) {
      print("  \(image.imagePath.padded(6)) belongs to “\(image.diary?.content ?? "-")”")
    }
    print("  (The diaries of all pictures came in one statement, not in one for each picture.)")
  }

  // MARK: Queries

  private func query(_ context: ManagedObjectContext) throws {
    chapter("4. Questions")
    let happy = try context.fetch(EmotionDiary.where { $0.emotion == .happy }.sorted { $0.createdAt.descending })
    show("happy days, newest first:", happy.map(\.content))

    let feed = try context.fetch(
      DiaryImage.where { $0.diary.emotion == .calm }.sorted {
        $0.diary.createdAt.descending
        $0.imagePath.ascending
      })
    show("pictures of calm days, through image.diary:", feed.map(\.imagePath))

    let keyword = "커피"
    let found = try context.fetch(
      EmotionDiary.where { $0.content.contains(keyword) || $0.emotion == .calm }.sorted { $0.createdAt.ascending })
    show("content contains 커피, or calm:", found.map(\.content))

    let latest = try context.first(EmotionDiary.where { $0.emotion == .happy }.sorted { $0.createdAt.descending })
    show("the latest happy day, one row read:", latest?.content ?? "-")

    let withPNG = try context.fetch(EmotionDiary.where { $0.images.any { $0.imagePath.hasSuffix(".png") } })
    show("days with a PNG:", withPNG.map(\.content))
    show("days with two tags or more:", try context.count(EmotionDiary.where { $0.tags.count >= 2 }))
  }

  // MARK: Rules

  private func refuse(_ context: ManagedObjectContext) throws {
    chapter("5. Rules hold at save, and nothing is half written")
    let empty = EmotionDiary(in: context, emotion: .sad, content: "")
    for number in 1...11 { empty.images.append(DiaryImage(in: context, imagePath: "\(number).png")) }
    do {
      try context.save()
    } catch let error as ValidationError {
      for failure in error.failures { print("  refused: \(failure)") }
    }
    context.rollback()
    show("after rollback, changes left:", context.hasChanges)

    guard let diary = try context.first(EmotionDiary.where { $0.emotion == .calm }) else { return }
    diary.content = "비가 그쳤다"
    show("changed properties, before the save:", diary.changedProperties)
    show("the value that was last saved:", diary.committed?.content ?? "-")
    try context.save()
  }

  // MARK: Beside the main actor

  private func workBeside(_ container: PersistentContainer) async throws {
    chapter("6. Work beside the main actor: only values come back")
    let contents = try await container.perform { context in
      EmotionDiary(in: context, emotion: .angry, content: "버스를 놓쳤다").tags = [Tag(in: context, name: "출근")]
      try context.save()
      return try context.fetch(EmotionDiary.all.sorted { $0.createdAt.ascending }).map(\.snapshot.content)
    }
    show("snapshots from the background:", contents)
    show("the main context sees the new diary:", try container.mainContext.count(EmotionDiary.all))
  }

  // MARK: Deleting

  private func delete(_ context: ManagedObjectContext) throws {
    chapter("7. Delete rules")
    show("pictures before:", try context.count(DiaryImage.all))
    guard let diary = try context.first(EmotionDiary.where { $0.emotion == .calm }) else { return }
    try context.delete(diary)
    show("the diary is deleted, its pictures at once with it:", try context.count(DiaryImage.all))
    try context.save()
    show("tags stay, as their rule is nullify:", try context.count(Tag.all))
  }

  // MARK: Telling

  private func chapter(_ title: String) { print("\n\(title)") }

  private func show(_ what: String, _ value: some Any) { print("  \(what) \(value)") }

  private func day(_ number: Int) -> Date { Date(timeIntervalSince1970: 1_767_225_600 + Double(number) * 86_400) }
}

extension String {
  /// The text with spaces up to a width.
  func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
