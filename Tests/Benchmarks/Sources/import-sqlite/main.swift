import CSQLite3
import Foundation

// import-sqlite STORE SPECIES CREATURES: the same by hand: structs that a decoder fills, and upserts.

struct Named: Decodable { let name: String }

struct Reference: Decodable { let url: String }

struct SpeciesEntry: Decodable {
  let id: Int64
  let name: String
}

struct CreatureEntry: Decodable {
  struct Stat: Decodable {
    let base_stat: Int32
    let stat: Named
  }

  struct Kind: Decodable {
    let slot: Int32
    let type: Named
  }

  struct Sprites: Decodable {
    struct Other: Decodable {
      enum CodingKeys: String, CodingKey { case artwork = "official-artwork" }
      struct Artwork: Decodable { let front_default: String? }

      let artwork: Artwork
    }

    let other: Other
  }

  struct Cries: Decodable { let latest: String? }

  let id: Int64
  let name: String
  let height: Int32
  let weight: Int32
  let base_experience: Int32?
  let stats: [Stat]
  let sprites: Sprites
  let cries: Cries
  let species: Reference
  let types: [Kind]
}

let arguments = CommandLine.arguments
let connection = Connection(arguments[1])
// As a store with `.relaxed` durability is: nothing is torn, the last transactions may be lost with the power.
connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON")
connection.execute(
  """
  CREATE TABLE IF NOT EXISTS Species(pk INTEGER PRIMARY KEY, number INTEGER NOT NULL UNIQUE, name TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS Creature(pk INTEGER PRIMARY KEY, number INTEGER NOT NULL UNIQUE, name TEXT NOT NULL,
    height INTEGER NOT NULL, weight INTEGER NOT NULL, baseExperience INTEGER, hp INTEGER NOT NULL,
    attack INTEGER NOT NULL, defense INTEGER NOT NULL, speed INTEGER NOT NULL, artwork TEXT, cry TEXT,
    species INTEGER REFERENCES Species(pk));
  CREATE INDEX IF NOT EXISTS CreatureSpecies ON Creature(species);
  CREATE TABLE IF NOT EXISTS Kind(pk INTEGER PRIMARY KEY, slot INTEGER NOT NULL, name TEXT NOT NULL,
    creature INTEGER NOT NULL REFERENCES Creature(pk) ON DELETE CASCADE, UNIQUE(creature, slot));
  """)

let species = try JSONDecoder().decode([SpeciesEntry].self, from: Data(contentsOf: URL(filePath: arguments[2])))
connection.with(
  "INSERT INTO Species(number,name) VALUES(?,?) ON CONFLICT(number) DO UPDATE SET name=excluded.name WHERE name IS NOT excluded.name"
) { statement in
  connection.transaction {
    for entry in species {
      statement.bind(1, entry.id)
      statement.bind(2, entry.name)
      statement.run()
    }
  }
}

let upsert = """
  INSERT INTO Creature(number,name,height,weight,baseExperience,hp,attack,defense,speed,artwork,cry,species)
  VALUES(?,?,?,?,?,?,?,?,?,?,?,(SELECT pk FROM Species WHERE number=?))
  ON CONFLICT(number) DO UPDATE SET name=excluded.name,height=excluded.height,weight=excluded.weight,
  baseExperience=excluded.baseExperience,hp=excluded.hp,attack=excluded.attack,defense=excluded.defense,
  speed=excluded.speed,artwork=excluded.artwork,cry=excluded.cry,species=excluded.species RETURNING pk
  """
let upsertKind =
  "INSERT INTO Kind(slot,name,creature) VALUES(?,?,?) ON CONFLICT(creature,slot) DO UPDATE SET name=excluded.name WHERE name IS NOT excluded.name"
let creatures = try JSONDecoder().decode([CreatureEntry].self, from: Data(contentsOf: URL(filePath: arguments[3])))
func bind(_ statement: Statement, _ place: Int32, _ text: String?) {
  if let text { statement.bind(place, text) } else { sqlite3_bind_null(statement.pointer, place) }
}
connection.with(upsert) { statement in
  connection.with(upsertKind) { kind in
    connection.with("DELETE FROM Kind WHERE creature=? AND slot>?") { rest in
      for start in stride(from: 0, to: creatures.count, by: 1000) {
        connection.transaction {
          for entry in creatures[start..<min(start + 1000, creatures.count)] {
            var points: [String: Int32] = [:]
            for stat in entry.stats { points[stat.stat.name] = stat.base_stat }
            statement.bind(1, entry.id)
            statement.bind(2, entry.name)
            statement.bind(3, Int64(entry.height))
            statement.bind(4, Int64(entry.weight))
            if let experience = entry.base_experience {
              statement.bind(5, Int64(experience))
            } else {
              sqlite3_bind_null(statement.pointer, 5)
            }
            statement.bind(6, Int64(points["hp"] ?? 0))
            statement.bind(7, Int64(points["attack"] ?? 0))
            statement.bind(8, Int64(points["defense"] ?? 0))
            statement.bind(9, Int64(points["speed"] ?? 0))
            bind(statement, 10, entry.sprites.other.artwork.front_default)
            bind(statement, 11, entry.cries.latest)
            statement.bind(12, entry.species.url.split(separator: "/").last.flatMap { Int64($0) } ?? 0)
            guard statement.next() else { fatalError("no row came back") }
            let key = statement.key(0)
            statement.reset()
            for type in entry.types {
              kind.bind(1, Int64(type.slot))
              kind.bind(2, type.type.name)
              kind.bind(3, key)
              kind.run()
            }
            rest.bind(1, key)
            rest.bind(2, Int64(entry.types.map(\.slot).max() ?? 0))
            rest.run()
          }
        }
      }
    }
  }
}
print(creatures.count)
connection.close()
