#if DEBUG
  import TrellisModel

  /// What a read of a relationship would show, as far as it is in memory.
  ///
  /// Nothing is loaded, no fault is fired, and no read is noted. ``LinkCheck`` uses nothing else about how links are
  /// kept, so that it does not depend on it.
  enum KnownLinks {
    /// A read would ask the store: the object is a fault, or the list or partner is not loaded.
    case unknown
    /// The keys that a read would show, in their order.
    case all(ContiguousArray<Int64>)
    /// A read would ask the store, and show these keys and not those.
    case some(with: ContiguousArray<Int64>, without: Set<Int64>)

    /// The keys that are certain to be shown.
    var shown: ContiguousArray<Int64> {
      switch self {
      case .unknown: []
      case .all(let keys), .some(let keys, _): keys
      }
    }

    /// The keys that are certain not to be shown, as far as they are listed.
    var hidden: Set<Int64> { if case .some(_, let hidden) = self { hidden } else { [] } }

    /// Whether a read would show a key; nil if the store has to be asked.
    func shows(_ key: Int64) -> Bool? {
      switch self {
      case .unknown: nil
      case .all(let keys): keys.contains(key)
      case .some(let keys, let hidden): keys.contains(key) ? true : hidden.contains(key) ? false : nil
      }
    }
  }

  extension ObjectGraph {
    /// What a read of a relationship would show.
    func knownLinks(of object: ManagedObject, _ relationship: Relationship) -> KnownLinks {
      if !relationship.isToMany { return shownPartner(knownKey(of: object, relationship)) }
      guard let list = object.list(of: relationship.property) else {
        return object.phase == .inserted || relationship.isTransient ? .all([]) : .unknown
      }
      let keys = shownKeys(list)
      if list.isLoaded {
        // A one-way to-many drops the objects that were deleted since its last use at its next use.
        let isStale = relationship.inverse == nil && list.seenDead != pending.deadTargets.changes
        return .all(isStale ? keys.filter { map[$0]?.isAlive != false } : keys)
      }
      return .some(with: keys.filter { map[$0]?.isAlive == true }, without: list.removed)
    }

    /// What a relationship was when it was last read or saved.
    func knownBase(of object: ManagedObject, _ relationship: Relationship) -> KnownLinks {
      guard object.phase == .persistent, !relationship.isTransient else { return .unknown }
      if relationship.isToMany {
        guard let list = object.list(of: relationship.property), list.isLoaded else { return .unknown }
        return .all(list.base)
      }
      guard relationship.isColumn, !object.accessFlags.contains(.fault) else { return .unknown }
      guard let committed = object.committedRow else { return shownPartner(object._reference(relationship.property)) }
      if case .integer(let key) = committed.value(relationship.property) { return shownPartner(key) }
      return .all([])
    }

    /// The key of a to-one; nil if it is not in memory.
    private func knownKey(of object: ManagedObject, _ relationship: Relationship) -> Int64? {
      if relationship.isColumn {
        return object.accessFlags.contains(.fault) ? nil : object._reference(relationship.property)
      }
      let known = holder(of: object, relationship)
      return known < 0 ? nil : known
    }

    /// A reference to an object that is not alive reads nil.
    private func shownPartner(_ key: Int64?) -> KnownLinks {
      guard let key else { return .unknown }
      return .all(key > 0 && map[key]?.isAlive != false ? [key] : [])
    }
  }
#endif
