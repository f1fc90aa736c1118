import BenchModel
import Trellis
import Workload

extension TrellisBench {
  /// Every image, then the diary that it belongs to.
  func traverse(_ store: TrellisStore) throws -> Work {
    {
      try store.withContext { context in
        try context.fetch(Image.all).reduce(0) {
          $0 &+ ($1.diary?.content.utf8.count ?? 0) &+ Int($1.byteCount)
        }
      }
    }
  }

  /// Every diary, then its images.
  func toMany(_ request: Diary.FetchRequest, _ store: TrellisStore) throws -> Work {
    {
      try store.withContext { context in
        try context.fetch(request).reduce(0) { sum, diary in
          diary.images.reduce(sum &+ Int(diary.intensity)) { $0 &+ Int($1.byteCount) }
        }
      }
    }
  }

  /// Every tag, then its diaries.
  func manyToMany(_ store: TrellisStore) throws -> Work {
    {
      try store.withContext { context in
        try context.fetch(Tag.all).enumerated().reduce(0) { sum, tag in
          tag.element.diaries.reduce(sum) { $0 &+ Int($1.intensity) &+ tag.offset + 1 }
        }
      }
    }
  }
}
