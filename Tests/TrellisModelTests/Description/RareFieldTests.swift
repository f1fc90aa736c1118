import Testing
import TrellisModel

@Suite("What few descriptions have") struct RareFieldTests {
  private static let entities: [@Sendable (inout EntityDescription) -> Void] = [
    { $0.fetchRequests = [FetchRequestDescription("all")] }, { $0.hooks = [.didSave] }, { $0.swiftName = "N" },
    { $0.renamedFrom = ["old"] }, { $0.removed = ["gone"] }, { $0.doc = "text" },
    { $0.userInfo.append(UserInfoEntry("a", "b")) }, { $0.history = .values },
    { $0.sync = .server },
  ]
  private static let attributes: [@Sendable (inout AttributeDescription) -> Void] = [
    { $0.defaultValue = .value(.text("")) }, { $0.rules.minimumLength = 1 }, { $0.swiftName = "N" },
    { $0.renamedFrom = ["old"] }, { $0.backfill = .expression("'x'") }, { $0.doc = "text" },
    { $0.userInfo.append(UserInfoEntry("a", "b")) }, { $0.sync = .sum },
  ]
  private static let relationships: [@Sendable (inout RelationshipDescription) -> Void] = [
    { $0.minimumCount = 1 }, { $0.maximumCount = 2 }, { $0.swiftName = "N" }, { $0.renamedFrom = ["old"] },
    { $0.doc = "text" }, { $0.userInfo.append(UserInfoEntry("a", "b")) }, { $0.sync = .replica },
  ]

  /// Each change makes a description of its own, and the same change makes equal ones with equal hashes.
  private func check<Description: Hashable>(
    _ plain: Description, _ changes: [@Sendable (inout Description) -> Void]
  ) {
    var all: Set<Description> = [plain]
    for change in changes {
      var (one, other) = (plain, plain)
      change(&one)
      change(&other)
      #expect(one == other && one.hashValue == other.hashValue && one != plain)
      #expect(all.insert(one).inserted)
      var both = one
      changes.forEach { $0(&both) }
      #expect(both != plain)
    }
  }

  @Test("each of them distinguishes two descriptions")
  func distinct() {
    check(EntityDescription("A"), Self.entities)
    check(AttributeDescription("a", .string), Self.attributes)
    check(RelationshipDescription("r", to: "A", toMany: true), Self.relationships)
  }

  @Test("a copy that is changed leaves the original as it was")
  func copies() {
    let original = AttributeDescription("a", .string, doc: "text")
    var copy = original
    copy.doc = "other"
    #expect(original.doc == "text" && copy.doc == "other")
  }

  @Test("what was set and taken back makes no difference")
  func takenBack() {
    var attribute = AttributeDescription("a", .string, optional: true, doc: "text", userInfo: [UserInfoEntry("a", "b")])
    attribute.doc = nil
    attribute.userInfo = []
    #expect(attribute == AttributeDescription("a", .string, optional: true))
    #expect(attribute.hashValue == AttributeDescription("a", .string, optional: true).hashValue)
  }

  @Test("initializers without options make what the others make")
  func shortInitializers() {
    #expect(AttributeDescription("a", .int64) == AttributeDescription("a", .int64, transient: false))
    #expect(
      AttributeDescription("a", .int64, optional: true) == AttributeDescription("a", .int64, optional: true, doc: nil))
    #expect(
      RelationshipDescription("r", to: "A", inverse: "s", optional: true)
        == RelationshipDescription("r", to: "A", inverse: "s", deleteRule: .nullify, optional: true))
    #expect(
      RelationshipDescription("r", to: "A", inverse: "s", toMany: true)
        == RelationshipDescription("r", to: "A", inverse: "s", deleteRule: .nullify, toMany: true))
  }
}
