import BenchModel
import Trellis
import Workload

extension TrellisBench {
  /// A tenth of the diaries with their images, in one save.
  func deleteCascade(_ container: PersistentContainer) throws {
    try report.run("deleteCascade", items: count / 10) {
      let context = container.newContext()
      for diary in try context.fetch(Diary.all.limit(count / 10)) { try context.delete(diary) }
      try context.save()
      return count / 10
    }
  }
}
