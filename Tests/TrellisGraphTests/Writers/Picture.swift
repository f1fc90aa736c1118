/// What is read of a graph: values, and partners by number, sorted where there is no order.
struct Picture: Equatable {
  struct Object: Equatable {
    var label: String
    var size: Int64
    var nick: String?
    /// By the place of the relationship among those that the test touches; none where the object has no such relationship.
    var partners: [[Int]]
  }

  /// By number; nil without one.
  var objects: [Object?]

  /// Where two pictures differ, in words.
  ///
  /// - Parameter touched: the relationships by which partners are listed.
  func difference(from expected: Picture, _ touched: [Shape]) -> String? {
    for (number, pair) in zip(objects, expected.objects).enumerated() where pair.0 != pair.1 {
      guard let found = pair.0 else { return "\(number) is missing" }
      guard let expected = pair.1 else { return "\(number) should be gone" }
      if found.label != expected.label { return "\(number).label is \(found.label), should be \(expected.label)" }
      if found.size != expected.size { return "\(number).size is \(found.size), should be \(expected.size)" }
      if found.nick != expected.nick {
        return "\(number).nick is \(found.nick ?? "nil"), should be \(expected.nick ?? "nil")"
      }
      for (shape, partners) in zip(touched, zip(found.partners, expected.partners)) where partners.0 != partners.1 {
        return "\(number).\(shape.name) is \(partners.0), should be \(partners.1)"
      }
    }
    return nil
  }
}
