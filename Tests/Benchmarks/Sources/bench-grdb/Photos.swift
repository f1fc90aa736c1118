import Foundation
import GRDB
import Workload

extension GRDBBench {
  /// Photos with their bytes in their rows, in one transaction.
  func photosWrite(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      try pool.write { db in
        for number in 0..<settings.items(.photosWrite) {
          var photo = Photo(name: "photo \(number)", content: photoBytes(number))
          try photo.insert(db)
        }
      }
      return settings.items(.photosWrite)
    }
  }

  func photosRead(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      try pool.read { try Photo.fetchAll($0) }.reduce(0) { sum, photo in
        sum &+ photo.name.utf8.count &+ photo.content.withUnsafeBytes(checksum(ofBytes:))
      }
    }
  }
}
