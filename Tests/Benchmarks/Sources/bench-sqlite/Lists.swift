import Workload

/// The places of members are numbers with room between them, so that an insertion moves no other row.
let placeGap = 1_024

/// The tracks of an album, in their order.
private final class TrackList {
  var tracks: [Track] = []
}

extension Floor {
  /// One album with all tracks in their order, in one transaction.
  func albumInsert(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      connection.transaction {
        connection.execute("INSERT INTO album(version,name) VALUES(1,'album')")
        connection.with(insertTrack) { statement in
          var number = 0
          makeTracks(count) { track in
            number += 1
            insert(track, of: 1, place: number * placeGap, statement)
          }
        }
      }
      return count
    }
  }

  private func readList(_ connection: Connection) -> TrackList {
    let list = TrackList()
    connection.with("SELECT \(trackColumns) FROM track t WHERE album=1 ORDER BY place") { rows in
      while rows.next() { list.tracks.append(readTrack(rows)) }
    }
    return list
  }

  /// Each new track in a transaction of its own.
  func frontInsert(_ store: FloorStore) -> Work {
    insertEach(store) { _ in 0 }
  }

  func middleInsert(_ store: FloorStore) -> Work {
    insertEach(store) { $0 / 2 }
  }

  private func insertEach(_ store: FloorStore, at index: @escaping (_ count: Int) -> Int) -> Work {
    let connection = store.connection
    let list = readList(connection)
    return {
      connection.with(insertTrack) { statement in
        for turn in 0..<savedEdits {
          let track = insert(
            TrackData(added: turn), at: index(list.tracks.count), of: list, statement, connection)
          list.tracks.insert(track, at: index(list.tracks.count))
        }
      }
      return listSum(list)
    }
  }

  private func insert(
    _ data: TrackData, at index: Int, of list: TrackList, _ statement: Statement, _ connection: Connection
  ) -> Track {
    let tracks = list.tracks
    let before = index > 0 ? tracks[index - 1].place : nil, after = index < tracks.count ? tracks[index].place : nil
    let place =
      switch (before, after) {
      case (let before?, let after?): before + (after - before) / 2
      case (let before?, nil): before + placeGap
      case (nil, let after?): after - placeGap
      case (nil, nil): placeGap
      }
    precondition(place != before && place != after, "the list has to be numbered again")
    insert(data, of: 1, place: place, statement)
    return Track(
      key: connection.lastKey, title: data.title, seconds: data.seconds, genre: data.genre, place: place)
  }

  /// Tracks added at the end, in one transaction.
  func appends(_ store: FloorStore) -> Work {
    let connection = store.connection
    let list = readList(connection)
    return {
      connection.transaction {
        connection.with(insertTrack) { statement in
          for turn in 0..<editsOfASave {
            let track = insert(TrackData(added: turn), at: list.tracks.count, of: list, statement, connection)
            list.tracks.append(track)
          }
        }
      }
      return listSum(list)
    }
  }

  /// Tracks taken out of the middle, in one transaction. They lie on without an album.
  func removes(_ store: FloorStore) -> Work {
    let connection = store.connection
    let list = readList(connection)
    return {
      connection.transaction {
        connection.with("UPDATE track SET album=NULL,place=NULL,version=version+1 WHERE pk=?") { statement in
          for _ in 0..<editsOfASave {
            statement.bind(1, list.tracks.remove(at: list.tracks.count / 2).key)
            statement.runOnOneRow()
          }
        }
      }
      return listSum(list)
    }
  }

  /// The last track moved to the front, again and again, in one transaction.
  func moves(_ store: FloorStore) -> Work {
    let connection = store.connection
    let list = readList(connection)
    return {
      connection.transaction {
        connection.with("UPDATE track SET place=?,version=version+1 WHERE pk=?") { statement in
          for _ in 0..<editsOfASave {
            let track = list.tracks.removeLast()
            track.place = list.tracks[0].place - placeGap
            list.tracks.insert(track, at: 0)
            statement.bind(1, track.place)
            statement.bind(2, track.key)
            statement.runOnOneRow()
          }
        }
      }
      return listSum(list)
    }
  }

  private func listSum(_ list: TrackList) -> Int {
    let count = list.tracks.count
    return orderedSum([count] + [0, count / 2, count - 1].map { list.tracks[$0].seconds })
  }

  /// How many members refuse the delete.
  func countMembers(_ store: FloorStore) -> Work {
    let connection = store.connection
    return { connection.integer("SELECT count(*) FROM track WHERE album=1") }
  }
}
