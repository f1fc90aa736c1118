import BenchModel
import Trellis
import Workload

extension TrellisBench {
  /// Every diary with its images: objects that check their rules and know each other, in one save.
  func insert(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    return {
      let context = container.newContext()
      makeDiaries(count) { values, images in
        let diary = newDiary(values, context)
        for image in images {
          diary.images.append(
            Image(
              in: context, id: image.id, imagePath: image.imagePath, byteCount: Int64(image.byteCount),
              position: Int64(image.position)))
        }
      }
      try context.save()
      return count * 4
    }
  }

  @discardableResult
  private func newDiary(_ values: DiaryData, _ context: ManagedObjectContext, content: String? = nil) -> Diary {
    Diary(
      in: context, id: values.id, emotion: Emotion.allCases[values.emotion], content: content ?? values.content,
      createdAt: values.createdAt, intensity: Int64(values.intensity), isFavorite: values.isFavorite)
  }

  /// Every diary, in one save.
  func diariesInsert(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    return {
      let context = container.newContext()
      makeDiaries(count) { values, _ in newDiary(values, context) }
      try context.save()
      return count
    }
  }

  /// Every diary, each thousand of them in a save.
  func importInSaves(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    return {
      let context = container.newContext()
      var inserted = 0
      try makeDiaries(count) { values, _ in
        newDiary(values, context)
        inserted += 1
        if inserted % importedAtOnce == 0 || inserted == count { try context.save() }
      }
      return inserted
    }
  }

  /// One or two tags for every diary, in one save.
  func tagAll(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    return {
      let context = container.newContext()
      let all = (0..<tagCount).map { Tag(in: context, name: "tag\($0)") }
      for (number, diary) in try context.fetch(Diary.all).enumerated() {
        for tag in tags(of: number) { diary.tags.append(all[tag]) }
      }
      try context.save()
      return count
    }
  }

  /// Every diary once more under its unique key with another text, in one save that finds out which are there.
  func upsert(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    return {
      let context = container.newContext()
      makeDiaries(count) { values, _ in newDiary(values, context, content: values.content + "!") }
      try context.save(mergePolicy: .objectTrump)
      return count
    }
  }

  /// As many times the same word; the save unites them to one.
  func wordsUnited(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    return {
      let context = container.newContext()
      for _ in 0..<count { _ = Word(in: context, text: "same") }
      try context.save(mergePolicy: .objectTrump)
      return try container.newContext().count(Word.all)
    }
  }

  /// The same, refused by the save.
  func wordsRefused(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    return {
      let context = container.newContext()
      for _ in 0..<count { _ = Word(in: context, text: "same") }
      do { try context.save() } catch is ValidationError { return 0 }
      throw Unexpected()
    }
  }
}

/// A workload that did not do what it is there for.
struct Unexpected: Error {}
