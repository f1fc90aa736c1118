public let genreCount = 20
public let countryCount = 5
public let labelCount = 10
public let tracksOfAnAlbum = 10
public let albumsOfAnArtist = 5
/// What the joins look for.
public let searchedLabel = "label 3"
public let searchedCountry = "C2"

/// How often a list is edited, each edit in a save of its own.
public let savedEdits = 10
/// How often a list is edited before one save.
public let editsOfASave = 100

public struct TrackData {
  public let title: String, seconds, genre: Int

  /// A track that is added to a list.
  public init(added turn: Int) {
    title = "new"
    seconds = turn
    genre = 1
  }

  init(_ number: Int, _ chance: inout Generator) {
    title = "track \(number)"
    seconds = chance.below(600)
    genre = chance.below(genreCount)
  }
}

/// `count` tracks, in their order. The clock stands still while they are made.
public func makeTracks(_ count: Int, _ body: (TrackData) throws -> Void) rethrows {
  var chance = Generator(seed: 11)
  for first in stride(from: 0, to: count, by: 1_000) {
    var batch: [TrackData] = []
    unmeasured { batch = (first..<min(first + 1_000, count)).map { TrackData($0, &chance) } }
    for track in batch { try body(track) }
  }
}

/// How many albums and artists belong to so many tracks.
public func albumCount(_ tracks: Int) -> Int { (tracks + tracksOfAnAlbum - 1) / tracksOfAnAlbum }
public func artistCount(_ tracks: Int) -> Int { (albumCount(tracks) + albumsOfAnArtist - 1) / albumsOfAnArtist }
