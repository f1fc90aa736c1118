extension ManagedObjectContext {
  /// Merges the parent's changes into a child, saved or not, as if the parent had saved them.
  ///
  /// - Complexity: linear in the number of the parent's unsaved changes, now and at the last merge.
  func mergeParent() {
    guard let parent, let connection = openConnection as? ParentConnection else { return }
    let known = connection.changedInParent
    let changed = parent.keysOfChanges
    connection.changedInParent = changed
    do { try connection.load(known.union(changed).filter { map[$0] != nil }, asIn: self) } catch {
      report(ContextError(.loadFailed, "What the parent has changed could not be read.", cause: error))
    }
    var gone: Set<Int64> = []
    var entities: Set<Int> = []
    for key in known.union(changed).sorted() {
      guard let object = map[key] else { continue }
      guard let twin = parent.map[key], twin.isAlive else {
        gone.insert(key)
        entities.insert(type(of: object)._entity)
        noteGoneInStore(object)
        continue
      }
      noteBack(key)
      forgetViews(of: object)
      if object.phase == .deleted || connection.seen.version(of: twin, info(of: twin)) != object.version {
        let partners = partnersInRow(of: object)
        forgetRow(of: object)
        forgetViews(
          of: partners
            + partnersInRow(of: twin).compactMap { link in
              map[link.partner._key].map { ($0, link.relationship) }
            })
      }
    }
    announceReferences(to: gone)
    forgetStoredMembers(gone, of: entities)
  }

  /// The keys of the objects that a save would write or delete.
  var keysOfChanges: Set<Int64> {
    var keys: Set<Int64> = []
    for list in [inserted, changed, deleted] { keys.formUnion(list.lazy.map(\._key)) }
    keys.formUnion(pending.deferredLists.lists.keys.lazy.map(\.owner))
    return keys
  }
}
