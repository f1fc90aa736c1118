import BenchModel
import Trellis
import Workload

extension TrellisBench {
  /// Every diary with its images: objects that check their rules and know each other, in one save.
  func insert(_ container: PersistentContainer) throws -> [ObjectID<Diary>] {
    var ids: [ObjectID<Diary>] = []
    try report.run("insert", items: count * 4, buildsData: true) {
      let context = container.newContext()
      makeDiaries(count) { diary, images in ids.append(insert(diary, images, context)) }
      try context.save()
      return count * 4
    }
    return ids
  }

  private func insert(
    _ values: DiaryData, _ images: [ImageData], _ context: ManagedObjectContext
  ) -> ObjectID<Diary> {
    let diary = Diary(
      in: context, id: values.id, emotion: Emotion.allCases[values.emotion], content: values.content,
      createdAt: values.createdAt, intensity: Int64(values.intensity), isFavorite: values.isFavorite)
    for image in images {
      diary.images.append(
        Image(
          in: context, id: image.id, imagePath: image.imagePath, byteCount: Int64(image.byteCount),
          position: Int64(image.position)))
    }
    return diary.objectID
  }

  /// One or two tags for every diary, in one save.
  func tagAll(_ container: PersistentContainer) throws {
    try report.run("tagAll", items: count, buildsData: true) {
      let context = container.newContext()
      let all = (0..<tagCount).map { Tag(in: context, name: "tag\($0)") }
      for (number, diary) in try context.fetch(Diary.all).enumerated() {
        for tag in tags(of: number) { diary.tags.append(all[tag]) }
      }
      try context.save()
      return count
    }
  }
}
