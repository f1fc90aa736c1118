import Testing
import Trellis
import TrellisTestSupport

import TrellisRuntime

@Suite("Ordered members of a deleted owner") struct DeletedOwnerTests {
  @Test(
    "members stand where they were put, whether they are new, and whatever is read while they are deleted",
    arguments: [false, true], [false, true])
  func undeleted(isNew: Bool, readsMeanwhile: Bool) throws {
    let container = try PersistentContainer(model: .rules, store: .memory, log: nil)
    let first = container.newContext()
    let (folder, other, member) = (Folder(in: first), Letter(in: first), Letter(in: first))
    member.folder = folder
    try first.save()
    let context = container.newContext()
    // The members are left to the store where they are not in memory.
    context.graph.fewMembers = 0
    let owner = try #require(try context.object(with: folder.objectID))
    let added = isNew ? Letter(in: context) : try #require(try context.object(with: other.objectID))
    let moved = try #require(try context.object(with: member.objectID))
    added.folder = owner
    owner.sheets.append(moved)
    try context.delete(owner)
    if readsMeanwhile { #expect(try context.fetch(Letter.all).map(\.objectID) == (isNew ? [other.objectID] : [])) }
    context.undelete(owner)
    #expect(owner.sheets.objects == [added, moved])
    try context.save()
    let reader = container.newContext()
    let stored = try #require(try reader.object(with: folder.objectID))
    #expect(stored.sheets.map { $0.objectID.key } == [added.objectID.key, moved.objectID.key])
  }
}
