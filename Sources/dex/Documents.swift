/// Documents in the shape of PokeAPI, cut down to a few creatures and the keys that say something.
enum Documents {
  /// `pokemon-species`, one in each line.
  static let species = """
    {"id":172,"name":"pichu","is_baby":true,"capture_rate":190,"color":{"name":"yellow","url":"/api/v2/pokemon-color/10/"},"habitat":{"name":"forest"},"names":[{"language":{"name":"ko"},"name":"피츄"},{"language":{"name":"fr"},"name":"Pichu"}],"genera":[{"genus":"Tiny Mouse Pokémon","language":{"name":"en"}}]}
    {"id":25,"name":"pikachu","is_baby":false,"capture_rate":190,"color":{"name":"yellow","url":"/api/v2/pokemon-color/10/"},"habitat":{"name":"forest"},"names":[{"language":{"name":"ko"},"name":"피카츄"},{"language":{"name":"de"},"name":"Pikachu"}],"genera":[{"genus":"Mouse Pokémon","language":{"name":"en"}}]}
    {"id":26,"name":"raichu","is_baby":false,"capture_rate":75,"color":{"name":"yellow","url":"/api/v2/pokemon-color/10/"},"habitat":{"name":"forest"},"names":[{"language":{"name":"ko"},"name":"라이츄"}],"genera":[{"genus":"Mouse Pokémon","language":{"name":"en"}}]}
    {"id":4,"name":"charmander","is_baby":false,"capture_rate":45,"color":{"name":"red","url":"/api/v2/pokemon-color/8/"},"habitat":{"name":"mountain"},"names":[{"language":{"name":"ko"},"name":"파이리"}],"genera":[{"genus":"Lizard Pokémon","language":{"name":"en"}}]}
    {"id":133,"name":"eevee","is_baby":false,"capture_rate":45,"color":{"name":"brown","url":"/api/v2/pokemon-color/3/"},"habitat":null,"names":[{"language":{"name":"ko"},"name":"이브이"}],"genera":[{"genus":"Evolution Pokémon","language":{"name":"en"}}]}

    """

  /// `evolution-chain/10`
  static let chain = """
    {
      "id": 10, "baby_trigger_item": null,
      "chain": {
        "is_baby": true, "species": { "name": "pichu", "url": "/api/v2/pokemon-species/172/" }, "evolution_details": [],
        "evolves_to": [
          {
            "is_baby": false, "species": { "name": "pikachu", "url": "/api/v2/pokemon-species/25/" },
            "evolution_details": [{ "min_happiness": 220, "min_level": null, "trigger": { "name": "level-up" } }],
            "evolves_to": [
              {
                "is_baby": false, "species": { "name": "raichu", "url": "/api/v2/pokemon-species/26/" },
                "evolution_details": [{ "item": { "name": "thunder-stone" }, "trigger": { "name": "use-item" } }],
                "evolves_to": []
              }
            ]
          }
        ]
      }
    }
    """

  /// `pokemon`: the first edition.
  static let first = """
    [
      {
        "id": 4, "name": "charmander", "height": 6, "weight": 85, "base_experience": 62,
        "abilities": [
          { "ability": { "name": "blaze", "url": "/api/v2/ability/66/" }, "is_hidden": false, "slot": 1 },
          { "ability": { "name": "solar-power", "url": "/api/v2/ability/94/" }, "is_hidden": true, "slot": 3 }
        ],
        "species": { "name": "charmander", "url": "/api/v2/pokemon-species/4/" },
        "sprites": { "back_default": "https://example.org/back/4.png", "front_default": "https://example.org/4.png" },
        "stats": [
          { "base_stat": 39, "effort": 0, "stat": { "name": "hp" } },
          { "base_stat": 52, "effort": 0, "stat": { "name": "attack" } },
          { "base_stat": 43, "effort": 0, "stat": { "name": "defense" } },
          { "base_stat": 60, "effort": 0, "stat": { "name": "special-attack" } },
          { "base_stat": 50, "effort": 0, "stat": { "name": "special-defense" } },
          { "base_stat": 65, "effort": 1, "stat": { "name": "speed" } }
        ],
        "types": [{ "slot": 1, "type": { "name": "fire" } }]
      },
      {
        "id": 25, "name": "pikachu", "height": 4, "weight": 60, "base_experience": 112,
        "abilities": [
          { "ability": { "name": "static", "url": "/api/v2/ability/9/" }, "is_hidden": false, "slot": 1 },
          { "ability": null, "is_hidden": false, "slot": 2 },
          { "ability": { "name": "lightning-rod", "url": "/api/v2/ability/31/" }, "is_hidden": true, "slot": 3 }
        ],
        "species": { "name": "pikachu", "url": "/api/v2/pokemon-species/25/" },
        "sprites": {
          "back_default": "https://example.org/back/25.png", "back_female": null,
          "front_default": "https://example.org/25.png",
          "other": { "official-artwork": { "front_default": "https://example.org/art/25.png" } }
        },
        "stats": [
          { "base_stat": 35, "effort": 0, "stat": { "name": "hp" } },
          { "base_stat": 55, "effort": 0, "stat": { "name": "attack" } },
          { "base_stat": 40, "effort": 0, "stat": { "name": "defense" } },
          { "base_stat": 50, "effort": 0, "stat": { "name": "special-attack" } },
          { "base_stat": 50, "effort": 0, "stat": { "name": "special-defense" } },
          { "base_stat": 90, "effort": 2, "stat": { "name": "speed" } }
        ],
        "types": [{ "slot": 1, "type": { "name": "electric" } }]
      }
    ]
    """

  /// `pokemon`: the second edition. One creature is quicker, one is new, and the hp of the last one cannot be true.
  static let second = """
    [
      {
        "id": 4, "name": "charmander",
        "stats": [{ "base_stat": 95, "effort": 1, "stat": { "name": "speed" } }]
      },
      {
        "id": 133, "name": "eevee", "height": 3, "weight": 65, "base_experience": null,
        "abilities": [{ "ability": { "name": "run-away", "url": "/api/v2/ability/50/" }, "is_hidden": false, "slot": 1 }],
        "species": { "name": "eevee", "url": "/api/v2/pokemon-species/133/" },
        "sprites": { "front_default": "https://example.org/133.png" },
        "stats": [
          { "base_stat": 55, "effort": 0, "stat": { "name": "hp" } },
          { "base_stat": 55, "effort": 0, "stat": { "name": "attack" } },
          { "base_stat": 50, "effort": 0, "stat": { "name": "defense" } },
          { "base_stat": 45, "effort": 0, "stat": { "name": "special-attack" } },
          { "base_stat": 65, "effort": 1, "stat": { "name": "special-defense" } },
          { "base_stat": 55, "effort": 0, "stat": { "name": "speed" } }
        ],
        "types": [{ "slot": 1, "type": { "name": "normal" } }]
      },
      { "id": 25, "name": "pikachu", "stats": [{ "base_stat": 70000, "stat": { "name": "hp" } }] }
    ]
    """
}
