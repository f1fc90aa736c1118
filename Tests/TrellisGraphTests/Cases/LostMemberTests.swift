import Foundation
import Testing
import Trellis

@Suite("A member is added here and deleted by another context") struct LostMemberTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let villager: Villager
  private let lost: Gear

  init() throws {
    container = try PersistentContainer(model: .village, store: .memory(named: UUID().uuidString), log: nil) { _ in }
    context = container.newContext()
    villager = Villager(in: context)
    for label in ["a", "b"] { villager.wishes.append(Gear(in: context, label: label)) }
    lost = Gear(in: context, label: "lost")
    try context.save()
    villager.wishes.append(lost)
    let other = container.newContext()
    let found = try other.object(with: lost.objectID)
    try other.delete(try #require(found))
    try other.save()
    context.mergeChanges()
  }

  @Test("the to-many neither shows nor contains it, and the save tells of it") func hidden() throws {
    #expect(villager.wishes.map(\.label) == ["a", "b"])
    #expect(villager.wishes.count == 2)
    #expect(!villager.wishes.contains(lost))
    #expect(throws: ValidationError.self) { try context.save() }
  }

  @Test("a sort of the shown members keeps it for the save to tell of") func sorted() throws {
    villager.wishes.sort(by: { $0.label > $1.label })
    #expect(villager.wishes.map(\.label) == ["b", "a"])
    #expect(throws: ValidationError.self) { try context.save() }
    #expect(villager.wishes.map(\.label) == ["b", "a"])
  }

  @Test("other members in the place of all give it up") func replaced() throws {
    let members = Array(villager.wishes)
    villager.wishes.replaceAll(with: members)
    try context.save()
    #expect(villager.wishes.map(\.label) == ["a", "b"])
  }
}
