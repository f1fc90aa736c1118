import TrellisModel

/// Every shape of a relationship, and names that are keywords or clash with what stands around them.
let shapesModel = ModelDescription(
  name: "Default",
  entities: [
    EntityDescription(
      "Event",
      attributes: [
        AttributeDescription("switch", .string), AttributeDescription("context", .string),
        AttributeDescription("path", .string), AttributeDescription("row", .string, optional: true),
        AttributeDescription("await", .bool, default: .value(.integer(1))), AttributeDescription("copy", .int64),
        AttributeDescription("key", .string, transient: true, default: .value(.text(""))),
        AttributeDescription("childPlace", .int64, optional: true, transient: true),
        AttributeDescription("changed", .string, optional: true), AttributeDescription("newValue", .string),
        AttributeDescription("type", .string), AttributeDescription("in", .string),
        AttributeDescription("hash", .string, swiftName: "checksum"), AttributeDescription("inherited", .string),
        AttributeDescription("properties", .string), AttributeDescription("old", .string),
      ],
      relationships: [
        RelationshipDescription("twin", to: "Event", inverse: "twin", optional: true),
        RelationshipDescription("next", to: "Event", inverse: "previous", optional: true),
        RelationshipDescription("previous", to: "Event", inverse: "next", optional: true),
        RelationshipDescription("default", to: "Event", inverse: "children", optional: true),
        RelationshipDescription(
          "children", to: "Event", inverse: "default", deleteRule: .deny, toMany: true, ordered: true),
        RelationshipDescription("child", to: "Data", inverse: "event", optional: true),
        RelationshipDescription("place", to: "Data", inverse: "places", optional: true),
        RelationshipDescription("friends", to: "Event", inverse: "friends", toMany: true),
        RelationshipDescription("likes", to: "Event", inverse: "likedBy", toMany: true, ordered: true),
        RelationshipDescription("likedBy", to: "Event", inverse: "likes", toMany: true, minCount: 1, optional: true),
        RelationshipDescription("oneWay", to: "Data", optional: true),
        RelationshipDescription("oneWays", to: "Data", deleteRule: .noAction, toMany: true),
        RelationshipDescription("needed", to: "Data"),
        RelationshipDescription("passing", to: "Data", optional: true, transient: true),
        RelationshipDescription("passings", to: "Data", toMany: true, transient: true),
      ]),
    EntityDescription(
      "Data",
      relationships: [
        RelationshipDescription("event", to: "Event", inverse: "child", toMany: true, ordered: true),
        RelationshipDescription("places", to: "Event", inverse: "place", toMany: true, ordered: true),
        RelationshipDescription("passport", to: "Set", inverse: "holder"),
      ], doc: "An entity without attributes."),
    EntityDescription(
      "Set",
      relationships: [
        RelationshipDescription("holder", to: "Data", inverse: "passport", deleteRule: .cascade, optional: true)
      ]),
    EntityDescription("Nothing"),
  ])
