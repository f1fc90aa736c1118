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
  func traverse(_ connection: Connection) {
    report.run("traverse", items: count * imagesOfADiary) {
      let diaries = readAllByKey(connection)
      let rows = connection.prepare("SELECT \(imageColumns) FROM image")
      defer { rows.finalize() }
      var sum = 0
      while rows.next() {
        let image = readImage(rows)
        image.diary = diaries[rows.key(6)]
        sum &+= (image.diary?.content.utf8.count ?? 0) &+ image.byteCount
      }
      return sum
    }
  }

  /// Every diary, then its images: two statements, whoever asks.
  func toMany(_ workload: String, _ connection: Connection) {
    report.run(workload, items: count * imagesOfADiary) {
      let images = readImagesByDiary(connection)
      let rows = connection.prepare("SELECT \(columns) FROM diary")
      defer { rows.finalize() }
      var sum = 0
      while rows.next() {
        let diary = readDiary(rows)
        sum &+= diary.intensity
        for image in images[diary.key] ?? [] { sum &+= image.byteCount }
      }
      return sum
    }
  }

  private func readImagesByDiary(_ connection: Connection) -> [Int64: [Image]] {
    var byDiary: [Int64: [Image]] = [:]
    byDiary.reserveCapacity(count)
    let rows = connection.prepare("SELECT \(imageColumns) FROM image")
    defer { rows.finalize() }
    while rows.next() { byDiary[rows.key(6), default: []].append(readImage(rows)) }
    return byDiary
  }

  /// Every tag, then its diaries.
  func manyToMany(_ connection: Connection) {
    report.run("manyToMany", items: count) {
      let diaries = readAllByKey(connection)
      let pairs = connection.prepare("SELECT tag,diary FROM diary_tag ORDER BY tag,diary")
      defer { pairs.finalize() }
      var sum = 0
      while pairs.next() { sum &+= (diaries[pairs.key(1)]?.intensity ?? 0) &+ pairs.integer(0) }
      return sum
    }
  }
}
