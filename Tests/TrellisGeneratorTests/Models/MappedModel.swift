import TrellisModel

/// What a mapping of JSON is told.
let mappedModel = ModelDescription(
  name: "Mapped",
  entities: [
    EntityDescription(
      "Creature",
      attributes: [
        AttributeDescription("number", .int64, json: PropertyJSON("id")),
        AttributeDescription(
          "bornAt", .date, optional: true, json: PropertyJSON(date: "yyyy-MM-dd", keepsOnNull: true)),
        AttributeDescription(
          "page", .int64, optional: true, json: PropertyJSON("a.\"b.c\"", take: [.lastPathComponent, .number])),
        AttributeDescription("note", .string, optional: true, json: PropertyJSON(mapped: false)),
        AttributeDescription("name", .string),
      ],
      relationships: [
        RelationshipDescription(
          "next", to: "Creature", optional: true, json: PropertyJSON("next.id", reference: "number")),
        RelationshipDescription("others", to: "Creature", toMany: true, json: PropertyJSON(members: .add)),
      ],
      uniqueKeys: [["number"]], json: EntityJSON(key: ["number"], style: .snakeCase, entityPath: "kind")),
    EntityDescription("Worm", parent: "Creature", json: EntityJSON(entityValue: "worm")),
    EntityDescription("Stone", json: EntityJSON()),
  ])
