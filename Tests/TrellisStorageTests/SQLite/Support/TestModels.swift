import TrellisModel

/// The models that the tests keep their objects in.
enum TestModels {
  /// Diaries with ordered images, tags, and a cover of their own.
  static let diary = ModelDescription(
    name: "Diary",
    enums: [EnumDescription("Emotion", rawType: .string, cases: [.init("happy", .text("happy"))])],
    entities: [
      EntityDescription(
        "EmotionDiary",
        attributes: [
          AttributeDescription("id", .uuid), AttributeDescription("emotion", .enumeration("Emotion")),
          AttributeDescription("content", .string), AttributeDescription("createdAt", .date),
          AttributeDescription("mood", .string, optional: true),
          AttributeDescription("weight", .double, optional: true),
          AttributeDescription("price", .decimal, optional: true),
        ],
        relationships: [
          RelationshipDescription("images", to: "DiaryImage", inverse: "diary", toMany: true, ordered: true),
          RelationshipDescription("tags", to: "Tag", inverse: "diaries", toMany: true),
          RelationshipDescription("cover", to: "Cover", inverse: "diary", optional: true),
        ],
        uniqueKeys: [["id"]], indexes: [IndexDescription([.init("emotion"), .init("createdAt")])]),
      EntityDescription(
        "DiaryImage",
        attributes: [
          AttributeDescription("imagePath", .string), AttributeDescription("data", .data, optional: true),
        ],
        relationships: [RelationshipDescription("diary", to: "EmotionDiary", inverse: "images", optional: true)],
        indexes: [IndexDescription([.init("imagePath")])]),
      EntityDescription(
        "Tag", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("diaries", to: "EmotionDiary", inverse: "tags", toMany: true)],
        uniqueKeys: [["name"]]),
      EntityDescription(
        "Cover", attributes: [AttributeDescription("title", .string)],
        relationships: [RelationshipDescription("diary", to: "EmotionDiary", inverse: "cover")]),
    ])

  /// Animals of several kinds in one table; owners, favourites without an inverse, and friends of each other.
  static let zoo = ModelDescription(
    name: "Zoo",
    entities: [
      EntityDescription(
        "Animal", isAbstract: true, attributes: [AttributeDescription("name", .string)],
        relationships: [
          RelationshipDescription("keeper", to: "Keeper", inverse: "animals", optional: true),
          RelationshipDescription("friends", to: "Animal", inverse: "friends", toMany: true),
        ]),
      EntityDescription(
        "Dog", parent: "Animal",
        attributes: [
          AttributeDescription("breed", .string), AttributeDescription("chip", .int64, optional: true),
        ],
        uniqueKeys: [["chip"]]),
      EntityDescription("Puppy", parent: "Dog", attributes: [AttributeDescription("weeks", .int32)]),
      EntityDescription("Cat", parent: "Animal", attributes: [AttributeDescription("lives", .int16)]),
      EntityDescription(
        "Keeper", attributes: [AttributeDescription("name", .string)],
        relationships: [
          RelationshipDescription("animals", to: "Animal", inverse: "keeper", deleteRule: .noAction, toMany: true),
          RelationshipDescription("favourite", to: "Animal", optional: true),
          RelationshipDescription("visited", to: "Animal", toMany: true, ordered: true),
        ]),
    ])
}
