import Testing
import Trellis
import TrellisTestSupport

@Suite("An edit here meets an edit there") struct MeetingTests {
  /// One in so many combinations is tried; 1 for all of them.
  private static let part = TestSettings.number("TRELLIS_MEETING_PART", or: 4_801)
  /// The only combination to be tried, such as one that a report names.
  private static let only: Int? = TestSettings.number("TRELLIS_MEETING_ONLY")
  static let scrutiny =
    Village.Scrutiny(rawValue: TestSettings.number("TRELLIS_WRITERS_SCRUTINY", or: 2)) ?? .everything
  private static let enough = TestSettings.number("TRELLIS_MEETING_ENOUGH", or: 5)
  private static let counts = TestSettings.number("TRELLIS_MEETING_COUNTS", or: 0) > 0
  /// Combinations that share a container.
  private static let together = 40

  @Test(
    "it is saved and right, a conflict, or a broken rule, under every policy", .timeLimit(.minutes(600)),
    arguments: StoreKind.allCases)
  func endsWell(kind: StoreKind) throws {
    let rules = try Rules(.village)
    let part = kind == .memory ? Self.part : Self.part * 8 + 1
    var (number, tried, wrong) = (0, 0, 0)
    var table = MeetingTable(rules, kind)
    defer { table.close() }
    for shape in rules.shapes.all where shape.inverse ?? .max >= shape.index {
      let meeting = Meeting(shape, rules.shapes)
      for there in meeting.moves(1) {
        for here in meeting.moves(2) {
          for encounter in Encounter.all {
            number += 1
            guard Self.only.map({ $0 == number }) ?? number.isMultiple(of: part) else { continue }
            tried += 1
            if tried.isMultiple(of: Self.together) { try table.renew() }
            guard let difference = try table.play(meeting, here, there, encounter) else { continue }
            wrong += 1
            if wrong <= Self.enough {
              Issue.record(
                "combination \(number) (\(kind)), \(shape.entity).\(shape.name), \(encounter), here: \(here); there: \(there): \(difference)\nbegins with \(meeting.opening)"
              )
            }
          }
        }
      }
    }
    if Self.counts { print("\(kind): \(tried) of \(number) combinations, \(wrong) wrong ends") }
    #expect(wrong <= Self.enough, "\(wrong) of \(tried) combinations end wrong")
  }
}

/// How the context here meets what was done there.
private struct Encounter: CustomStringConvertible {
  let policy: MergePolicy
  let look: Act.Look
  let kinship: Kinship

  static let all = Kinship.allCases.flatMap { kinship in
    MergePolicy.allCases.flatMap { policy in
      [Act.Look.after, .before, .mergedBefore].map { Encounter(policy: policy, look: $0, kinship: kinship) }
    }
  }

  var description: String { "\(kinship), \(Act.Deed.save(policy, look))" }
}

/// The container in which combinations are tried, a new one now and then.
private struct MeetingTable {
  private let rules: Rules
  private let kind: StoreKind
  private var place: StorePlace?
  private var container: PersistentContainer?

  init(_ rules: Rules, _ kind: StoreKind) {
    self.rules = rules
    self.kind = kind
  }

  /// The store has to be in order after all that was tried in it.
  mutating func renew() throws {
    guard let container else { return }
    defer { close() }
    let findings = try container.check()
    #expect(findings.isEmpty, "the store is out of order after combinations that seemed to end well: \(findings)")
  }

  mutating func close() {
    container?.close()
    place?.remove()
    container = nil
    place = nil
  }

  /// - Returns: what is wrong with the end.
  mutating func play(
    _ meeting: Meeting, _ here: [Act.Deed], _ there: [Act.Deed], _ encounter: Encounter
  ) throws -> String? {
    let place = try self.place ?? StorePlace(kind)
    let container =
      try self.container ?? PersistentContainer(model: .village, store: place.configuration) { _ in }
    (self.place, self.container) = (place, container)
    let (kinship, look) = (encounter.kinship, encounter.look)
    let plan = VillagePlan(meeting, kinship, observes: look == .before)
    let village = Village(container, rules, plan, MeetingTests.scrutiny)
    func play(_ writer: Int, _ deeds: [Act.Deed]) throws {
      for deed in deeds { try village.carryOut(Act(writer: writer, deed: deed)) }
    }
    do {
      try play(kinship.there, meeting.opening + [.save(.error, .not)])
      if look != .after { try play(kinship.here, [.merge(looks: true)]) }
      // The third has no changes, and reads everything before.
      try play(kinship.third, [.merge(looks: true)])
      try play(kinship.here, here)
      try play(kinship.there, there)
      if kinship.savesThere { try play(kinship.there, [.save(.error, .not)]) }
      try play(kinship.here, [.save(encounter.policy, look)])
      if let parent = kinship.parent { try play(parent, [.save(encounter.policy, look)]) }
      for writer in 0...2 { try play(writer, [.merge(looks: true)]) }
      return nil
    } catch let difference as Village.Difference {
      return difference.description
    }
  }
}
