import BenchModel
import Trellis
import Workload

extension TrellisBench {
  /// Every diary once more under its unique key with another text, in one save that finds out which are there.
  func upsert(_ container: PersistentContainer) throws {
    try report.run("upsert", items: count) {
      let context = container.newContext()
      makeDiaries(count) { values, _ in
        _ = Diary(
          in: context, id: values.id, emotion: Emotion.allCases[values.emotion], content: values.content + "!",
          createdAt: values.createdAt, intensity: Int64(values.intensity), isFavorite: values.isFavorite)
      }
      try context.save(mergePolicy: .objectTrump)
      return count
    }
  }
}
