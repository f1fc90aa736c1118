import BenchModel
import Trellis
import Workload

extension FetchRequest<Diary.Columns> {
  /// Every diary together with its images.
  static var withImages: Self { Diary.all }
}

extension TrellisBench {
  /// Every image, then the diary that it belongs to.
  func traverse(_ container: PersistentContainer) throws {
    try report.run("traverse", items: count * imagesOfADiary) {
      try withContext(container) { context in
        try context.fetch(Image.all).reduce(0) {
          $0 &+ ($1.diary?.content.utf8.count ?? 0) &+ Int($1.byteCount)
        }
      }
    }
  }

  /// Every diary, then its images.
  func toMany(_ workload: String, _ request: FetchRequest<Diary.Columns>, _ container: PersistentContainer) throws {
    try report.run(workload, items: count * imagesOfADiary) {
      try withContext(container) { context in
        try context.fetch(request).reduce(0) { sum, diary in
          diary.images.reduce(sum &+ Int(diary.intensity)) { $0 &+ Int($1.byteCount) }
        }
      }
    }
  }

  /// Every tag, then its diaries.
  func manyToMany(_ container: PersistentContainer) throws {
    try report.run("manyToMany", items: count) {
      try withContext(container) { context in
        try context.fetch(Tag.all).enumerated().reduce(0) { sum, tag in
          tag.element.diaries.reduce(sum) { $0 &+ Int($1.intensity) &+ tag.offset + 1 }
        }
      }
    }
  }
}
