import Testing
import Trellis

@Suite("Validation at save") struct ValidatingTests {
  @Test("all broken rules are named at once, and nothing is saved")
  func allAtOnce() throws {
    let container = try makeContainer()
    let context = container.newContext()
    _ = Team(in: context, name: "small", size: -1)
    _ = Team(in: context, name: "large", size: 11)
    let crowd = Team(in: context, name: "crowd")
    for _ in 0..<4 { crowd.members.append(Node(in: context)) }
    let error = #expect(throws: ValidationError.self) { try context.save() }
    #expect(error?.failures.map(\.rule) == [.minimum, .maximum, .maximumCount])
    #expect(context.hasChanges && context.insertedObjects.count == 7)
    #expect(try container.newContext().count(Team.all) == 0)
    crowd.members.first.map(crowd.members.remove)
    for team in try context.fetch(Team.all) { team.size = 5 }
    try context.save()
    #expect(try container.newContext().count(Team.all) == 3)
  }
}
