@_spi(Generated) import Trellis

/// A context whose objects a test knows by number.
///
/// Relationships are reached as generated accessors reach them, by property number, so that one piece of code serves all.
protocol GraphSide {
  func object(_ number: Int) throws -> ManagedObject
  /// The test's number of an object; negative for one that it never made.
  func number(of object: ManagedObject) -> Int
  func property(_ shape: Shape) -> Int
}

extension GraphSide {
  /// The numbers of the partners, sorted where there is no order.
  func reading(_ object: ManagedObject, _ shape: Shape) -> [Int] {
    guard shape.isToMany else {
      let partner: ManagedObject? = object._partner(property(shape))
      return partner.map { [number(of: $0)] } ?? []
    }
    let members = members(object, shape).map(number(of:))
    return shape.isOrdered ? members : members.sorted()
  }

  func members(_ object: ManagedObject, _ shape: Shape) -> OrderedToMany<ManagedObject> {
    OrderedToMany(object, property(shape))
  }

  /// Carries out an operation on relationships.
  ///
  /// - Returns: whether it is one.
  func link(_ operation: Operation) throws -> Bool {
    switch operation {
    case .set(let number, let shape, let partner):
      try object(number)._setPartner(property(shape), partner.map(object))
    case .append(let number, let shape, let partner):
      try members(object(number), shape).append(object(partner))
    case .insertAt(let number, let shape, let partner, let place):
      try members(object(number), shape).insert(object(partner), at: place)
    case .remove(let number, let shape, let partner):
      try members(object(number), shape).remove(object(partner))
    case .move(let number, let shape, let from, let to):
      try members(object(number), shape).move(from: from, to: to)
    case .replace(let number, let shape, let partners):
      try members(object(number), shape).replaceAll(with: partners.map(object))
    case .count(let number, let shape): _ = try members(object(number), shape).count
    case .contains(let number, let shape, let partner):
      _ = try members(object(number), shape).contains(object(partner))
    case .read(let number, let shape): _ = try reading(object(number), shape)
    default: return false
    }
    return true
  }
}
