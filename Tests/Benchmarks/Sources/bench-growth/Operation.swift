import Foundation
import GrowthModel
import Trellis

/// Work of which each item should cost the same, however many there are.
struct Operation: Sendable {
  let name: String
  /// The largest number of items that is tried unless more is asked for.
  var most = 100_000
  /// - Returns: the microseconds of each item.
  let run: @Sendable (_ count: Int, _ container: PersistentContainer) throws -> Double
}

extension PersistentContainer {
  /// Saves an album with tracks.
  func fillAlbum(_ count: Int) throws -> ObjectID<Album> {
    let context = newContext()
    let album = Album(in: context, name: "album")
    for number in 0..<count {
      album.tracks.append(
        Track(
          in: context, title: "track \(number)", seconds: Int64(number % 600), genre: Int64(number % 20), price: 0.25))
    }
    try context.save()
    return album.id
  }

  /// Saves a chain of nodes.
  func fillChain(_ count: Int) throws -> ObjectID<Node> {
    let context = newContext()
    let root = Node(in: context, number: 0)
    var last = root
    for number in 1..<count {
      let node = Node(in: context, number: Int64(number))
      node.parent = last
      last = node
    }
    try context.save()
    return root.id
  }
}
