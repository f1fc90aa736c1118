import Workload

extension Floor {
  /// Tracks of albums of artists of labels of countries, in one transaction.
  func musicInsert(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      connection.transaction {
        insertNames(countryCount, "C", "country(version,code) VALUES(1,?)", connection)
        insertNames(labelCount, "label ", "label(version,name,country) VALUES(1,?,?)", connection) { $0 % countryCount }
        insertNames(artistCount(count), "artist ", "artist(version,name,label) VALUES(1,?,?)", connection) {
          $0 % labelCount
        }
        insertNames(albumCount(count), "album ", "album(version,name,artist) VALUES(1,?,?)", connection) {
          $0 / albumsOfAnArtist
        }
        connection.with(insertTrack) { statement in
          var number = 0
          makeTracks(count) { track in
            insert(track, of: number / tracksOfAnAlbum + 1, place: (number % tracksOfAnAlbum + 1) * placeGap, statement)
            number += 1
          }
        }
      }
      return count
    }
  }

  private func insertNames(
    _ count: Int, _ name: String, _ into: String, _ connection: Connection, owner: ((Int) -> Int)? = nil
  ) {
    connection.with("INSERT INTO \(into)") { statement in
      for number in 0..<count {
        statement.bind(1, name + String(number))
        if let owner { statement.bind(2, owner(number) + 1) }
        statement.run()
      }
    }
  }

  var insertTrack: String { "INSERT INTO track(version,title,seconds,genre,album,place) VALUES(1,?,?,?,?,?)" }

  func insert(_ track: TrackData, of album: Int, place: Int, _ statement: Statement) {
    statement.bind(1, track.title)
    statement.bind(2, track.seconds)
    statement.bind(3, track.genre)
    statement.bind(4, album)
    statement.bind(5, place)
    statement.run()
  }

  var trackColumns: String { "t.pk,t.title,t.seconds,t.genre,t.place" }

  func readTrack(_ row: Statement) -> Track {
    Track(
      key: row.key(0), title: row.text(1), seconds: row.integer(2), genre: row.integer(3), place: row.integer(4))
  }

  private func joined(_ columns: String) -> String {
    """
    SELECT \(columns) FROM track t JOIN album a ON a.pk=t.album JOIN artist r ON r.pk=a.artist JOIN label l ON l.pk=r.label
    """
  }

  /// Four tables.
  func joinCount(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      connection.with("\(joined("count(*)")) WHERE l.name=?") { rows in
        rows.bind(1, searchedLabel)
        return rows.next() ? rows.integer(0) : 0
      }
    }
  }

  func joinKeys(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      connection.with("\(joined("t.pk")) WHERE l.name=? ORDER BY t.pk") { rows in
        rows.bind(1, searchedLabel)
        var keys: [Int64] = []
        while rows.next() { keys.append(rows.key(0)) }
        return keys.count
      }
    }
  }

  /// Five tables.
  func joinObjects(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      connection.with("\(joined(trackColumns)) JOIN country c ON c.pk=l.country WHERE c.code=? ORDER BY t.pk") { rows in
        rows.bind(1, searchedCountry)
        var tracks: [Track] = []
        while rows.next() { tracks.append(readTrack(rows)) }
        return tracks.reduce(0) { $0 &+ $1.seconds &+ $1.title.utf8.count }
      }
    }
  }

  func sumAll(_ store: FloorStore) -> Work {
    let connection = store.connection
    return { connection.integer("SELECT sum(seconds) FROM track") }
  }

  func groupCountSum(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      connection.with("SELECT genre,count(*),sum(seconds) FROM track GROUP BY genre ORDER BY genre") { rows in
        var sums: [Int] = []
        while rows.next() { sums.append(rows.integer(0) &+ rows.integer(1) &+ rows.integer(2)) }
        return orderedSum(sums)
      }
    }
  }

  /// The ten largest of many groups.
  func groupLargest(_ store: FloorStore) -> Work {
    let connection = store.connection
    let text = """
      SELECT count(*),sum(seconds) FROM track GROUP BY album HAVING count(*)>1 ORDER BY sum(seconds) DESC LIMIT 10
      """
    return {
      connection.with(text) { rows in
        var sums: [Int] = []
        while rows.next() { sums.append(rows.integer(0) &+ rows.integer(1)) }
        return orderedSum(sums)
      }
    }
  }
}
