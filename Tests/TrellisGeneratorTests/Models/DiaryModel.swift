import TrellisModel

/// The sample of the guides: a one-to-many with an order, a many-to-many, an enum.
let diaryModel = ModelDescription(
  name: "Diary",
  doc: "A diary with pictures and tags.",
  enums: [
    EnumDescription(
      "Emotion", rawType: .string,
      cases: ["happy", "sad", "angry", "calm"].map { EnumDescription.Case($0, .text($0)) }, unknown: .preserve)
  ],
  entities: [
    EntityDescription(
      "EmotionDiary",
      attributes: [
        AttributeDescription("id", .uuid, default: .new),
        AttributeDescription("emotion", .enumeration("Emotion")),
        AttributeDescription(
          "content", .string, rules: AttributeRules(minLength: 1), searchable: true, doc: "What was written."),
        AttributeDescription("createdAt", .date, default: .now),
        AttributeDescription("mood", .string, optional: true),
      ],
      relationships: [
        RelationshipDescription(
          "images", to: "DiaryImage", inverse: "diary", deleteRule: .cascade, toMany: true, ordered: true, maxCount: 10,
          doc: "The pictures, in the order in which they are shown."),
        RelationshipDescription("tags", to: "Tag", inverse: "diaries", toMany: true),
      ],
      uniqueKeys: [["id"]],
      indexes: [IndexDescription([.init("emotion"), .init("createdAt")])],
      fetchRequests: [
        FetchRequestDescription(
          "latest", predicate: "emotion == $emotion", sort: [.init("createdAt", descending: true)], limit: 1)
      ],
      doc: "One day's entry."),
    EntityDescription(
      "DiaryImage",
      attributes: [
        AttributeDescription("imagePath", .string),
        AttributeDescription("data", .data, optional: true, external: true),
      ],
      relationships: [RelationshipDescription("diary", to: "EmotionDiary", inverse: "images", optional: true)]),
    EntityDescription(
      "Tag", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("diaries", to: "EmotionDiary", inverse: "tags", toMany: true)],
      uniqueKeys: [["name"]]),
  ])
