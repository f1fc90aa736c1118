/// What an object holds beside its row. Most objects hold nothing more, and most others hold one thing, so this is one
/// word.
enum ObjectNotes {
  case none
  /// The row before the first change since the last save. Copies never change.
  case committed(RowCopyBase)
  /// The only to-many that was accessed.
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
  /// The to-many relationships that were accessed, few enough for a linear search.
  @exclusivity(unchecked) var lists = ListTable()
  /// The known partners of to-one relationships that are not stored in the row; 0 for nil.
  @exclusivity(unchecked) var partners: [KnownPartner] = []
  /// Whether a read and a write after the context's deinitialization were already reported.
  var (hasToldOfRead, hasToldOfWrite) = (false, false)
}

/// The partner of a to-one that is not stored in the row, by its key; 0 for nil.
typealias KnownPartner = (property: Int, key: Int64)

extension ManagedObject {
  final func needExtras() -> ObjectExtras {
    let made = ObjectExtras()
    switch notes {
    case .several(let extras): return extras
    case .none: break
    case .committed(let row): made.committed = row
    case .list(let list): made.lists.append(list)
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
      switch notes {
      case .none, .committed:
        if let newValue { notes = .committed(newValue) } else { notes = .none }
      case .list: if newValue != nil { needExtras().committed = newValue }
      case .several(let extras): extras.committed = newValue
      }
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
  final var lists: ListTable {
    get {
      switch notes {
      case .none, .committed: ListTable()
      case .list(let list): ListTable(list)
      case .several(let extras): extras.lists
      }
    }
    set {
      switch (notes, newValue.count) {
      case (.none, 0), (.committed, 0): break
      case (.none, 1), (.list, 1): notes = .list(newValue[0])
      case (.list, 0): notes = .none
      case (.none, _), (.committed, _), (.list, _), (.several, _): needExtras().lists = newValue
      }
    }
  }

  /// The list of a to-many; nil if it was not accessed.
  final func list(of property: Int) -> MemberList? {
    switch notes {
    case .none, .committed: nil
    case .list(let list): list.property == property ? list : nil
    case .several(let extras): extras.lists.list(of: property)
    }
  }

  /// Adds the list of a to-many that has none.
  final func add(_ list: MemberList) {
    if case .none = notes { notes = .list(list) } else { needExtras().lists.append(list) }
  }

  final func removeLists(where isRemoved: (MemberList) throws -> Bool) rethrows {
    let present = lists
    if try present.contains(where: isRemoved) { lists = ListTable(try present.filter { try !isRemoved($0) }) }
  }

  /// Whether the object has to-manys in memory.
  final var hasLists: Bool {
    switch notes {
    case .none, .committed: false
    case .list: true
    case .several(let extras): !extras.lists.isEmpty
    }
  }

  final var hasChangedLists: Bool {
    switch notes {
    case .none, .committed: false
    case .list(let list): list.hasChanges
    case .several(let extras): extras.lists.contains(where: \.hasChanges)
    }
  }

  /// The known partners of to-one relationships that are not stored in the row.
  final var partners: [KnownPartner] {
    if case .several(let extras) = notes { extras.partners } else { [] }
  }

  /// The key of the partner of a to-one that is not stored in the row; 0 for nil; nil if it is not known.
  final func notedPartner(of property: Int) -> Int64? {
    guard case .several(let extras) = notes else { return nil }
    for entry in extras.partners where entry.property == property { return entry.key }
    return nil
  }

  final func setPartner(of property: Int, _ key: Int64) {
    let extras = needExtras()
    for index in extras.partners.indices where extras.partners[index].property == property {
      extras.partners[index].key = key
      return
    }
    extras.partners.append((property, key))
  }

  /// The key of the object that replaced this one, because a save found that both have the same unique key; 0 for none.
  final var replacement: Int64 { state.replacement }

  final func removePartners(where isRemoved: (KnownPartner) -> Bool) {
    if case .several(let extras) = notes, !extras.partners.isEmpty { extras.partners.removeAll(where: isRemoved) }
  }
}

// MARK: - List table

/// The to-manys of an object that were accessed. Most objects have one, which needs no array.
struct ListTable: RandomAccessCollection {
  private var first: MemberList?
  private var others: [MemberList] = []

  init() {}

  init(_ list: MemberList) { first = list }

  init(_ lists: some Sequence<MemberList>) {
    for list in lists { append(list) }
  }

  var startIndex: Int { 0 }
  var endIndex: Int { first == nil ? 0 : 1 + others.count }

  subscript(place: Int) -> MemberList {
    if place == 0, let first { return first }
    return others[place - 1]
  }

  /// The list of a property; nil if it was not accessed.
  func list(of property: Int) -> MemberList? {
    if let first, first.property == property { return first }
    for list in others where list.property == property { return list }
    return nil
  }

  mutating func append(_ list: MemberList) {
    if first == nil { first = list } else { others.append(list) }
  }
}
