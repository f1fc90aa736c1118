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
  /// Makes or changes the creatures of a catalogue, and saves them. What a catalogue does not know, such as nicknames, stays.
  ///
  /// - Returns: how many are new.
  @discardableResult public static func importCatalogue(_ json: Data, into context: ManagedObjectContext) throws -> Int
  {
    let entries = try JSONDecoder().decode([CatalogueEntry].self, from: json)
    let numbers = entries.map(\.id)
    let present = try context.fetch(Pokemon.where { $0.number.isIn(numbers) })
    var known = Dictionary(present.map { ($0.number, $0) }) { first, _ in first }
    for entry in entries {
      let pokemon = known[entry.id] ?? Pokemon(in: context, number: entry.id, name: entry.name)
      known[entry.id] = pokemon
      try pokemon.take(entry, in: context)
    }
    try context.save()
    return known.count - present.count
  }

  private func take(_ entry: CatalogueEntry, in context: ManagedObjectContext) throws {
    if name != entry.name { name = entry.name }
    if types != entry.types { types = entry.types }
    let points = entry.stats
    if let stats {
      (stats.hp, stats.attack, stats.defense, stats.speed) = (points.hp, points.attack, points.defense, points.speed)
    } else {
      stats = Stats(
        in: context, hp: points.hp, attack: points.attack, defense: points.defense, speed: points.speed)
    }
    for (kind, url) in entry.sprites.sorted(by: { $0.key < $1.key }) {
      if let sprite = sprites.first(where: { $0.kind == kind }) {
        sprite.url = url
      } else {
        sprites.append(Sprite(in: context, kind: kind, url: url))
      }
    }
    for sprite in sprites.objects where entry.sprites[sprite.kind] == nil { try context.delete(sprite) }
  }
}
