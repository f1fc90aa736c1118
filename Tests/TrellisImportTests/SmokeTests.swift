import Foundation
import Testing
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisRuntime

@Suite("Smoke") struct SmokeTests {
  static var dex: ModelDescription {
    ModelDescription(
      name: "Dex",
      entities: [
        EntityDescription(
          "Pokemon",
          attributes: [
            AttributeDescription("number", .int64, json: PropertyJSON("id")),
            AttributeDescription("name", .string),
            AttributeDescription("hp", .int16, json: PropertyJSON("stats[stat.name=hp].base_stat")),
            AttributeDescription("types", .array(.string), default: .list([]), json: PropertyJSON("types[*].type.name")),
            AttributeDescription(
              "artwork", .url, optional: true, json: PropertyJSON("sprites.other.official-artwork.front_default")),
            AttributeDescription("nickname", .string, optional: true, json: PropertyJSON(mapped: false)),
          ],
          relationships: [
            RelationshipDescription(
              "species", to: "Species", inverse: "forms", optional: true,
              json: PropertyJSON("species.url", take: [.lastPathComponent, .number], reference: "number")),
            RelationshipDescription(
              "sprites", to: "Sprite", inverse: "pokemon", deleteRule: .cascade, toMany: true,
              json: PropertyJSON("sprites.*")),
          ],
          uniqueKeys: [["number"]], json: EntityJSON(key: ["number"], style: .snakeCase)),
        EntityDescription(
          "Species",
          attributes: [
            AttributeDescription("number", .int64, json: PropertyJSON("id")),
            AttributeDescription("name", .string),
            AttributeDescription("genus", .string, optional: true),
          ],
          relationships: [
            RelationshipDescription("forms", to: "Pokemon", inverse: "species", toMany: true),
            RelationshipDescription(
              "evolvesTo", to: "Species", inverse: "evolvesFrom", toMany: true, json: PropertyJSON()),
            RelationshipDescription("evolvesFrom", to: "Species", inverse: "evolvesTo", optional: true),
          ],
          uniqueKeys: [["number"]], json: EntityJSON(key: ["number"], style: .snakeCase)),
        EntityDescription(
          "Sprite",
          attributes: [
            AttributeDescription("kind", .string, json: PropertyJSON("$key")),
            AttributeDescription("url", .url, json: PropertyJSON("$value")),
          ],
          relationships: [RelationshipDescription("pokemon", to: "Pokemon", inverse: "sprites")],
          uniqueKeys: [["pokemon", "kind"]], json: EntityJSON(key: ["pokemon", "kind"])),
      ])
  }

  @Test func pikachu() throws {
    let container = try PersistentContainer(model: ObjectModel(dynamic: Self.dex), store: .memory, log: nil)
    let context = container.newContext()
    let text = """
      [{"id": 25, "name": "pikachu", "stats": [{"base_stat": 35, "stat": {"name": "hp"}}, {"base_stat": 5, "stat": {"name": "x"}}],
        "types": [{"type": {"name": "electric"}}, null], "species": {"url": "/api/v2/pokemon-species/25/"},
        "sprites": {"front_default": "https://e.org/25.png", "back_default": null, "other": {"official-artwork": {"front_default": "https://e.org/art.png"}}}},
       {"id": 26, "name": "raichu", "stats": [{"stat": {"name": "hp"}, "base_stat": 70000}]},
       {"id": 27}]
      """
    let report = try context.importJSON(entity: 0, from: Data(text.utf8))
    print(report.inserted.map(\.description), report.updated.count, report.unchanged.count)
    for f in report.rejected + report.unresolved { print(f) }
    let pokemon = try context.objects("Pokemon")
    for p in pokemon { print(p["number"], p["name"], p["hp"], p["types"], p["artwork"], try p.members("sprites").map { ($0["kind"], $0["url"]) }) }
    let again = try context.importJSON(entity: 0, from: Data(text.utf8), pieces: 3)
    print(again.inserted.map(\.description), again.updated.map(\.description), again.unchanged.map(\.description))
    let species = """
      {"id": 1, "name": "a", "evolves_to": [{"id": 25, "name": "pikachu", "evolves_to": []}, {"id": 26, "name": "r"}]}
      """
    let third = try context.importJSON(entity: 1, from: Data(species.utf8))
    print(third.inserted.map(\.description), third.rejected, third.unresolved)
    let fourth = try context.importJSON(entity: 0, from: Data(text.utf8), pieces: 3)
    print(fourth.inserted.map(\.description), fourth.updated.map(\.description), fourth.unchanged.map(\.description), fourth.unresolved)
  }
}
