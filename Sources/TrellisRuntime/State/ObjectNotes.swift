/// What an object holds beside its row. Most objects hold nothing more, and most others hold one thing, so this is one
/// word.
enum ObjectNotes {
  case none
  /// The row before the first change since the last save. Copies never change.
  case committed(RowCopyBase)
  /// The to-manys that were accessed, the first of a chain.
  case list(MemberList)
  /// Anything more.
  case several(ObjectExtras)
}

/// Everything that an object can hold beside its row.
///
/// No field is accessed during a call to other code, so accesses cannot overlap, and exclusivity is not checked.
final class ObjectExtras {
  /// The row before the first change since the last save; nil if nothing has changed.
  @exclusivity(unchecked) var committed: RowCopyBase?
  /// The to-many relationships that were accessed.
  @exclusivity(unchecked) var lists = ListChain()
  /// What is known about to-one relationships that are not stored in the row.
  @exclusivity(unchecked) var partners: [KnownPartner] = []
  /// Whether a read and a write after the context's deinitialization were already reported.
  var (hasToldOfRead, hasToldOfWrite) = (false, false)
}

extension ManagedObject {
  final func needExtras() -> ObjectExtras {
    let made = ObjectExtras()
    switch notes {
    case .several(let extras): return extras
    case .none: break
    case .committed(let row): made.committed = row
    case .list(let list): made.lists = ListChain(from: list)
    }
    notes = .several(made)
    return made
  }

  /// The row before the first change since the last save; nil if nothing has changed. Copies never change.
  final var committedRow: RowCopyBase? {
    get {
      switch notes {
      case .none, .list: nil
      case .committed(let row): row
      case .several(let extras): extras.committed
      }
    }
    set {
      if let newValue { return setCommitted(newValue) }
      switch notes {
      case .none, .list: break
      case .committed: notes = .none
      case .several(let extras): extras.committed = nil
      }
    }
  }

  /// Sets the row from before the first change since the last save.
  final func setCommitted(_ row: consuming RowCopyBase) {
    switch notes {
    case .none, .committed: notes = .committed(row)
    case .list: needExtras().committed = row
    case .several(let extras): extras.committed = row
    }
  }

  // These do not retain the row.

  /// Whether there is a row from before the first change since the last save.
  final var hasCommittedRow: Bool {
    switch notes {
    case .none, .list: false
    case .committed: true
    case .several(let extras): extras.committed != nil
    }
  }

  /// Whether a copy is the row from before the first change since the last save.
  final func isCommitted(_ copy: RowCopyBase) -> Bool {
    switch notes {
    case .none, .list: false
    case .committed(let row): row === copy
    case .several(let extras): extras.committed === copy
    }
  }

  // MARK: Relationships

  /// Whether anything is known about relationships that are not stored in the row.
  final var hasLinkNotes: Bool {
    switch notes {
    case .none, .committed: false
    case .list, .several: true
    }
  }

  /// Forgets everything but the committed row.
  final func forgetLinks() {
    if hasLinkNotes { notes = committedRow.map(ObjectNotes.committed) ?? .none }
  }

  /// The to-many relationships that were accessed.
  final var lists: ListChain {
    get {
      switch notes {
      case .none, .committed: ListChain()
      case .list(let list): ListChain(from: list)
      case .several(let extras): extras.lists
      }
    }
    set {
      switch notes {
      case .none, .list: notes = newValue.first.map(ObjectNotes.list) ?? .none
      case .committed: if !newValue.isEmpty { needExtras().lists = newValue }
      case .several(let extras): extras.lists = newValue
      }
    }
  }

  /// The list of a to-many; nil if it was not accessed.
  final func list(of property: Int) -> MemberList? {
    switch notes {
    case .none, .committed: nil
    case .list(let list): ListChain(from: list).list(of: property)
    case .several(let extras): extras.lists.list(of: property)
    }
  }

  /// Adds the list of a to-many that has none.
  final func add(_ list: MemberList) {
    switch notes {
    case .none: notes = .list(list)
    case .list(let first): first.append(toChain: list)
    case .committed, .several: needExtras().lists.append(list)
    }
  }

  final func removeLists(where isRemoved: (MemberList) throws -> Bool) rethrows {
    let present = lists
    guard try present.contains(where: isRemoved) else { return }
    var kept: [MemberList] = []
    for list in present {
      if try isRemoved(list) { list.next = nil } else { kept.append(list) }
    }
    lists = ListChain(kept)
  }

  /// Whether a to-many has all its keys in memory.
  final func hasLoadedList(of property: Int) -> Bool { list(of: property)?.isLoaded == true }

  /// Whether the object has to-manys in memory.
  final var hasLists: Bool {
    switch notes {
    case .none, .committed: false
    case .list: true
    case .several(let extras): !extras.lists.isEmpty
    }
  }

  final var hasChangedLists: Bool { lists.contains(where: \.hasChanges) }

  /// Whether members are hidden that are deleted here. A list whose added members are all hidden shows no change.
  final var hidesMembers: Bool { lists.contains { !$0.hiddenKeys.isEmpty } }

  /// The known partners of to-one relationships that are not stored in the row.
  final var partners: [KnownPartner] {
    if case .several(let extras) = notes { extras.partners } else { [] }
  }

  /// What is known about a to-one that is not stored in the row.
  final func knownPartner(of property: Int) -> KnownPartner? {
    guard case .several(let extras) = notes else { return nil }
    for entry in extras.partners where entry.property == property { return entry }
    return nil
  }

  /// The key of the object that replaced this one, because a save found that both have the same unique key; 0 for none.
  final var replacement: Int64 { state.replacement }

  final func removePartners(where isRemoved: (KnownPartner) -> Bool) {
    if case .several(let extras) = notes, !extras.partners.isEmpty { extras.partners.removeAll(where: isRemoved) }
  }
}

// MARK: - List chain

/// The to-manys of an object that were accessed. Each list refers to the next one, because objects with lists are many
/// and an array for each would take more memory than the lists.
struct ListChain: Sequence {
  private(set) var first: MemberList?

  init() {}

  /// The chain that begins with a list.
  init(from first: MemberList) { self.first = first }

  /// Chains lists that are in no other chain any more.
  init(_ lists: [MemberList]) {
    for list in lists.reversed() {
      list.next = first
      first = list
    }
  }

  var isEmpty: Bool { first == nil }

  func makeIterator() -> Iterator { Iterator(list: first) }

  struct Iterator: IteratorProtocol {
    fileprivate var list: MemberList?

    mutating func next() -> MemberList? {
      let present = list
      list = present?.next
      return present
    }
  }

  /// The list of a property; nil if it was not accessed.
  func list(of property: Int) -> MemberList? {
    var list = first
    while let found = list, found.property != property { list = found.next }
    return list
  }

  /// Adds a list that is in no chain.
  mutating func append(_ list: MemberList) {
    if let first { first.append(toChain: list) } else { first = list }
  }
}
