package import Foundation
package import Trellis
import TrellisJSON

/// Saves pictures with large data until it is killed: each save replaces, deletes and adds some.
package enum PictureLoop {
  /// What a picture's data is: known by a number, so that who looks at it can tell.
  package static func content(_ number: Int) -> Data {
    let size = 2_000 + number % 7 * 1_000
    return Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number &* 7 &+ $0 >> 8) })
  }

  package static func configuration(_ file: URL) -> StoreConfiguration {
    file.pathExtension == "json" ? .json(at: file, filesAbove: 1_000) : .sqlite(at: file, filesAbove: 1_000)
  }

  /// How many pictures there are at a time.
  static let pictures = 5

  static func run(_ file: URL) throws {
    let container = try PersistentContainer(model: .album, store: configuration(file), log: nil)
    let context = container.newContext()
    while true {
      print(try save(container, context))
      fflush(nil)
    }
  }

  /// Saves once; each fourth time files that nobody needs are collected.
  ///
  /// - Returns: how many saves there have been.
  @discardableResult package static func save(
    _ container: PersistentContainer, _ context: ManagedObjectContext
  ) throws -> Int {
    let album = try context.first(Album.all) ?? Album(in: context, title: "0")
    let number = (Int(album.title) ?? 0) + 1
    album.title = String(number)
    let picture = Picture(in: context, name: String(number), content: content(number), album: album)
    picture.preview = content(number / 3)
    for old in try context.fetch(Picture.all) where (Int(old.name) ?? 0) <= number - pictures {
      try context.delete(old)
    }
    try context.save()
    if number % 4 == 0 { try container.collectExternalFiles() }
    return number
  }

  /// What is wrong with a store: every picture that should be there is, with its own data, and no check finds anything.
  ///
  /// - Returns: the number of the latest save; 0 for an empty store.
  package static func verify(_ file: URL, _ note: (String) -> Void) throws -> Int {
    let container = try PersistentContainer(model: .album, store: configuration(file), log: nil)
    defer { container.close() }
    for finding in try container.check() { note("\(finding)") }
    let context = container.newContext()
    guard let album = try context.first(Album.all), let number = Int(album.title) else { return 0 }
    let names = try context.fetch(Picture.all).map { Int($0.name) ?? -1 }.sorted()
    if names != Array(max(1, number - pictures + 1)...number) { note("the pictures are \(names) after \(number)") }
    for picture in try context.fetch(Picture.all) {
      guard let own = Int(picture.name) else { continue }
      if picture.content != content(own) { note("the picture \(own) has other data") }
      if picture.preview != content(own / 3) { note("the picture \(own) has another preview") }
    }
    return number
  }
}
