extension ManagedObjectContext {
  /// Takes over what other contexts of the container saved: unchanged objects are read again when they are next used, edits
  /// stay.
  ///
  /// The context does this by itself at each fetch and save.
  public func mergeSavesOfOthers() { mergeInbox() }

  func mergeInbox() {
    for notice in inbox.takeAll() { merge(notice) }
  }

  private func merge(_ notice: SaveNotice) {
    for key in notice.updated {
      guard let object = map[key], object.phase == .persistent, !object.hasChanges else { continue }
      forgetMembership(with: object)
      turnIntoFault(object)
    }
    for key in notice.deleted + notice.cascaded {
      guard let object = map[key], object.phase == .persistent else { continue }
      forgetMembership(with: object)
      // An edited object keeps its edits, so that the save tells of the conflict.
      if !object.hasChanges { markGone(object) }
    }
    if !notice.cascaded.isEmpty { map.forEach(forgetUnchangedLists) }
    for key in notice.relinked {
      guard let object = map[key], object.phase == .persistent else { continue }
      forgetUnchangedLists(of: object)
    }
  }

  /// The lists and partners that show an object by what it referred to so far are asked for anew.
  private func forgetMembership(with object: ManagedObject) {
    guard !object._attention.contains(.fault) else { return }
    for relationship in info(of: object).allRelationships where relationship.isColumn && relationship.inverse != nil {
      let key = object._reference(relationship.property)
      if key > 0, let partner = map[key], partner.phase == .persistent { forgetUnchangedLists(of: partner) }
    }
  }

  private func forgetUnchangedLists(of object: ManagedObject) {
    guard let extras = object.extras, !object.isNoted else { return }
    extras.lists.removeAll { !$0.list.hasChanges }
    extras.partners.removeAll()
  }
}
