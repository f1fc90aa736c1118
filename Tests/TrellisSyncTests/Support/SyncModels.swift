import TrellisModel
import TrellisModelFile
import TrellisRuntime

@testable import TrellisDynamic

/// The models of the tests, as text.
enum SyncModels {
  static func description(_ text: String) -> ModelDescription {
    guard let description = ModelFile.parse(Array(text.utf8), path: "Test.model.json").description else {
      fatalError("The model of the test is wrong: \(ModelFile.parse(Array(text.utf8), path: "Test.model.json"))")
    }
    return description
  }

  static func model(_ text: String) -> ObjectModel { ObjectModel(dynamic: description(text)) }

  /// Lists with items and tags.
  static let lists = """
    {
      "model": "Lists", "history": "values",
      "entities": {
        "List": {
          "attributes": { "name": "string", "total": { "type": "int64", "default": 0 } },
          "relationships": {
            "items": { "destination": "Item", "inverse": "list", "toMany": true, "ordered": true, "deleteRule": "cascade",
                       "maxCount": 5 }
          }
        },
        "Item": {
          "attributes": {
            "text": "string", "done": { "type": "bool", "default": false },
            "picture": { "type": "data?", "externalStorage": true }
          },
          "relationships": {
            "list": { "destination": "List", "inverse": "items" },
            "tags": { "destination": "Tag", "inverse": "items", "toMany": true },
            "person": { "destination": "Person", "inverse": "items", "optional": true }
          }
        },
        "Tag": {
          "attributes": { "name": "string", "color": "string?" },
          "unique": ["name"],
          "relationships": { "items": { "destination": "Item", "inverse": "tags", "toMany": true } }
        },
        "Person": {
          "attributes": { "name": "string" },
          "relationships": {
            "items": { "destination": "Item", "inverse": "person", "toMany": true, "deleteRule": "deny" }
          }
        }
      }
    }
    """

  /// A relationship of each shape, each delete rule, and values of each kind.
  static let shapes = """
    {
      "model": "Shapes", "history": "values",
      "composites": { "Money": { "attributes": {
        "amount": { "type": "decimal", "default": 0 }, "currency": { "type": "string", "default": "KRW" } } } },
      "entities": {
        "Place": {
          "attributes": {
            "name": "string", "visits": { "type": "int64", "default": 0 }, "price": "Money", "tip": "Money?",
            "photo": { "type": "data?", "externalStorage": true }, "code": "string?"
          },
          "unique": ["code"],
          "relationships": {
            "within": { "destination": "Place", "inverse": "parts", "optional": true },
            "parts": { "destination": "Place", "inverse": "within", "toMany": true, "ordered": true, "deleteRule": "cascade" },
            "visitors": { "destination": "Person", "inverse": "places", "toMany": true, "ordered": true },
            "owner": { "destination": "Person", "inverse": "house", "optional": true },
            "near": { "destination": "Place", "inverse": "near", "toMany": true },
            "twin": { "destination": "Place", "inverse": "twin", "optional": true },
            "seenBy": { "destination": "Person", "toMany": true },
            "ranking": { "destination": "Person", "toMany": true, "ordered": true },
            "chief": { "destination": "Person", "optional": true },
            "notes": { "destination": "Note", "inverse": "place", "toMany": true, "deleteRule": "cascade" },
            "visits2": { "destination": "Visit", "inverse": "place", "toMany": true, "ordered": true }
          }
        },
        "Person": {
          "attributes": { "name": "string" },
          "relationships": {
            "places": { "destination": "Place", "inverse": "visitors", "toMany": true, "ordered": true },
            "seen": { "destination": "Visit", "inverse": "guest", "toMany": true },
            "house": { "destination": "Place", "inverse": "owner", "optional": true },
            "notes": { "destination": "Note", "inverse": "writer", "toMany": true, "deleteRule": "deny" }
          }
        },
        "Guide": { "parent": "Person", "attributes": { "tours": "int64?" } },
        "Note": {
          "attributes": { "text": "string" },
          "relationships": {
            "place": { "destination": "Place", "inverse": "notes" },
            "writer": { "destination": "Person", "inverse": "notes", "optional": true }
          }
        },
        "Visit": {
          "attributes": { "day": "date?" },
          "relationships": {
            "place": { "destination": "Place", "inverse": "visits2", "optional": true },
            "guest": { "destination": "Person", "inverse": "seen", "optional": true }
          }
        },
        "Team": {
          "attributes": { "name": "string", "points": { "type": "int64", "default": 0 } },
          "unique": ["name"],
          "relationships": {
            "players": { "destination": "Player", "inverse": "team", "toMany": true, "maxCount": 3, "deleteRule": "cascade" },
            "captain": { "destination": "Player", "inverse": "leads", "optional": true }
          }
        },
        "Player": {
          "attributes": { "name": "string", "number": "int64?" },
          "unique": ["name"],
          "relationships": {
            "team": { "destination": "Team", "inverse": "players" },
            "leads": { "destination": "Team", "inverse": "captain", "optional": true }
          }
        }
      }
    }
    """

  /// Bounds of members on both sides, a unique key of two values, required partners, and references without an inverse.
  static let boxes = """
    {
      "model": "Boxes", "history": "values",
      "entities": {
        "Tag": {
          "attributes": { "name": "string" },
          "unique": ["name"],
          "relationships": {
            "boxes": { "destination": "Box", "inverse": "tags", "toMany": true, "ordered": true, "maxCount": 3 }
          }
        },
        "Box": {
          "attributes": { "label": "string", "shelf": "int64", "count": { "type": "int64", "default": 0 } },
          "unique": [["label", "shelf"]],
          "relationships": {
            "tags": { "destination": "Tag", "inverse": "boxes", "toMany": true, "ordered": true, "minCount": 1 },
            "things": { "destination": "Thing", "inverse": "box", "toMany": true, "ordered": true, "maxCount": 4,
                        "deleteRule": "cascade" },
            "best": { "destination": "Thing", "inverse": "bestOf", "optional": true },
            "beside": { "destination": "Box", "optional": true },
            "seen": { "destination": "Thing", "toMany": true, "ordered": true }
          }
        },
        "Thing": {
          "abstract": true,
          "attributes": { "text": "string", "code": "string?" },
          "unique": ["code"],
          "relationships": {
            "box": { "destination": "Box", "inverse": "things" },
            "bestOf": { "destination": "Box", "inverse": "best", "optional": true }
          }
        },
        "Book": {
          "parent": "Thing", "attributes": { "pages": "int64?" },
          "relationships": { "next": { "destination": "Book", "inverse": "former", "optional": true },
                             "former": { "destination": "Book", "inverse": "next", "optional": true } }
        },
        "Toy": { "parent": "Thing", "attributes": { "age": "int64?" } }
      }
    }
    """
}
