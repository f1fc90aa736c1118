import GRDB
import Workload

extension GRDBBench {
  /// Tracks of albums of artists of labels of countries, in one transaction.
  func musicInsert(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      try pool.write { db in
        for number in 0..<countryCount {
          var country = Country(name: "C\(number)")
          try country.insert(db)
        }
        for number in 0..<labelCount {
          var label = Label(name: "label \(number)", countryPk: Int64(number % countryCount + 1))
          try label.insert(db)
        }
        for number in 0..<artistCount(count) {
          var artist = Artist(name: "artist \(number)", labelPk: Int64(number % labelCount + 1))
          try artist.insert(db)
        }
        for number in 0..<albumCount(count) {
          var album = Album(name: "album \(number)", artistPk: Int64(number / albumsOfAnArtist + 1))
          try album.insert(db)
        }
        var number = 0
        try makeTracks(count) { data in
          var track = Track(
            title: data.title, seconds: data.seconds, genre: data.genre, albumPk: Int64(number / tracksOfAnAlbum + 1))
          try track.insert(db)
          number += 1
        }
      }
      return count
    }
  }

  /// Four tables.
  private var tracksOfLabel: QueryInterfaceRequest<Track> {
    let label = Artist.label.filter(Column("name") == searchedLabel)
    return Track.joining(required: Track.album.joining(required: Album.artist.joining(required: label)))
  }

  /// Five tables.
  private var tracksOfCountry: QueryInterfaceRequest<Track> {
    let label = Artist.label.joining(required: Label.country.filter(Column("name") == searchedCountry))
    return Track.joining(required: Track.album.joining(required: Album.artist.joining(required: label)))
  }

  func joinCount(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return { try pool.read(tracksOfLabel.fetchCount) }
  }

  func joinKeys(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      let request = tracksOfLabel.order(Column("pk")).select(Column("pk"), as: Int64.self)
      return try pool.read(request.fetchAll).count
    }
  }

  func joinObjects(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      try pool.read(tracksOfCountry.order(Column("pk")).fetchAll)
        .reduce(0) { $0 &+ $1.seconds &+ $1.title.utf8.count }
    }
  }

  func sumAll(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return { try pool.read(Track.select(sum(Track.Columns.seconds), as: Int.self).fetchOne) ?? 0 }
  }

  func groupCountSum(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      let request = Track.select(Track.Columns.genre, GRDB.count(Column("pk")), sum(Track.Columns.seconds))
        .group(Track.Columns.genre).order(Track.Columns.genre)
      return try pool.read { db in
        orderedSum(try Row.fetchAll(db, request).map { ($0[0] as Int) &+ ($0[1] as Int) &+ ($0[2] as Int) })
      }
    }
  }

  /// The ten largest of many groups.
  func groupLargest(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      let total = sum(Track.Columns.seconds)
      let request = Track.select(GRDB.count(Column("pk")), total).group(Track.Columns.albumPk)
        .having(GRDB.count(Column("pk")) > 1).order(total.desc).limit(10)
      return try pool.read { db in
        orderedSum(try Row.fetchAll(db, request).map { ($0[0] as Int) &+ ($0[1] as Int) })
      }
    }
  }
}
