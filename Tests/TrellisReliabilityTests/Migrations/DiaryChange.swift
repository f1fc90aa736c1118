import TrellisModel

/// A change of the diary's model, and the rows of its SQLite file before and after it.
enum DiaryChange: CaseIterable {
  /// A column that SQLite adds without writing a row.
  case inPlace
  /// Tables that are written, and pairs that move to a join table.
  case written
  /// Rows, values and external files that go, after a copy of the store.
  case losing

  var model: ModelDescription {
    switch self {
    case .inPlace:
      Self.model([Self.title, Self.mood, Self.scan, .init("stars", .int16, default: .value(.integer(3)))])
    case .written:
      Self.model(
        [
          .init("caption", .string, renamedFrom: ["title"]), .init("mood", .string, default: .value(.text("none"))),
          Self.scan,
        ],
        tag: .init("tags", to: "Tag", inverse: "entries", toMany: true, optional: true, renamedFrom: ["tag"]))
    case .losing: Self.model([Self.title], removed: ["mood", "scan"], removedEntities: ["Draft"])
    }
  }

  /// Selects a text for each entry of the migrated file.
  var rows: String {
    switch self {
    case .inPlace: Self.rows("title || ifnull(mood, '-') || stars || ifnull(tag, '-') || ifnull(hex(scan), '-')")
    case .written:
      Self.rows(
        "caption || mood || ifnull((SELECT tags FROM _Entry_tags WHERE entries = _id), '-') || ifnull(hex(scan), '-')")
    case .losing: Self.rows("title || '-' || ifnull(tag, '-')")
    }
  }

  // MARK: Before

  static let formerModel = model([title, mood, scan])
  /// Selects a text for each entry of the former file.
  static let formerRows = rows("title || ifnull(mood, '-') || ifnull(tag, '-') || ifnull(hex(scan), '-')")

  private static let title = AttributeDescription("title", .string)
  private static let mood = AttributeDescription("mood", .string, optional: true)
  private static let scan = AttributeDescription("scan", .data, optional: true, external: true)

  private static func rows(_ text: String) -> String { "SELECT _id || \(text) FROM Entry ORDER BY _id" }

  private static func model(
    _ attributes: [AttributeDescription], removed: [String] = [], removedEntities: [String] = [],
    tag: RelationshipDescription = .init("tag", to: "Tag", inverse: "entries", optional: true)
  ) -> ModelDescription {
    var entities = [
      EntityDescription("Entry", attributes: attributes, relationships: [tag], removed: removed),
      EntityDescription(
        "Tag", attributes: [.init("name", .string)],
        relationships: [.init("entries", to: "Entry", inverse: tag.name, toMany: true, optional: true)]),
    ]
    if removedEntities.isEmpty { entities.append(EntityDescription("Draft", attributes: [title])) }
    return ModelDescription(name: "Diary", entities: entities, removed: removedEntities)
  }
}
