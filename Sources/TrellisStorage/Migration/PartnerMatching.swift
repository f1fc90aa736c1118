/// Chooses the pairs of a one-to-one that is its own inverse: each object has at most one partner.
struct PartnerMatching {
  private var partners: [Int64: Int64] = [:]

  /// Whether two objects become partners: neither has another one.
  mutating func matches(_ owner: Int64, _ partner: Int64) -> Bool {
    if let known = partners[owner] { return known == partner }
    guard partners[partner] == nil else { return false }
    partners[owner] = partner
    partners[partner] = owner
    return true
  }
}
