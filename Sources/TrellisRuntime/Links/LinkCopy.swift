/// What an object shows of relationships beside its row, so that it can be restored.
struct LinkCopy {
  /// The lists, and their former contents.
  private let lists: [(list: MemberList, content: MemberList)]
  private let partners: [KnownPartner]

  init(_ object: ManagedObject) {
    lists = object.lists.map { ($0, $0.copy()) }
    partners = object.partners
  }

  func restore(_ object: ManagedObject) {
    for entry in lists { entry.list.restore(entry.content) }
    object.lists = ListChain(lists.map(\.list))
    object.removePartners { _ in true }
    for partner in partners { object.changePartner(of: partner.property) { $0 = partner } }
  }
}
