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

  /// Every diary, then its images: two statements, each in the order of its table, and the images at the place of their diary.
  func toMany(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      let images = readImagesByDiary(connection)
      return connection.with("SELECT \(columns) FROM diary") { rows in
        var sum = 0
        while rows.next() {
          let diary = readDiary(rows)
          sum &+= diary.intensity
          for image in images[Int(diary.key)] { sum &+= image.byteCount }
        }
        return sum
      }
    }
  }

  private func readImagesByDiary(_ connection: Connection) -> [[Image]] {
    let greatest = connection.integer("SELECT max(pk) FROM diary")
    var byDiary: [[Image]] = Array(repeating: [], count: greatest + 1)
    connection.with("SELECT \(imageColumns) FROM image WHERE diary IS NOT NULL") { rows in
      while rows.next() { byDiary[rows.integer(6)].append(readImage(rows)) }
    }
    return byDiary
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
