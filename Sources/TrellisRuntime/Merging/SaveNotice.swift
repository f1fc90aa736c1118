import Synchronization

/// What one save changed, for the other contexts of a container.
struct SaveNotice: Sendable {
  var updated: [Int64] = []
  var deleted: [Int64] = []
  /// Objects that the store deleted by cascade. Nobody knows whose members they were beside.
  var cascaded: [Int64] = []
  /// Objects whose to-manys changed, and objects that new ones refer to.
  var relinked: [Int64] = []

  /// Whom an object refers to, and whom it referred to before: they have other members now, even if others do not know the
  /// object itself.
  mutating func addPartners(of object: ManagedObject, _ context: ManagedObjectContext) {
    let isNew = object.phase == .inserted
    let committed = object.extras?.committed
    for relationship in context.info(of: object).allRelationships
    where relationship.isColumn && relationship.inverse != nil {
      let key = object._reference(relationship.property)
      guard case .integer(let former) = committed?.value(relationship.property) ?? .integer(key) else {
        if key > 0 { relinked.append(key) }
        continue
      }
      if key == former && object.phase == .persistent { continue }
      if key > 0 { relinked.append(key) }
      if former > 0 && former != key && !isNew { relinked.append(former) }
    }
  }
}

/// Where a context finds what others saved.
final class ContextInbox: Sendable {
  private let notices = Mutex<[SaveNotice]>([])
  /// Whether there is anything, to be asked without a lock.
  private let isFull = Atomic<Bool>(false)

  func put(_ notice: SaveNotice) {
    notices.withLock { $0.append(notice) }
    isFull.store(true, ordering: .releasing)
  }

  func takeAll() -> [SaveNotice] {
    guard isFull.load(ordering: .acquiring) else { return [] }
    return notices.withLock { waiting in
      isFull.store(false, ordering: .releasing)
      defer { waiting = [] }
      return waiting
    }
  }
}

/// Carries notices of saves between the contexts of one container.
final class ChangeHub: Sendable {
  private let inboxes = Mutex<[ContextInbox]>([])

  func makeInbox() -> ContextInbox {
    let inbox = ContextInbox()
    inboxes.withLock { $0.append(inbox) }
    return inbox
  }

  func close(_ inbox: ContextInbox) {
    inboxes.withLock { $0.removeAll { $0 === inbox } }
  }

  func hasOthers(than inbox: ContextInbox) -> Bool {
    inboxes.withLock { $0.contains { $0 !== inbox } }
  }

  func post(_ notice: SaveNotice, from sender: ContextInbox) {
    let others = inboxes.withLock { all in all.filter { $0 !== sender } }
    for inbox in others { inbox.put(notice) }
  }
}
