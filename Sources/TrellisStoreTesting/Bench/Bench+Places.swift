import TrellisModel
import TrellisStorage

extension Bench {
  /// The column with a record's position in its owner's members.
  func orderColumn(_ record: Record, of toOne: String = "author") throws -> Int {
    guard case .column(_, let order?) = try property(record.entity, toOne).relationship?.home else {
      throw BenchError("\(record.entity.name).\(toOne) has no order")
    }
    return order
  }

  /// A pair of an object and a member of its relationship, for either end of the join table.
  func pair(
    _ entity: String, _ name: String, _ owner: Record, _ member: Record, place: Int64? = nil, inversePlace: Int64? = nil
  ) throws -> SaveRequest.Pairs.Pair {
    guard case .joinTable(_, let isFirst) = try property(self.entity(entity), name).relationship?.home else {
      throw BenchError("\(entity).\(name) has no join table")
    }
    return isFirst
      ? SaveRequest.Pairs.Pair(
        first: owner.storedKey, partner: member.storedKey, place: place, inversePlace: inversePlace)
      : SaveRequest.Pairs.Pair(
        first: member.storedKey, partner: owner.storedKey, place: inversePlace, inversePlace: place)
  }
}
