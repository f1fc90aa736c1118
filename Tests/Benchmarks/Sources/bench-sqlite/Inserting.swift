import Workload

extension Floor {
  /// Every diary with its images, in one transaction. Rows only: there are no objects, and no rules to check.
  func insert(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      let diaries = connection.prepare(insertDiary)
      let images = connection.prepare(insertImage)
      connection.transaction {
        makeDiaries(count) { diary, itsImages in
          insert(diary, diaries)
          let key = connection.lastKey
          for image in itsImages { insert(image, of: key, images) }
        }
      }
      diaries.finalize()
      images.finalize()
      return count * 4
    }
  }

  /// Every diary, each thousand of them in a transaction.
  func importInSaves(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      let diaries = connection.prepare(insertDiary)
      var inserted = 0
      makeDiaries(count) { diary, _ in
        if inserted % importedAtOnce == 0 { connection.execute("BEGIN IMMEDIATE") }
        insert(diary, diaries)
        inserted += 1
        if inserted % importedAtOnce == 0 || inserted == count { connection.execute("COMMIT") }
      }
      diaries.finalize()
      return inserted
    }
  }

  private var versions: (column: String, value: String) { isBare ? ("", "") : ("version,", "1,") }

  private var insertDiary: String {
    """
    INSERT INTO diary(\(versions.column)id,emotion,content,createdAt,intensity,isFavorite)
    VALUES(\(versions.value)?,?,?,?,?,?)
    """
  }

  private var insertImage: String {
    "INSERT INTO image(\(versions.column)id,imagePath,byteCount,position,diary) VALUES(\(versions.value)?,?,?,?,?)"
  }

  func insert(_ diary: DiaryData, _ statement: Statement) {
    bind(diary, statement)
    statement.run()
  }

  func bind(_ diary: DiaryData, _ statement: Statement) {
    statement.bind(1, diary.id)
    statement.bind(2, emotions[diary.emotion])
    statement.bind(3, diary.content)
    statement.bind(4, diary.createdAt)
    statement.bind(5, diary.intensity)
    statement.bind(6, diary.isFavorite)
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
  func tagAll(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      let tags = connection.prepare(
        "INSERT INTO tag(\(versions.column)pk,name) VALUES(\(versions.value)?,?)")
      let pairs = connection.prepare("INSERT INTO diary_tag(diary,tag) VALUES(?,?)")
      connection.transaction {
        for number in 0..<tagCount {
          tags.bind(1, number + 1)
          tags.bind(2, "tag\(number)")
          tags.run()
        }
        insertPairs(pairs)
      }
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

  /// Every diary once more under its unique key with another text, in one transaction.
  ///
  /// SQLite writes the entry of an index again whenever its columns are set, even to what they were. So the statement that sets them
  /// runs only where they differ, and a row of which nothing differs is not written at all.
  func upsert(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      if isBare { return updateByNumber(connection) }
      let unindexed = connection.prepare(
        """
        \(insertDiary) ON CONFLICT(id) DO UPDATE SET version=version+1,content=excluded.content,
        intensity=excluded.intensity,isFavorite=excluded.isFavorite
        WHERE emotion IS excluded.emotion AND createdAt IS excluded.createdAt AND (content IS NOT excluded.content
        OR intensity IS NOT excluded.intensity OR isFavorite IS NOT excluded.isFavorite)
        """)
      let all = connection.prepare(
        """
        \(insertDiary) ON CONFLICT(id) DO UPDATE SET version=version+1,emotion=excluded.emotion,
        content=excluded.content,createdAt=excluded.createdAt,intensity=excluded.intensity,isFavorite=excluded.isFavorite
        WHERE emotion IS NOT excluded.emotion OR createdAt IS NOT excluded.createdAt
        """)
      connection.transaction {
        makeDiaries(count) { values, _ in
          var values = values
          values.content += "!"
          insert(values, unindexed)
          if connection.changes == 0 { insert(values, all) }
        }
      }
      unindexed.finalize()
      all.finalize()
      return count
    }
  }

  /// Without the unique key there is nothing to find the row by; its number is known because rows were made in this order.
  private func updateByNumber(_ connection: Connection) -> Int {
    let statement = connection.prepare(
      "UPDATE diary SET id=?,emotion=?,content=?,createdAt=?,intensity=?,isFavorite=? WHERE pk=?")
    var number = 0
    connection.transaction {
      makeDiaries(count) { values, _ in
        var values = values
        values.content += "!"
        number += 1
        statement.bind(7, number)
        insert(values, statement)
      }
    }
    statement.finalize()
    return number
  }

  /// As many times the same word; the key unites them to one row.
  func wordsUnited(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      connection.with("INSERT INTO word(version,text) VALUES(1,?) ON CONFLICT(text) DO NOTHING") { statement in
        connection.transaction {
          for _ in 0..<count {
            statement.bind(1, "same")
            statement.run()
          }
        }
      }
      return connection.integer("SELECT count(*) FROM word")
    }
  }
}
