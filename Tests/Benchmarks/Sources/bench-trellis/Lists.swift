import BenchModel
import Trellis
import Workload

extension TrellisBench {
  /// One album with all tracks in their order, in one save.
  func albumInsert(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    return {
      let context = container.newContext()
      let album = Album(in: context, name: "album")
      makeTracks(count) { album.tracks.append(newTrack($0, context)) }
      try context.save()
      return count
    }
  }

  func firstAlbum(_ context: ManagedObjectContext) throws -> Album {
    guard let album = try context.first(Album.all) else { throw Unexpected() }
    return album
  }

  /// An album whose tracks are in memory.
  private func loadedAlbum(_ context: ManagedObjectContext) throws -> Album {
    let album = try firstAlbum(context)
    for track in album.tracks { _ = track.title }
    return album
  }

  /// Each new track in a save of its own.
  func insertEach(_ store: TrellisStore, at index: @escaping (_ count: Int) -> Int) throws -> Work {
    let context = try store.newContext(), album = try loadedAlbum(context)
    return {
      for turn in 0..<savedEdits {
        album.tracks.insert(newTrack(TrackData(added: turn), context), at: index(album.tracks.count))
        try context.save()
      }
      return listSum(album)
    }
  }

  /// Many edits in one save.
  ///
  /// - Parameter body: makes one edit. It gets a function that makes a track to add.
  func edit(_ store: TrellisStore, _ body: @escaping (OrderedToMany<Track>, () -> Track) -> Void) throws -> Work {
    let context = try store.newContext(), album = try loadedAlbum(context)
    return {
      for turn in 0..<editsOfASave { body(album.tracks) { newTrack(TrackData(added: turn), context) } }
      try context.save()
      return listSum(album)
    }
  }

  private func listSum(_ album: Album) -> Int {
    let list = album.tracks, count = list.count
    return orderedSum([count] + [0, count / 2, count - 1].map { Int(list[$0].seconds) })
  }
}
