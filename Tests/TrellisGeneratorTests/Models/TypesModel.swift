import TrellisModel

/// Every attribute type plain, optional, with a default, with both, and transient; enums of every policy.
let typesModel = ModelDescription(
  name: "URLTypes",
  version: "2",
  doc:
    "Every \"type\" of an attribute.\n\nWith a second paragraph that is long enough to be wrapped, because no line of a "
    + "generated file may be longer than one hundred and twenty columns. */",
  enums: [
    EnumDescription(
      "Weather", rawType: .string,
      cases: [
        EnumDescription.Case("sunny", .text("sunny"), renamedFrom: ["bright", "clear"], doc: "Not a cloud."),
        EnumDescription.Case("default", .text("a \"quoted\" \\(value)\n\u{0}\u{202E}")),
      ], unknown: .preserve, doc: "How the sky looks."),
    EnumDescription(
      "Level", rawType: .integer,
      cases: [
        EnumDescription.Case("low", .integer(.min)), EnumDescription.Case("high", .integer(10), renamedFrom: ["top"]),
      ],
      unknown: .useDefault("low")),
    EnumDescription(
      "Kind", rawType: .string, cases: [EnumDescription.Case("only", .text("하나"))], unknown: .reject),
    EnumDescription(
      "Grade", rawType: .integer,
      cases: [EnumDescription.Case("a", .integer(1)), EnumDescription.Case("switch", .integer(2))], unknown: .preserve),
  ],
  codableTypes: ["Address"],
  entities: [TypesModel.long, TypesModel.migrated]
    + TypesModel.forms.map { form in
      EntityDescription(
        form.name,
        attributes: TypesModel.attributes(form),
        uniqueKeys: form.isTransient ? [] : [["string"], ["int16", "int32"]],
        indexes: form.isTransient ? [] : [IndexDescription([.init("date", descending: true), .init("uuid")])],
        fetchRequests: form.isTransient || form.hasDefault ? [] : TypesModel.requests)
    },
  userInfo: [
    UserInfoEntry(
      "key", "a value that is so long that it must be broken over two lines, as any other text of this length has to be"
    )
  ]
)

enum TypesModel {
  struct Form {
    let name: String
    var isOptional = false
    var hasDefault = false
    var isTransient = false
  }

  /// Defaults that fill more than a line.
  static let long = EntityDescription(
    "Long",
    attributes: [
      AttributeDescription(
        "string", .string, default: .value(.text(String(repeating: "some words \\ and \"quotes\" ", count: 12)))),
      AttributeDescription("data", .data, default: .value(.blob([UInt8](repeating: 7, count: 200)))),
      AttributeDescription(
        "url", .url, default: .value(.text("https://example.org/" + String(repeating: "path/", count: 30)))),
      AttributeDescription("numbers", .array(.int64), default: .list((0..<40).map { .integer($0 * 1_000) })),
      AttributeDescription("dates", .array(.date), optional: true, default: .list((0..<4).map { .integer($0) })),
      AttributeDescription("uuids", .array(.uuid), default: .list([.blob(Array(0..<16)), .blob(Array(16..<32))])),
    ])

  /// What a migration is told.
  static let migrated = EntityDescription(
    "Migrated",
    attributes: [
      AttributeDescription(
        "name", .string, renamedFrom: ["title", "label"],
        backfill: .expression("firstName + ' \"' + lowercase:(lastName) + '\\\\'"), lossy: true,
        doc: "What it is called."),
      AttributeDescription("count", .int16, backfill: .value(.value(.integer(-1))), lossy: true),
      AttributeDescription("seenAt", .date, backfill: .value(.now)),
      AttributeDescription("code", .uuid, backfill: .value(.new)),
      AttributeDescription("level", .enumeration("Level"), backfill: .value(.value(.integer(10)))),
      AttributeDescription("words", .array(.string), backfill: .value(.list([.text("a"), .text("b")]))),
    ],
    relationships: [
      RelationshipDescription("next", to: "Migrated", optional: true, renamedFrom: ["following"], lossy: true)
    ],
    renamedFrom: ["Moved"], removed: ["note"])

  static let forms = [
    Form(name: "Plain"), Form(name: "Maybe", isOptional: true), Form(name: "Preset", hasDefault: true),
    Form(name: "MaybePreset", isOptional: true, hasDefault: true),
    Form(name: "Passing", isTransient: true), Form(name: "MaybePassing", isOptional: true, isTransient: true),
    Form(name: "PassingPreset", hasDefault: true, isTransient: true),
    Form(name: "MaybePassingPreset", isOptional: true, hasDefault: true, isTransient: true),
  ]

  static func attributes(_ form: Form) -> [AttributeDescription] {
    types.map { name, type, value in
      AttributeDescription(
        name, type, optional: form.isOptional, transient: form.isTransient, default: form.hasDefault ? value : nil)
    }
  }

  /// A variable for each type, one value, several, and a range of those that have one.
  static let requests: [FetchRequestDescription] = [
    FetchRequestDescription("equal", predicate: types.map { "\($0.0) == $\($0.0)" }.joined(separator: " OR ")),
    FetchRequestDescription("listed", predicate: types.map { "\($0.0) IN $\($0.0)" }.joined(separator: " AND ")),
    FetchRequestDescription(
      "ranged",
      predicate: ["string", "int16", "int64", "float", "decimal", "date"].map { "NOT \($0) BETWEEN $\($0)" }
        .joined(separator: " AND "), sort: [.init("date", descending: true)]),
    FetchRequestDescription("mixed", predicate: "int16 < $number OR int32 < $number OR -int64 ** 2 < $number"),
  ]

  private static let types: [(String, AttributeType, DefaultValue?)] = [
    ("string", .string, .value(.text("a \"quote\", a \\, a line\nand \u{AC00}"))),
    ("bool", .bool, .value(.integer(1))),
    ("int16", .int16, .value(.integer(-32768))),
    ("int32", .int32, .value(.integer(7))),
    ("int64", .int64, .value(.integer(.min))),
    ("float", .float, .value(.real(0.1))),
    ("double", .double, .value(.real(-1e300))),
    ("decimal", .decimal, .value(.text("-1.50"))),
    ("wholeDecimal", .decimal, .value(.text("12"))),
    ("date", .date, .value(.integer(1_700_000_000_123_456))),
    ("now", .date, .now),
    ("data", .data, .value(.blob([0, 1, 254, 255]))),
    ("uuid", .uuid, .value(.blob(Array(0xF0...0xFF)))),
    ("new", .uuid, .new),
    ("url", .url, .value(.text("https://example.org/?a=b"))),
    ("weather", .enumeration("Weather"), .value(.text("a \"quoted\" \\(value)\n\u{0}\u{202E}"))),
    ("level", .enumeration("Level"), .value(.integer(10))),
    ("kind", .enumeration("Kind"), .value(.text("하나"))),
    ("grade", .enumeration("Grade"), .value(.integer(2))),
    ("words", .array(.string), .list([.text("a"), .text("b")])),
    ("numbers", .array(.int64), .list([.integer(1), .integer(-2)])),
    ("dates", .array(.date), .list([.integer(0)])),
    ("levels", .array(.enumeration("Level")), .list([])),
    ("address", .codable("Address"), nil),
  ]
}
