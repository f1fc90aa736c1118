import Workload

extension Floor {
  /// Every diary with its images, in one transaction. Rows only: there are no objects, and no rules to check.
  func insert(_ connection: Connection) {
    report.run("insert", items: count * 4, buildsData: true) {
      let version = isBare ? ("", "") : ("version,", "1,")
      let diaries = connection.prepare(
        "INSERT INTO diary(\(version.0)id,emotion,content,createdAt,intensity,isFavorite) VALUES(\(version.1)?,?,?,?,?,?)"
      )
      let images = connection.prepare(
        "INSERT INTO image(\(version.0)id,imagePath,byteCount,position,diary) VALUES(\(version.1)?,?,?,?,?)")
      connection.execute("BEGIN IMMEDIATE")
      makeDiaries(count) { diary, itsImages in
        insert(diary, diaries)
        let key = connection.lastKey
        for image in itsImages { insert(image, of: key, images) }
      }
      connection.execute("COMMIT")
      diaries.finalize()
      images.finalize()
      return count * 4
    }
  }

  func insert(_ diary: DiaryData, _ statement: Statement) {
    statement.bind(1, diary.id)
    statement.bind(2, emotions[diary.emotion])
    statement.bind(3, diary.content)
    statement.bind(4, diary.createdAt)
    statement.bind(5, diary.intensity)
    statement.bind(6, diary.isFavorite)
    statement.run()
  }

  private func insert(_ image: ImageData, of diary: Int64, _ statement: Statement) {
    statement.bind(1, image.id)
    statement.bind(2, image.imagePath)
    statement.bind(3, image.byteCount)
    statement.bind(4, image.position)
    statement.bind(5, diary)
    statement.run()
  }

  /// One or two tags for every diary, in one transaction.
  func tagAll(_ connection: Connection) {
    report.run("tagAll", items: count, buildsData: true) {
      let tags = connection.prepare(
        isBare ? "INSERT INTO tag(pk,name) VALUES(?,?)" : "INSERT INTO tag(pk,name,version) VALUES(?,?,1)")
      let pairs = connection.prepare("INSERT INTO diary_tag(diary,tag) VALUES(?,?)")
      connection.execute("BEGIN IMMEDIATE")
      for number in 0..<tagCount {
        tags.bind(1, number + 1)
        tags.bind(2, "tag\(number)")
        tags.run()
      }
      insertPairs(pairs)
      connection.execute("COMMIT")
      tags.finalize()
      pairs.finalize()
      return count
    }
  }

  private func insertPairs(_ statement: Statement) {
    for diary in 0..<count {
      for tag in tags(of: diary) {
        statement.bind(1, diary + 1)
        statement.bind(2, tag + 1)
        statement.run()
      }
    }
  }
}
