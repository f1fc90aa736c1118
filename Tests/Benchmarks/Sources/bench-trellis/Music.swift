import BenchModel
import Trellis
import Workload

extension TrellisBench {
  /// Tracks of albums of artists of labels of countries, in one save.
  func musicInsert(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    return {
      let context = container.newContext()
      let countries = (0..<countryCount).map { Country(in: context, code: "C\($0)") }
      let labels = (0..<labelCount).map {
        Label(in: context, name: "label \($0)", country: countries[$0 % countryCount])
      }
      let artists = (0..<artistCount(count)).map {
        Artist(in: context, name: "artist \($0)", label: labels[$0 % labelCount])
      }
      let albums = (0..<albumCount(count)).map {
        Album(in: context, name: "album \($0)", artist: artists[$0 / albumsOfAnArtist])
      }
      var number = 0
      makeTracks(count) { track in
        albums[number / tracksOfAnAlbum].tracks.append(newTrack(track, context))
        number += 1
      }
      try context.save()
      return count
    }
  }

  func newTrack(_ data: TrackData, _ context: ManagedObjectContext) -> Track {
    Track(in: context, title: data.title, seconds: Int64(data.seconds), genre: Int64(data.genre))
  }

  /// Four tables.
  func joinCount(_ store: TrellisStore) throws -> Work {
    { try store.newContext().count(Track.where { $0.album.artist.label.name == searchedLabel }) }
  }

  func joinKeys(_ store: TrellisStore) throws -> Work {
    { try store.newContext().ids(of: Track.where { $0.album.artist.label.name == searchedLabel }).count }
  }

  /// Five tables.
  func joinObjects(_ store: TrellisStore) throws -> Work {
    {
      try store.withContext {
        try $0.fetch(Track.where { $0.album.artist.label.country.code == searchedCountry })
          .reduce(0) { $0 &+ Int($1.seconds) &+ $1.title.utf8.count }
      }
    }
  }

  func sumAll(_ store: TrellisStore) throws -> Work {
    { Int(try store.newContext().aggregate(Track.all) { $0.seconds.sum }) }
  }

  func groupCountSum(_ store: TrellisStore) throws -> Work {
    {
      let groups = try store.newContext().grouped(Track.all, by: { $0.genre }) { ($0.count, $0.seconds.sum) }
      return orderedSum(groups.map { Int($0.key) &+ Int($0.value.0) &+ Int($0.value.1) })
    }
  }

  /// The ten largest of many groups.
  func groupLargest(_ store: TrellisStore) throws -> Work {
    {
      let largest = try store.newContext().grouped(Track.all, by: { $0.album }, limit: 10) {
        ($0.count, $0.seconds.sum)
      } having: {
        $0.count > 1
      } sorted: {
        $0.seconds.sum.descending
      }
      return orderedSum(largest.map { Int($0.value.0) &+ Int($0.value.1) })
    }
  }
}
