import Foundation
import Testing
import TrellisJSON
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

@Suite("Migration of enums") struct EnumMigrationTests {
  private typealias Case = EnumDescription.Case

  private func conversion(
    _ old: [Case], _ new: [Case], _ oldPolicy: EnumDescription.UnknownPolicy = .reject,
    _ newPolicy: EnumDescription.UnknownPolicy = .reject
  ) -> ValueConversion {
    func form(_ cases: [Case], _ policy: EnumDescription.UnknownPolicy) -> AttributeForm {
      let isText = if case .text? = cases.first?.rawValue { true } else { false }
      return .enumeration(EnumDescription("Mood", rawType: isText ? .string : .integer, cases: cases, unknown: policy))
    }
    return ValueConversion(from: form(old, oldPolicy), to: form(new, newPolicy))
  }

  private let old = [Case("sad", .text("sad")), Case("glad", .text("glad"))]

  @Test("an added case rewrites nothing")
  func added() {
    #expect(conversion(old, old + [Case("calm", .text("calm"))]).reach == .sameForm)
  }

  @Test("a renamed case gets its new raw value, and a store from after the rename keeps it")
  func renamed() {
    let new = [Case("unhappy", .text("unhappy"), renamedFrom: ["sad"]), old[1]]
    let there = conversion(old, new)
    #expect(there.reach == .always && !there.keepsValues)
    #expect(there.convert(.text("sad")) == .text("unhappy") && there.convert(.text("glad")) == .text("glad"))
    #expect(conversion(new, new).reach == .sameForm)
  }

  @Test("swapped names swap the raw values once")
  func swapped() {
    let new = [
      Case("sad", .text("sad"), renamedFrom: ["glad"]), Case("glad", .text("glad"), renamedFrom: ["sad"]),
    ]
    let there = conversion(old, new)
    #expect(there.convert(.text("sad")) == .text("glad") && there.convert(.text("glad")) == .text("sad"))
    #expect(conversion(new, new).reach == .sameForm)
    #expect(conversion(new, new).convert(.text("sad")) == .text("sad"))
  }

  @Test("several former cases become one, unless one of them was the past of another, or is a case again")
  func united() {
    let cases = old + [Case("angry", .text("angry"))]
    let low = Case("low", .text("low"), renamedFrom: ["sad", "angry"])
    let there = conversion(cases, [low, old[1]])
    #expect(there.reach == .always)
    for former in ["sad", "angry"] { #expect(there.convert(.text(former)) == .text("low")) }
    // The name was used again when the other case had got its own.
    let past = [Case("sad", .text("sad"), renamedFrom: ["angry"]), Case("angry", .text("angry"))]
    let again = conversion(past, [low, Case("angry", .text("angry"))])
    #expect(again.convert(.text("sad")) == .text("low") && again.convert(.text("angry")) == .text("angry"))
    #expect(conversion(past, [low]).convert(.text("angry")) == nil)
    #expect(conversion(cases, [low, cases[2]]).convert(.text("angry")) == .text("angry"))
  }

  @Test("a removed case has no counterpart, unless unknown values are kept")
  func removed() {
    let new = [old[1]]
    let refused = conversion(old, new)
    #expect(refused.reach == .counted && refused.keepsValues)
    #expect(refused.convert(.text("sad")) == nil && refused.convert(.text("glad")) == .text("glad"))
    #expect(conversion(old, new, .reject, .preserve).reach == .sameForm)
    #expect(conversion(old, old, .preserve, .reject).convert(.text("other")) == nil)
    #expect(conversion(old, old, .preserve, .preserve).reach == .sameForm)
  }

  @Test("a removed case is lost if another case has its raw value now")
  func takenRawValue() {
    let cases = [Case("sad", .integer(1)), Case("glad", .integer(2))]
    for policy in [EnumDescription.UnknownPolicy.reject, .preserve] {
      for taker in [Case("glad", .integer(1)), Case("happy", .integer(1), renamedFrom: ["glad"])] {
        let there = conversion(cases, [taker], .reject, policy)
        #expect(there.reach == .counted)
        #expect(there.convert(.integer(1)) == nil && there.convert(.integer(2)) == .integer(1))
      }
      // Another name for the same raw value is a rename.
      #expect(
        conversion(cases, [Case("blue", .integer(1)), cases[1]], .reject, policy).convert(.integer(1)) == .integer(1))
    }
  }

  @Test("another raw type finds cases by name")
  func rawTypes() {
    let new = [Case("sad", .integer(1)), Case("glad", .integer(2))]
    #expect(conversion(old, new).convert(.text("glad")) == .integer(2))
    #expect(conversion(new, old).convert(.integer(1)) == .text("sad"))
    #expect(conversion(new, old).convert(.integer(3)) == nil)
  }

  @Test(
    "rows of stores get the raw values of renamed cases, and a used case cannot go by silence",
    arguments: [false, true])
  func stores(isDocument: Bool) throws {
    let home = try TestFolder()
    let url = home.file("store")
    func model(_ cases: [Case]) throws -> Model {
      try Model(
        ModelDescription(
          name: "M", enums: [EnumDescription("Mood", rawType: .string, cases: cases)],
          entities: [
            EntityDescription(
              "Entry",
              attributes: [.init("mood", .enumeration("Mood"))])
          ]))
    }
    func open(_ model: Model) throws -> any Store {
      try (isDocument ? StoreConfiguration.json(at: url) : .sqlite(at: url)).open(model)
    }
    let (former, now) = (
      try model(old), try model([Case("unhappy", .text("unhappy"), renamedFrom: ["sad"]), old[1]])
    )
    let store = try open(former)
    _ = try store.reserveKeys(10)
    let request = SaveRequest()
    request.inserts = [
      .init(
        entity: 0,
        records: [TestRecord(former.entities[0], key: 1, ["mood": .text("sad")])])
    ]
    try store.connect().save(request)
    store.close()
    let error = #expect(throws: StoreError.self) { try open(model([old[1]])) }
    #expect(error?.code == .dataLoss)
    let migrated = try open(now)
    defer { migrated.close() }
    var rows: [StoredValue] = []
    try migrated.connect().fetch(StoreRequest(entity: 0)) { rows.append($0.value(0, .text)) }
    #expect(rows == [.text("unhappy")])
  }
}
