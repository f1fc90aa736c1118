/// Two editions of a catalogue.
enum Catalogue {
  static let first = """
    [
      { "id": 1, "name": "Bulbasaur", "types": ["grass", "poison"],
        "stats": { "hp": 45, "attack": 49, "defense": 49, "speed": 45 },
        "sprites": { "front": "https://example.org/1/front.png", "back": "https://example.org/1/back.png" } },
      { "id": 4, "name": "Charmander", "types": ["fire"],
        "stats": { "hp": 39, "attack": 52, "defense": 43, "speed": 65 },
        "sprites": { "front": "https://example.org/4/front.png" } },
      { "id": 7, "name": "Squirtle", "types": ["water"],
        "stats": { "hp": 44, "attack": 48, "defense": 65, "speed": 43 },
        "sprites": { "front": "https://example.org/7/front.png" } },
      { "id": 25, "name": "Pikachu", "types": ["electric"],
        "stats": { "hp": 35, "attack": 55, "defense": 40, "speed": 90 },
        "sprites": { "front": "https://example.org/25/front.png" } }
    ]
    """

  static let second = """
    [
      { "id": 7, "name": "Squirtle", "types": ["water"],
        "stats": { "hp": 44, "attack": 48, "defense": 65, "speed": 46 },
        "sprites": { "front": "https://example.org/7/front2.png" } },
      { "id": 4, "name": "Zippo", "types": ["fire"],
        "stats": { "hp": 39, "attack": 52, "defense": 43, "speed": 65 },
        "sprites": { "front": "https://example.org/4/front.png" } },
      { "id": 133, "name": "Eevee", "types": ["normal"],
        "stats": { "hp": 55, "attack": 55, "defense": 50, "speed": 55 },
        "sprites": { "front": "https://example.org/133/front.png" } }
    ]
    """
}
