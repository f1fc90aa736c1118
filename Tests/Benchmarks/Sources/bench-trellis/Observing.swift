import BenchModel
import Trellis
import Workload

extension TrellisBench {
  /// Saves that concern none of many live lists.
  func liveLists(_ listCount: Int, _ store: TrellisStore) throws -> Work {
    let context = try store.newContext()
    let album = Album(in: context, name: "album")
    try context.save()
    let lists = try (0..<listCount).map { number in
      try context.live(Track.where { $0.genre == Int64(number) })
    }
    return {
      for turn in 0..<savesBesideLists {
        album.name = String(turn)
        try context.save()
      }
      withExtendedLifetime(lists) {}
      return savesBesideLists
    }
  }

  /// The first fetch of each of many contexts, all of which stay.
  func freshContexts(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    let context = container.newContext()
    _ = Album(in: context, name: "album")
    try context.save()
    return {
      var kept: [ManagedObjectContext] = []
      var sum = 0
      for _ in 0..<settings.items(.freshContexts) {
        let context = container.newContext()
        sum &+= try context.first(Album.all)?.name.utf8.count ?? 0
        kept.append(context)
      }
      return sum
    }
  }

  /// Readers fetch in a new context each time. The writer has one of its own.
  func readersAndWriter(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    let context = container.newContext()
    for number in 0..<sharedTracks {
      _ = Track(in: context, title: "track \(number)", seconds: Int64(secondsOfASharedTrack), genre: 1)
    }
    try context.save()
    return {
      try readersBesideWriter {
        let context = container.newContext()
        return try context.fetch(Track.all).reduce(0) { $0 &+ Int($1.seconds) }
      } write: { turn in
        let context = container.newContext()
        let tracks = try context.fetch(Track.all)
        tracks[turn % sharedTracks].seconds -= 1
        tracks[(turn + 1) % sharedTracks].seconds += 1
        try context.save()
      }
    }
  }
}
