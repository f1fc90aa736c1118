import Foundation
import Testing
import Trellis
import TrellisDexModel
import TrellisTestSupport

@Suite("The story of Dex") struct DexTests {
  private static let first = catalogue(name: "Pikachu", speed: 90, sprites: ["front": 1, "back": 1])
  private static let second = catalogue(name: "Volt", speed: 95, sprites: ["front": 2, "side": 2])

  private static func catalogue(name: String, speed: Int, sprites: [String: Int]) -> Data {
    let pictures = sprites.map { "\"\($0)\": \"https://example.org/\($1)/\($0).png\"" }.joined(separator: ", ")
    return Data(
      """
      [{ "id": 25, "name": "\(name)", "types": ["electric"],
         "stats": { "hp": 35, "attack": 55, "defense": 40, "speed": \(speed) }, "sprites": { \(pictures) } }]
      """.utf8)
  }

  private func world(_ kind: StoreKind) throws -> (TestContainer, ManagedObjectContext) {
    let shelf = try TestContainer(.dex, kind)
    let context = shelf.container.newContext()
    #expect(try Pokemon.importCatalogue(Self.first, into: context) == 1)
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

  @Test("a catalogue is imported once more under each policy", arguments: StoreKind.inPlace)
  func importing(kind: StoreKind) throws {
    let (shelf, context) = try world(kind)
    let known = try #require(try context.first(Pokemon.all)).objectID
    #expect(try Pokemon.importCatalogue(Self.second, into: context, .storeTrump) == 0)
    #expect(
      try stored(shelf) == ["25 Pikachu 90 Sparky", "25 /1/back.png", "25 /1/front.png", "25 /2/side.png"])
    #expect(try Pokemon.importCatalogue(Self.second, into: context, .objectTrump) == 0)
    #expect(try stored(shelf) == ["25 Volt 95 Sparky", "25 /1/back.png", "25 /2/front.png", "25 /2/side.png"])
    #expect(try shelf.container.newContext().first(Pokemon.all)?.objectID == known)
  }

  @Test("without a policy a known number is refused by name, and nothing is imported") func refusing() throws {
    let (shelf, context) = try world(.memory)
    let before = try stored(shelf)
    let error = #expect(throws: ValidationError.self) {
      try Pokemon.importCatalogue(Self.second, into: context, .error)
    }
    #expect(error?.failures.map(\.property) == ["number"] && error?.failures.map(\.rule) == [.unique])
    context.rollback()
    #expect(try stored(shelf) == before)
  }

  @Test("the same catalogue again changes nothing") func again() throws {
    let (shelf, context) = try world(.sqlite)
    let before = try stored(shelf)
    for policy in [MergePolicy.objectTrump, .storeTrump, .rollback] {
      #expect(try Pokemon.importCatalogue(Self.first, into: context, policy) == 0)
      #expect(try stored(shelf) == before)
    }
  }
}
