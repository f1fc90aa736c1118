import TrellisStorage

extension ManagedObject {
  /// The partner of a to-one, loaded if necessary, together with the partners of the object's siblings.
  @_spi(Generated) @inlinable public final func _partner<Partner: ManagedObject>(_ property: Int) -> Partner? {
    _willRead(property)
    return _findPartner(property) as? Partner
  }

  @_spi(Generated) public final func _findPartner(_ property: Int) -> ManagedObject? {
    var key = _reference(property)
    if key == 0 { return nil }
    guard let context = link.context else {
      // The missing context is not reported if the partner is known to be nil.
      if key > 0 || extras?.partner(property) != 0 { reportContextGone(property) }
      return nil
    }
    if key < 0 {
      guard phase != .detached, let relationship = context.relationship(property, of: self) else { return nil }
      if extras?.partner(property) == nil { context.noteLazyLoad(of: self, relationship) }
      key = context.partnerKey(of: self, relationship)
      if key == 0 { return nil }
    }
    if let partner = context.map[key] { return partner.phase == .deleted ? nil : partner }
    guard phase != .detached, let relationship = context.relationship(property, of: self) else { return nil }
    context.noteLazyLoad(of: self, relationship)
    return context.loadPartner(key, of: self, relationship)
  }

  /// Sets the partner of a to-one and updates the inverse.
  @_spi(Generated) public final func _setPartner(_ property: Int, _ partner: ManagedObject?) {
    guard let context = link.context else { return reportContextGone(property, isWrite: true) }
    guard let relationship = context.relationship(property, of: self) else { return }
    guard context.isUsable(self, as: "the object", in: relationship) else { return }
    guard let partner else {
      let old = context.partnerKey(of: self, relationship)
      if old > 0 && context.isReady(toDisconnect: self, relationship, old) {
        context.disconnect(self, relationship, old)
      } else if old == 0, phase == .inserted, relationship.isColumn {
        // An explicit nil counts as an assigned value of a new object.
        _markAssigned(ColumnMask.bit(of: property))
      }
      return
    }
    guard context.isUsable(partner, as: "the partner", in: relationship),
      context.isReady(toConnect: self, relationship, partner)
    else { return }
    context.connect(self, relationship, partner)
  }
}

extension ManagedObjectContext {
  func relationship(_ property: Int, of object: ManagedObject) -> RelationshipInfo? {
    let all = info(of: object).relationships
    return property >= 0 && property < all.count ? all[property] : nil
  }

  /// Whether an object may take part in a change of relationships of this context; if not, this is reported.
  func isUsable(_ object: ManagedObject, as role: String, in relationship: RelationshipInfo) -> Bool {
    let isOurs = object.link === link
    if isOurs && object.accessFlags.contains(.fault) { fulfilFault(of: object) }
    guard isOurs, object.phase != .detached, object.phase != .deleted else {
      let why = isOurs ? "is deleted" : whereabouts(of: object)
      report(
        ContextError(
          .foreignObject,
          "\(relationship.entityName).\(relationship.name) was left as it is, since \(role), \(object), \(why)."))
      return false
    }
    // A failure to load the object was reported already.
    return !object.accessFlags.contains(.fault)
  }
}
