/// The changes of to-manys whose owners are not in memory, until the owners are loaded.
///
/// Only relationships in join tables need this: if members hold the reference in their own rows, those rows record the
/// changes.
struct DeferredMemberLists {
  struct ID: Hashable {
    let owner: Int64
    let entity: Int
    let property: Int

    init(_ owner: Int64, _ relationship: RelationshipInfo) {
      self.owner = owner
      entity = relationship.entity
      property = relationship.property
    }
  }

  var lists: [ID: MemberList] = [:]
}

extension ManagedObjectContext {
  func deferredList(of owner: Int64, _ relationship: RelationshipInfo) -> MemberList {
    let id = DeferredMemberLists.ID(owner, relationship)
    if let list = pending.deferredLists.lists[id] { return list }
    let list = MemberList(isLoaded: false, isOrdered: relationship.isOrdered)
    pending.deferredLists.lists[id] = list
    return list
  }

  func adoptDeferredList(_ owner: Int64, _ relationship: RelationshipInfo) -> MemberList? {
    guard !pending.deferredLists.lists.isEmpty else { return nil }
    return pending.deferredLists.lists.removeValue(
      forKey: DeferredMemberLists.ID(owner, relationship))
  }
}
