import GRDB
import Workload

struct ImageInfo: Decodable, FetchableRecord {
  var image: Image
  var diary: Diary
}

struct DiaryInfo: Decodable, FetchableRecord {
  var diary: Diary
  var images: [Image]
}

struct TagInfo: Decodable, FetchableRecord {
  var tag: Tag
  var diaries: [Diary]
}

extension GRDBBench {
  /// Every image, then the diary that it belongs to: a join.
  func traverse(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      let request = Image.including(required: Image.diary).asRequest(of: ImageInfo.self)
      return try pool.read(request.fetchAll).reduce(0) {
        $0 &+ $1.diary.content.utf8.count &+ $1.image.byteCount
      }
    }
  }

  /// Every diary, then its images: prefetched by GRDB in a second statement in any case.
  func toMany(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      let request = Diary.including(all: Diary.images).asRequest(of: DiaryInfo.self)
      return try pool.read(request.fetchAll).reduce(0) { sum, info in
        info.images.reduce(sum &+ info.diary.intensity) { $0 &+ $1.byteCount }
      }
    }
  }

  /// Every tag, then its diaries.
  func manyToMany(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      let request = Tag.including(all: Tag.diaries).asRequest(of: TagInfo.self)
      return try pool.read(request.fetchAll).enumerated().reduce(0) { sum, tag in
        tag.element.diaries.reduce(sum) { $0 &+ $1.intensity &+ tag.offset + 1 }
      }
    }
  }
}
