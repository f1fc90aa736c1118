import TrellisModel

/// The numbers that keep members in order. They are far enough apart that most insertions fit between two of them.
enum PlaceNumbering {
  static let gap: Int64 = 1024

  /// The place behind the last one.
  static func after(_ last: Int64?) -> Int64 {
    let next = (last ?? 0).addingReportingOverflow(gap)
    return next.overflow ? .max : next.partialValue
  }

  /// Returns places for members in a given order. As many members as possible keep their places.
  ///
  /// - Parameter places: the present place of each member, nil if it has none.
  /// - Returns: the place of each member, strictly increasing.
  /// - Complexity: n log n in the number of members; linear if all are new.
  static func arrange(_ places: [Int64?]) -> [Int64] {
    let kept = longestRisingRun(places)
    var result = [Int64](repeating: 0, count: places.count)
    var index = 0
    var last: Int64 = 0
    while index < places.count {
      if kept[index], let place = places[index] {
        result[index] = place
        last = place
        index += 1
        continue
      }
      let end = (index..<places.count).first { kept[$0] } ?? places.count
      let next = end < places.count ? places[end] : nil
      guard let step = step(from: last, to: next, count: Int64(end - index)) else { return renumbered(places.count) }
      for offset in index..<end {
        last += step
        result[offset] = last
      }
      index = end
    }
    return result
  }

  /// The distance at which a number of members fit between two places. Nil if they do not fit.
  private static func step(from last: Int64, to next: Int64?, count: Int64) -> Int64? {
    guard let next else {
      return last.addingReportingOverflow(gap.multipliedReportingOverflow(by: count).partialValue).overflow ? nil : gap
    }
    let room = next.subtractingReportingOverflow(last)
    guard !room.overflow else { return gap }
    let step = min(gap, room.partialValue / (count + 1))
    return step > 0 ? step : nil
  }

  private static func renumbered(_ count: Int) -> [Int64] {
    (0..<count).map { Int64($0 + 1) * gap }
  }

  /// Marks a longest subsequence of members whose positive places increase.
  private static func longestRisingRun(_ places: [Int64?]) -> [Bool] {
    let known = places.map { $0 ?? 0 }
    var kept = [Bool](repeating: false, count: places.count)
    for index in known.indexesOfLongestRise(where: { known[$0] > 0 }) { kept[index] = true }
    return kept
  }
}
