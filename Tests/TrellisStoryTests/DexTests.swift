import Foundation
import Testing
import Trellis
import TrellisDexModel
import TrellisJSON
import TrellisTestSupport

@Suite("The story of Dex") struct DexTests {
  private static let first = pikachu()
  private static let second = pikachu(name: "raichu", speed: 95, sprites: ["front_default": 2, "front_shiny": 2])

  /// `pokemon/25`, in the shape of PokeAPI.
  private static func pikachu(
    name: String = "pikachu", experience: Int? = 112, speed: Int = 90,
    sprites: [String: Int] = ["front_default": 1, "back_default": 1]
  ) -> Data {
    let pictures = sprites.sorted { $0.key < $1.key }
      .map { "\"\($0)\": \"https://example.org/\($1)/\($0).png\", " }.joined()
    return Data(
      """
      {
        "id": 25, "name": "\(name)", "height": 4, "weight": 60, "base_experience": \(experience.map(String.init) ?? "null"),
        "is_default": true, "order": 35, "location_area_encounters": "/api/v2/pokemon/25/encounters",
        "abilities": [
          { "ability": { "name": "static", "url": "/api/v2/ability/9/" }, "is_hidden": false, "slot": 1 },
          { "ability": null, "is_hidden": false, "slot": 2 },
          { "ability": { "name": "lightning-rod", "url": "/api/v2/ability/31/" }, "is_hidden": true, "slot": 3 }
        ],
        "past_abilities": [{ "abilities": [{ "ability": null, "is_hidden": true, "slot": 3 }], "generation": null }],
        "species": { "name": "pikachu", "url": "/api/v2/pokemon-species/25/" },
        "sprites": {
          \(pictures)"back_female": null,
          "other": { "dream_world": { "front_female": null },
            "official-artwork": { "front_default": "https://example.org/art.png" } },
          "versions": { "generation-i": { "red-blue": { "front_gray": "https://example.org/gray.png" } } }
        },
        "stats": [
          { "base_stat": 35, "effort": 0, "stat": { "name": "hp", "url": "/api/v2/stat/1/" } },
          { "stat": { "url": "/api/v2/stat/2/", "name": "attack" }, "base_stat": 55, "effort": 0 },
          { "base_stat": 40, "effort": 0, "stat": { "name": "defense", "url": "/api/v2/stat/3/" } },
          { "base_stat": 50, "effort": 0, "stat": { "name": "special-attack", "url": "/api/v2/stat/4/" } },
          { "base_stat": 51, "effort": 0, "stat": { "name": "special-defense", "url": "/api/v2/stat/5/" } },
          { "base_stat": \(speed), "effort": 2, "stat": { "name": "speed", "url": "/api/v2/stat/6/" } }
        ],
        "types": [
          { "slot": 1, "type": { "name": "electric", "url": "/api/v2/type/13/" } },
          { "slot": 2, "type": { "name": "flying", "url": "/api/v2/type/3/" } }
        ]
      }
      """.utf8)
  }

  private static let species = Data(
    """
    [
      { "id": 172, "name": "pichu", "is_baby": true, "is_legendary": false, "capture_rate": 190, "habitat": null,
        "color": { "name": "yellow", "url": "/api/v2/pokemon-color/10/" },
        "evolution_chain": { "url": "/api/v2/evolution-chain/10/" }, "evolves_from_species": null,
        "genera": [{ "genus": "Tiny Mouse Pokémon", "language": { "name": "en" } }],
        "names": [{ "language": { "name": "ko" }, "name": "피츄" }, { "language": { "name": "fr" }, "name": "Pichu" }] },
      { "id": 25, "name": "pikachu", "names": [{ "language": { "name": "fr" }, "name": "Pikachu" }] },
      { "id": 26, "name": "raichu" }
    ]
    """.utf8)

