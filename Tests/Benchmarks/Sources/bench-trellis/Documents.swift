import BenchModel
import Foundation
import Trellis
import Workload

extension TrellisBench {
  /// Photos whose bytes are stored in files beside the database, in one save.
  func photosWrite(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    return {
      let context = container.newContext()
      for number in 0..<settings.items(.photosWrite) {
        _ = Photo(in: context, name: "photo \(number)", content: photoBytes(number))
      }
      try context.save()
      return settings.items(.photosWrite)
    }
  }

  func photosRead(_ store: TrellisStore) throws -> Work {
    {
      try store.withContext { context in
        try context.fetch(Photo.all).reduce(0) { sum, photo in
          sum &+ photo.name.utf8.count &+ photo.content.withUnsafeBytes(checksum(ofBytes:))
        }
      }
    }
  }

  /// Opens the document and reads all objects.
  func documentOpen(_ store: TrellisStore) throws -> Work {
    store.close()
    return try fetchAll(store)
  }

  /// One object changed and saved, again and again: each save writes the document.
  func documentSaveOne(_ store: TrellisStore) throws -> Work {
    let context = try store.newContext(), all = try context.fetch(Diary.all)
    return {
      for turn in 0..<documentSaves {
        all[turn].intensity += 1
        try context.save()
      }
      return all.reduce(0) { $0 &+ Int($1.intensity) }
    }
  }
}
