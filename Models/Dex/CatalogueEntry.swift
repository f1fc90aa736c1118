public import Foundation
public import Trellis

/// A creature as a catalogue delivers it: nested JSON.
public struct CatalogueEntry: Decodable, Sendable {
  public struct Stats: Decodable, Sendable {
    public let hp: Int16
    public let attack: Int16
    public let defense: Int16
    public let speed: Int16
  }

  public let id: Int64
  public let name: String
  public let types: [String]
  public let stats: Stats
  public let sprites: [String: URL]
}

extension Pokemon {
  /// Makes the creatures of a catalogue, and saves them. Nobody looks whether one is known: who has the number of one that is
  /// there becomes that one, and so do pictures of one kind. What a catalogue does not know, such as nicknames, stays.
  ///
  /// - Parameter policy: `.objectTrump` when the catalogue is right, `.storeTrump` when what is there stays and only gaps are
  ///   filled. Under `.error` a known creature is refused.
  /// - Returns: how many are new.
  /// - Throws: `DecodingError` when the catalogue cannot be read; what a save throws.
  @discardableResult public static func importCatalogue(
    _ json: Data, into context: ManagedObjectContext, _ policy: MergePolicy = .objectTrump
  ) throws -> Int {
    let made = try JSONDecoder().decode([CatalogueEntry].self, from: json).map { Pokemon($0, in: context) }
    try context.save(mergePolicy: policy)
    return made.count { $0.replacedBy == nil }
  }

  private convenience init(_ entry: CatalogueEntry, in context: ManagedObjectContext) {
    let points = entry.stats
    self.init(
      in: context, number: entry.id, name: entry.name, types: entry.types, hp: points.hp, attack: points.attack,
      defense: points.defense, speed: points.speed)
    for (kind, url) in entry.sprites.sorted(by: { $0.key < $1.key }) {
      sprites.append(Sprite(in: context, kind: kind, url: url))
    }
  }
}