  private static func chain(_ links: String...) -> Data {
    Data(#"{ "id": 10, "baby_trigger_item": null, "chain": \#(links.joined()) }"#.utf8)
  }

  private static func link(_ species: Int, _ next: String...) -> String {
    let details = species == 26 ? #"[{ "min_level": null, "trigger": { "name": "use-item", "url": "/3/" } }]"# : "[]"
    return #"""
      { "is_baby": false, "species": { "name": "?", "url": "/api/v2/pokemon-species/\#(species)/" },
        "evolution_details": \#(details), "evolves_to": [\#(next.joined(separator: ", "))] }
      """#
  }

  private func world(_ kind: StoreKind) throws -> (TestContainer, ManagedObjectContext) {
    let shelf = try TestContainer(.dex, kind)
    let context = shelf.container.newContext()
    try context.importJSON(Species.self, from: Self.species)
    let report = try context.importJSON(Pokemon.self, from: Self.first)
    #expect(report.rejected.isEmpty && report.unresolved.isEmpty)
    // The creature, two pictures, three slots and two abilities.
    #expect(report.inserted.count == 8)
    try #require(try context.first(Pokemon.all)).nickname = "Sparky"
    try context.save()
    return (shelf, context)
  }

  /// What the store has: the creatures, and their pictures.
  private func stored(_ shelf: TestContainer) throws -> [String] {
    let context = shelf.container.newContext()
    let creatures = try context.fetch(Pokemon.all).map { "\($0.number) \($0.name) \($0.speed) \($0.nickname ?? "-")" }
    return creatures
      + (try context.fetch(Sprite.all.sorted { $0.kind })).map { "\($0.pokemon?.number ?? 0) \($0.url.path)" }
  }

  @Test("each value is found where PokeAPI has it", arguments: StoreKind.inPlace)
  func values(kind: StoreKind) throws {
    let (shelf, _) = try world(kind)
    let context = shelf.container.newContext()
    let pikachu = try #require(try context.first(Pokemon.all))
    #expect(pikachu.height == 4 && pikachu.weight == 60 && pikachu.baseExperience == 112)
    #expect(pikachu.types == ["electric", "flying"])
    #expect([pikachu.hp, pikachu.attack, pikachu.defense] == [35, 55, 40])
    #expect([pikachu.specialAttack, pikachu.specialDefense, pikachu.speed] == [50, 51, 90])
    #expect(pikachu.total == 321)
    #expect(pikachu.artwork?.path == "/art.png")
    #expect(pikachu.sprites.map(\.kind).sorted() == ["back_default", "front_default"])
    #expect(pikachu.abilities.map(\.slot) == [1, 2, 3] && pikachu.abilities.map(\.isHidden) == [false, false, true])
    #expect(pikachu.abilities.map { $0.ability?.name } == ["static", nil, "lightning-rod"])
    #expect(pikachu.abilities.map { $0.ability?.number } == [9, nil, 31])
    #expect(pikachu.species?.name == "pikachu" && pikachu.species?.koreanName == nil)
  }

  @Test("an absent name, a null and a changed value of a species", arguments: StoreKind.inPlace)
  func species(kind: StoreKind) throws {
    let (shelf, context) = try world(kind)
    defer { withExtendedLifetime(shelf) {} }
    let pichu = try #require(try context.first(Species.where { $0.number == 172 }))
    #expect(pichu.koreanName == "피츄" && pichu.genus == "Tiny Mouse Pokémon" && pichu.color == "yellow")
    #expect(pichu.isBaby && !pichu.isLegendary && pichu.captureRate == 190 && pichu.habitat == nil)
    let report = try context.importJSON(
      Species.self, from: Data(#"{ "id": 172, "habitat": { "name": "forest" }, "color": null }"#.utf8))
    #expect(report.updated.count == 1)
    #expect(pichu.habitat == "forest" && pichu.color == nil && pichu.koreanName == "피츄")
  }

  @Test("an evolution chain is imported link by link, and follows a new document", arguments: StoreKind.inPlace)
  func chain(kind: StoreKind) throws {
    let (shelf, context) = try world(kind)
    defer { withExtendedLifetime(shelf) {} }
    let document = Self.chain(Self.link(172, Self.link(25, Self.link(26))))
    #expect(try context.importJSON(EvolutionChain.self, from: document).inserted.count == 4)
    let chain = try #require(try context.first(EvolutionChain.all))
    let pichu = try #require(chain.first?.species)
    #expect(pichu.evolvesTo.map(\.name) == ["pikachu"] && pichu.evolvesTo.first?.evolvesTo.map(\.name) == ["raichu"])
    #expect(pichu.evolvesTo.first?.link?.evolvesTo.first?.trigger == "use-item")
    #expect(try context.importJSON(EvolutionChain.self, from: document).unchanged.count == 4)

    // One document says that both evolve from the first one, and the next that one does not belong to them.
    try context.importJSON(EvolutionChain.self, from: Self.chain(Self.link(172, Self.link(26), Self.link(25))))
    #expect(pichu.evolvesTo.map(\.name) == ["raichu", "pikachu"])
    try context.importJSON(EvolutionChain.self, from: Self.chain(Self.link(172, Self.link(26))))
    #expect(pichu.evolvesTo.map(\.name) == ["raichu"])
    #expect(try context.count(EvolutionLink.all) == 2 && context.count(Species.all) == 3)
  }

  @Test("a document is imported once more under each policy", arguments: StoreKind.inPlace)
  func importing(kind: StoreKind) throws {
    let (shelf, context) = try world(kind)
    let known = try #require(try context.first(Pokemon.all)).objectID
    let filled = try context.importJSON(Pokemon.self, from: Self.second, mergePolicy: .storeTrump)
    #expect(filled.inserted.count == 1 && filled.updated.count == 1)
    #expect(
      try stored(shelf) == [
        "25 pikachu 90 Sparky", "25 /1/back_default.png", "25 /1/front_default.png", "25 /2/front_shiny.png",
      ])
    let won = try context.importJSON(Pokemon.self, from: Self.second, mergePolicy: .objectTrump)
    #expect(won.inserted.isEmpty && won.rejected.isEmpty)
    #expect(
      try stored(shelf) == ["25 raichu 95 Sparky", "25 /2/front_default.png", "25 /2/front_shiny.png"])
    #expect(try shelf.container.newContext().first(Pokemon.all)?.objectID == known)
  }

  @Test("a gap is filled, and a null clears", arguments: StoreKind.inPlace)
  func gaps(kind: StoreKind) throws {
    let (shelf, context) = try world(kind)
    defer { withExtendedLifetime(shelf) {} }
    let pikachu = try #require(try context.first(Pokemon.all))
    try context.importJSON(Pokemon.self, from: Self.pikachu(experience: nil))
    #expect(pikachu.baseExperience == nil)
    try context.importJSON(Pokemon.self, from: Self.pikachu(experience: 113, speed: 1), mergePolicy: .storeTrump)
    #expect(pikachu.baseExperience == 113 && pikachu.speed == 90)
    try context.importJSON(Pokemon.self, from: Self.pikachu(experience: nil), mergePolicy: .storeTrump)
    #expect(pikachu.baseExperience == 113)
  }

  @Test("under the policy error a known creature is refused by name, and nothing is imported") func refusing() throws {
    let (shelf, context) = try world(.memory)
    let before = try stored(shelf)
    let error = #expect(throws: JSONImportError.self) {
      try context.importJSON(Pokemon.self, from: Self.second, mergePolicy: .error, rejecting: .everything)
    }
    #expect(error?.failures.first?.description == "1:1 /: Pokemon: is in the store already [exists]")
    #expect(try !context.hasChanges && stored(shelf) == before)
  }

  @Test("the same document again writes nothing", arguments: StoreKind.inPlace)
  func again(kind: StoreKind) async throws {
    let (shelf, context) = try world(kind)
    let before = try stored(shelf)
    var saves = shelf.container.saves.makeAsyncIterator()
    for policy in [MergePolicy.objectTrump, .storeTrump, .rollback] {
      let report = try context.importJSON(Pokemon.self, from: Self.first, mergePolicy: policy)
      #expect(report.inserted.isEmpty && report.updated.isEmpty && report.unchanged.count == 8)
      #expect(try stored(shelf) == before)
    }
    let pikachu = try #require(try context.first(Pokemon.all))
    pikachu.nickname = "Volt"
    try context.save()
    // It is the first save since then. On a server, other databases may be written to at the same time.
    var save = try #require(await saves.next())
    while !save.isComplete { save = try #require(await saves.next()) }
    #expect(save.updated(of: Pokemon.self) == [pikachu.objectID] && save.updated.count == 1 && save.inserted.isEmpty)
  }

  @Test("a live list shows what an import changes", arguments: StoreKind.inPlace)
  func live(kind: StoreKind) async throws {
    let (shelf, context) = try world(kind)
    defer { withExtendedLifetime(shelf) {} }
    let quick = try context.live(Pokemon.where { $0.speed >= 80 }.sorted { $0.speed.descending })
    #expect(quick.map(\.speed) == [90])
    let changes = quick.changes
    try context.importJSON(Pokemon.self, from: Self.first)
    try context.importJSON(Pokemon.self, from: Self.second)
    let id = try #require(quick.first).objectID
    for await change in changes {
      #expect(change.steps == [.update(id, at: 0)])
      break
    }
    #expect(quick.map(\.speed) == [95])
    try context.importJSON(Pokemon.self, from: Self.pikachu(speed: 20))
    #expect(quick.isEmpty)
  }

  @Test("a creature that cannot be is left out with its place, and the others are imported") func rejected() throws {
    let (shelf, context) = try world(.memory)
    let text = String(decoding: Self.second, as: UTF8.self)
    let wrong = text.replacing("\"base_stat\": 35", with: "\"base_stat\": 70000")
    let report = try context.importJSON(
      Pokemon.self, from: Data("[\(wrong), \(text.replacing("\"id\": 25", with: "\"id\": 26"))]".utf8))
    #expect(
      report.rejected.map(\.description) == [
        "18:20 /0/stats/0/base_stat: Pokemon.hp: must be a whole number from -32768 to 32767 [bad-value]"
      ])
    #expect(try stored(shelf).filter { !$0.contains("/") } == ["25 pikachu 90 Sparky", "26 raichu 95 -"])
  }

  @Test("a document that is written is read as the same", arguments: StoreKind.inPlace)
  func exporting(kind: StoreKind) throws {
    let (shelf, context) = try world(kind)
    try context.importJSON(EvolutionChain.self, from: Self.chain(Self.link(172, Self.link(25, Self.link(26)))))
    let creatures = try context.exportJSON(Pokemon.all)
    #expect(!String(decoding: creatures, as: UTF8.self).contains("Sparky"))
    let chains = try context.exportJSON(EvolutionChain.all)
    let species = try context.exportJSON(Species.all)

    let other = try TestContainer(.dex, kind)
    defer { withExtendedLifetime((shelf, other)) {} }
    let empty = other.container.newContext()
    try empty.importJSON(Species.self, from: species)
    let read = try empty.importJSON(EvolutionChain.self, from: chains)
    #expect(read.inserted.count == 4 && read.rejected.isEmpty)
    try empty.importJSON(Pokemon.self, from: creatures)
    #expect(try empty.exportJSON(Pokemon.all) == creatures)
    #expect(try empty.exportJSON(EvolutionChain.all) == chains)
    #expect(try empty.exportJSON(Species.all) == species)
    #expect(try context.importJSON(Pokemon.self, from: creatures).updated.isEmpty)
  }
}
