import BenchModel
import Trellis
import Workload

extension TrellisBench {
  /// A tenth of the diaries with their images, in one save.
  func deleteCascade(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    return {
      let context = container.newContext()
      for diary in try context.fetch(Diary.all.limit(count / 10)) { try context.delete(diary) }
      try context.save()
      return count / 10
    }
  }

  /// Whether an album may be deleted, which its members refuse.
  func deleteValidated(_ store: TrellisStore) throws -> Work {
    let context = try store.newContext(), album = try firstAlbum(context)
    return {
      do { try context.validateForDelete(album) } catch is ValidationError { return count }
      throw Unexpected()
    }
  }

  /// The delete and the save that is refused.
  func deleteRefused(_ store: TrellisStore) throws -> Work {
    let context = try store.newContext(), album = try firstAlbum(context)
    return {
      do {
        try context.delete(album)
        try context.save()
      } catch is ValidationError { return count }
      throw Unexpected()
    }
  }
}
