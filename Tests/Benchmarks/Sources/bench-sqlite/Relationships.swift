import Workload

extension Floor {
  private var imageColumns: String { "pk,\(isBare ? "0" : "version"),id,imagePath,byteCount,position,diary" }

  private func readImage(_ row: Statement) -> Image {
    let image = Image()
    image.key = row.key(0)
    image.version = row.key(1)
    image.id = row.uuid(2)
    image.imagePath = row.text(3)
    image.byteCount = row.integer(4)
    image.position = row.integer(5)
    return image
  }

  /// Every image, then the diary that it belongs to.
  func traverse(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      let diaries = readAllByKey(connection)
      return connection.with("SELECT \(imageColumns) FROM image") { rows in
        var sum = 0
        while rows.next() {
          let image = readImage(rows)
          image.diary = diaries[rows.integer(6)]
          sum &+= (image.diary?.content.utf8.count ?? 0) &+ image.byteCount
        }
        return sum
      }
    }
  }

  /// Every diary with its images: both tables in the order of the diaries, side by side.
  func toMany(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      let images = connection.prepare("SELECT \(imageColumns) FROM image WHERE diary IS NOT NULL ORDER BY diary")
      let rows = connection.prepare("SELECT \(columns) FROM diary ORDER BY pk")
      defer {
        images.finalize()
        rows.finalize()
      }
      var hasImage = images.next()
      var diaries: [(diary: Diary, images: [Image])] = []
      while rows.next() {
        let diary = readDiary(rows)
        var itsImages: [Image] = []
        while hasImage, images.key(6) == diary.key {
          itsImages.append(readImage(images))
          hasImage = images.next()
        }
        diaries.append((diary, itsImages))
      }
      return diaries.reduce(0) { sum, each in
        each.images.reduce(sum &+ each.diary.intensity) { $0 &+ $1.byteCount }
      }
    }
  }

  /// Every tag, then its diaries.
  func manyToMany(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      let diaries = readAllByKey(connection)
      return connection.with("SELECT tag,diary FROM diary_tag ORDER BY tag,diary") { pairs in
        var sum = 0
        while pairs.next() { sum &+= (diaries[pairs.integer(1)]?.intensity ?? 0) &+ pairs.integer(0) }
        return sum
      }
    }
  }
}
