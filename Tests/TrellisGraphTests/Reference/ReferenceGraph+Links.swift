/// How links change, and what becomes of the other end.
extension ReferenceGraph {
  /// Makes two objects partners, the new one at a place or at the end; one that is there already moves.
  mutating func connect(_ object: ID, _ shape: Shape, _ partner: ID, at place: Int? = nil) {
    let inverse = shapes.inverse(of: shape)
    if !shape.isToMany {
      if links(object, shape) == [partner] { return }
      for old in links(object, shape) { disconnect(object, shape, old) }
    }
    if let inverse, !inverse.isToMany {
      for old in links(partner, inverse) where old != object { disconnect(partner, inverse, old) }
    }
    var members = links(object, shape).filter { $0 != partner }
    members.insert(partner, at: max(0, min(place ?? members.count, members.count)))
    setLinks(object, shape, members)
    // The other end's order is its own: who is a member already stays where it is.
    if let inverse, !links(partner, inverse).contains(object) {
      setLinks(partner, inverse, links(partner, inverse) + [object])
    }
  }

  mutating func disconnect(_ object: ID, _ shape: Shape, _ partner: ID) {
    drop(object, shape, partner)
    if let inverse = shapes.inverse(of: shape) { drop(partner, inverse, object) }
  }

  mutating func drop(_ object: ID, _ shape: Shape, _ partner: ID) {
    setLinks(object, shape, links(object, shape).filter { $0 != partner })
  }

  mutating func set(_ object: ID, _ shape: Shape, _ partner: ID?) {
    if let partner { return connect(object, shape, partner) }
    for old in links(object, shape) { disconnect(object, shape, old) }
  }

  mutating func replace(_ object: ID, _ shape: Shape, _ partners: [ID]) {
    var wanted: [ID] = []
    for partner in partners where !wanted.contains(partner) { wanted.append(partner) }
    for old in links(object, shape) where !wanted.contains(old) { disconnect(object, shape, old) }
    for partner in wanted where !links(object, shape).contains(partner) { connect(object, shape, partner) }
    setLinks(object, shape, wanted)
  }
}
