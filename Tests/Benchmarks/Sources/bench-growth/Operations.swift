import Foundation
import GrowthModel
import Trellis

/// All operations, by what they are about.
let operations: [Operation] = uniqueKeys + orderedMembers + liveLists + deletes + chains + values + contexts

private let uniqueKeys = [
  Operation(name: "new objects with one same unique key, save refused, each") { count, container in
    let context = container.newContext()
    for _ in 0..<count { _ = Word(in: context, text: "same") }
    return try microseconds(per: count) {
      do { try context.save() } catch is ValidationError { return }
      throw Unexpected()
    }
  },
  Operation(name: "new objects with one same unique key, united, each") { count, container in
    let context = container.newContext()
    for _ in 0..<count { _ = Word(in: context, text: "same") }
    return try microseconds(per: count) { try context.save(mergePolicy: .objectTrump) }
  },
]

private let orderedMembers = [
  Operation(name: "insert at the front of a list, save; each of 10") { count, container in
    try insert(at: { _ in 0 }, count, container)
  },
  Operation(name: "insert in the middle of a list, save; each of 10") { count, container in
    try insert(at: { $0 / 2 }, count, container)
  },
  Operation(name: "insert in the middle of a list, each of 100, then save") { count, container in
    try edit(count, container, times: 100) { album, context in
      album.tracks.insert(track(context), at: album.tracks.count / 2)
    }
  },
  Operation(name: "remove(at:) in the middle, each of 100, then save") { count, container in
    try edit(count, container, times: 100) { album, _ in album.tracks.remove(at: album.tracks.count / 2) }
  },
  Operation(name: "move(from:to:), each of 100, then save") { count, container in
    try edit(count, container, times: 100) { album, _ in album.tracks.move(from: album.tracks.count - 1, to: 0) }
  },
  Operation(name: "append, each of 100, then save") { count, container in
    try edit(count, container, times: 100) { album, context in album.tracks.append(track(context)) }
  },
]

private func track(_ context: ManagedObjectContext) -> Track {
  Track(in: context, title: "new", seconds: 1, genre: 1, price: 1)
}

private func insert(
  at place: (Int) -> Int, _ count: Int, _ container: PersistentContainer
) throws -> Double {
  let id = try container.fillAlbum(count)
  let context = container.newContext()
  let album = try context.object(with: id)
  _ = album?.tracks.count
  guard let album else { throw Unexpected() }
  return try microseconds(per: 10) {
    for _ in 0..<10 {
      album.tracks.insert(track(context), at: place(album.tracks.count))
      try context.save()
    }
  }
}

private func edit(
  _ count: Int, _ container: PersistentContainer, times: Int, _ body: (Album, ManagedObjectContext) -> Void
) throws -> Double {
  let id = try container.fillAlbum(count)
  let context = container.newContext()
  guard let album = try context.object(with: id) else { throw Unexpected() }
  for track in album.tracks { _ = track.title }
  return try microseconds(per: times) {
    for _ in 0..<times { body(album, context) }
    try context.save()
  }
}

private let liveLists = [
  Operation(name: "save that concerns none of the live lists, each list", most: 10_000) { count, container in
    _ = try container.fillAlbum(10)
    let context = container.newContext()
    let lists = try (0..<count).map { number in
      try context.live(Track.where { $0.genre == Int64(number) })
    }
    guard let album = try context.first(Album.all) else { throw Unexpected() }
    let cost = try microseconds(per: count * 10) {
      for number in 0..<10 {
        album.name = "\(number)"
        try context.save()
      }
    }
    withExtendedLifetime(lists) {}
    return cost
  }
]

private let deletes = [
  Operation(name: "validateForDelete that members refuse, a call") { count, container in
    let id = try container.fillAlbum(count)
    let context = container.newContext()
    guard let album = try context.object(with: id) else { throw Unexpected() }
    return try microseconds(per: 1) {
      do { try context.validateForDelete(album) } catch is ValidationError { return }
      throw Unexpected()
    }
  },
  Operation(name: "delete that members refuse, and the refused save, a call") { count, container in
    let id = try container.fillAlbum(count)
    let context = container.newContext()
    guard let album = try context.object(with: id) else { throw Unexpected() }
    return try microseconds(per: 1) {
      do {
        try context.delete(album)
        try context.save()
      } catch is ValidationError { return }
      throw Unexpected()
    }
  },
]

private let chains = [
  Operation(name: "chain walked down, each node") { count, container in
    let id = try container.fillChain(count)
    let context = container.newContext()
    return try microseconds(per: count) {
      var node = try context.object(with: id)
      while let next = node?.children.first { node = next }
    }
  },
  Operation(name: "chain walked up, each node") { count, container in
    _ = try container.fillChain(count)
    let context = container.newContext()
    let last = try context.first(Node.where { $0.number == Int64(count - 1) })
    return microseconds(per: count) {
      var node = last
      while let next = node?.parent { node = next }
    }
  },
  Operation(name: "chain deleted and saved, each node") { count, container in
    let id = try container.fillChain(count)
    let context = container.newContext()
    guard let root = try context.object(with: id) else { throw Unexpected() }
    return try microseconds(per: count) {
      try context.delete(root)
      try context.save()
    }
  },
]

private let values = [
  Operation(name: "sum over all, each row") { count, container in
    _ = try container.fillAlbum(count)
    let context = container.newContext()
    return try microseconds(per: count) { _ = try context.aggregate(Track.all) { $0.seconds.sum } }
  },
  Operation(name: "count and sum by group, each row") { count, container in
    _ = try container.fillAlbum(count)
    let context = container.newContext()
    return try microseconds(per: count) {
      _ = try context.grouped(Track.all, by: { $0.genre }) { ($0.count, $0.seconds.sum) }
    }
  },
]

private let contexts = [
  Operation(name: "first fetch of a fresh context while others live, each", most: 10_000) { count, container in
    _ = try container.fillAlbum(10)
    var kept: [ManagedObjectContext] = []
    return try microseconds(per: count) {
      for _ in 0..<count {
        let context = container.newContext()
        _ = try context.first(Album.all)
        kept.append(context)
      }
    }
  }
]

/// An operation that did not do what it is there for.
struct Unexpected: Error {}
