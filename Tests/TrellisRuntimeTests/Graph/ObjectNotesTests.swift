import Testing
import Trellis
import TrellisDiaryModel
import TrellisModel
import TrellisTestSupport

@_spi(Generated) @testable import TrellisRuntime

@Suite("What an object holds beside its row") struct ObjectNotesTests {
  /// What the notes stand for, each part by itself.
  private struct Reference {
    var lists: [MemberList] = []
    var committed: RowCopyBase?
    var partners: [Int: Int64] = [:]
  }

  @Test("lists, partners and the committed row come and go independently", arguments: 0..<20)
  func parts(round: Int) throws {
    let seed = TestSettings.seed() &+ UInt64(round)
    var generator = SeededGenerator(seed: seed)
    let context = try PersistentContainer(model: .diary, store: .memory).newContext()
    let object = EmotionDiary(in: context, emotion: .calm, content: "new")
    var reference = Reference()
    for _ in 0..<300 {
      change(object, &reference, &generator)
      #expect(object.lists.elementsEqual(reference.lists, by: ===), "seed \(seed)")
      #expect(object.hasLists == !reference.lists.isEmpty, "seed \(seed)")
      #expect(object.committedRow === reference.committed, "seed \(seed)")
      #expect(object.hasCommittedRow == (reference.committed != nil), "seed \(seed)")
      for property in 0..<5 {
        let list = reference.lists.first { $0.property == property }
        #expect(object.list(of: property) === list, "seed \(seed)")
        #expect(object.hasLoadedList(of: property) == (list?.isLoaded == true), "seed \(seed)")
        #expect(object.knownPartner(of: property)?.stored == reference.partners[property], "seed \(seed)")
      }
    }
  }

  private func change(_ object: ManagedObject, _ reference: inout Reference, _ generator: inout SeededGenerator) {
    let property = Int.random(in: 0..<5, using: &generator)
    switch Int.random(in: 0..<9, using: &generator) {
    case 0...2:
      guard !reference.lists.contains(where: { $0.property == property }) else { return }
      let list = MemberList(Self.relationship(property), isLoaded: Bool.random(using: &generator))
      object.add(list)
      reference.lists.append(list)
    case 3:
      object.removeLists { $0.property <= property }
      reference.lists.removeAll { $0.property <= property }
    case 4:
      // A merge that fails puts back the lists that it found.
      reference.lists.shuffle(using: &generator)
      object.lists = ListChain(reference.lists)
    case 5:
      reference.committed = Bool.random(using: &generator) ? object.copyValues() : nil
      object.committedRow = reference.committed
    case 6:
      object.changePartner(of: property) { $0.stored = Int64(property) }
      reference.partners[property] = Int64(property)
    case 7:
      object.removePartners { $0.property <= property }
      reference.partners = reference.partners.filter { $0.key > property }
    default:
      object.forgetLinks()
      (reference.lists, reference.partners) = ([], [:])
    }
  }

  private static func relationship(_ number: Int) -> Relationship {
    Relationship(
      RelationshipDescription("members", to: "Member", toMany: true), index: number, entity: 0, entityName: "Owner",
      destination: 0, inverse: nil, partnerRule: nil, home: .inverseColumn)
  }
}
