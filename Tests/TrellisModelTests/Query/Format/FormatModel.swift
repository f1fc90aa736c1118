import TrellisModel
import TrellisStorage

/// A small model with every type that a format can speak of.
enum FormatModel {
  static func make() throws -> Model {
    try Model(
      ModelDescription(
        name: "Formats",
        enums: [
          EnumDescription(
            "Emotion", rawType: .string,
            cases: [.init("happy", .text("happy")), .init("sad", .text("sad")), .init("angry", .text("angry"))]),
          EnumDescription("Level", rawType: .integer, cases: [.init("low", .integer(0)), .init("high", .integer(9))]),
        ],
        entities: [diary, image, tag, page]))
  }

  private static let diary = EntityDescription(
    "Diary",
    attributes: [
      AttributeDescription("content", .string), AttributeDescription("mood", .string, optional: true),
      AttributeDescription("emotion", .enumeration("Emotion")),
      AttributeDescription("level", .enumeration("Level"), optional: true),
      AttributeDescription("stars", .int32), AttributeDescription("weight", .double, optional: true),
      AttributeDescription("price", .decimal, optional: true), AttributeDescription("isDraft", .bool),
      AttributeDescription("createdAt", .date), AttributeDescription("id", .uuid),
      AttributeDescription("picture", .data, optional: true), AttributeDescription("link", .url, optional: true),
      AttributeDescription("words", .array(.string)), AttributeDescription("in", .int64, optional: true),
      AttributeDescription("cached", .string, optional: true, transient: true),
    ],
    relationships: [
      RelationshipDescription("images", to: "Image", inverse: "diary", toMany: true),
      RelationshipDescription("tags", to: "Tag", inverse: "diaries", toMany: true),
      RelationshipDescription("next", to: "Diary", optional: true),
      RelationshipDescription("pages", to: "Page", inverse: "diary", toMany: true, ordered: true),
    ])

  private static let page = EntityDescription(
    "Page", attributes: [AttributeDescription("number", .int64)],
    relationships: [RelationshipDescription("diary", to: "Diary", inverse: "pages", optional: true)])

  private static let image = EntityDescription(
    "Image", attributes: [AttributeDescription("size", .int64), AttributeDescription("path", .string)],
    relationships: [RelationshipDescription("diary", to: "Diary", inverse: "images", optional: true)])

  private static let tag = EntityDescription(
    "Tag", attributes: [AttributeDescription("name", .string)],
    relationships: [RelationshipDescription("diaries", to: "Diary", inverse: "tags", toMany: true)])
}

/// What the formats of a test are read with.
struct FormatBench {
  let model: Model

  init() throws { model = try FormatModel.make() }

  func read(_ text: String, _ arguments: [FormatArgument] = [], of entity: Int = 0) throws -> QueryPredicate {
    try CheckedFormat(text, of: entity, in: model, arguments: arguments).predicate
  }

  /// The format as it is printed after reading.
  func printed(_ text: String, _ arguments: [FormatArgument] = [], of entity: Int = 0) throws -> String {
    try read(text, arguments, of: entity).formatText(of: entity, in: model)
  }
}
