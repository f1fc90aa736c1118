/// The changes of to-manys whose owners are not in memory, until the owners are loaded.
///
/// Only relationships in join tables need this: if members hold the reference in their own rows, those rows record the
/// changes.
struct DeferredMemberLists {
  struct ID: Hashable {
    let owner: Int64
    let entity: Int
    let property: Int
  }

  var lists: [ID: MemberList] = [:]
}

extension ManagedObjectContext {
  func waitingList(of owner: Int64, _ relationship: RelationshipInfo) -> MemberList {
    let id = DeferredMemberLists.ID(owner: owner, entity: relationship.entity, property: relationship.property)
    if let list = pending.waiting.lists[id] { return list }
    let list = MemberList(isLoaded: false, isOrdered: relationship.isOrdered)
    pending.waiting.lists[id] = list
    return list
  }

  func adoptWaitingList(_ owner: Int64, _ relationship: RelationshipInfo) -> MemberList? {
    guard !pending.waiting.lists.isEmpty else { return nil }
    return pending.waiting.lists.removeValue(
      forKey: DeferredMemberLists.ID(owner: owner, entity: relationship.entity, property: relationship.property))
  }
}
