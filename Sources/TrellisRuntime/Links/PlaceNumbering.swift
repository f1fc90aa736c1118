import TrellisModel

/// The numbers that keep members in order. They are far enough apart that most insertions fit between two of them.
///
/// A place may be negative, but is never 0, which stands for no place.
enum PlaceNumbering {
  static let gap: Int64 = 1024

  /// The place behind the last one.
  static func after(_ last: Int64?) -> Int64 {
    let next = (last ?? 0).addingReportingOverflow(gap)
    return next.overflow ? .max : next.partialValue == 0 ? 1 : next.partialValue
  }

  /// Returns increasing places between two others.
  ///
  /// - Parameters:
  ///   - last: The preceding place; nil at the start of a list.
  ///   - next: The following place; nil at the end of a list.
  /// - Returns: nil if they do not fit.
  static func places(_ count: Int, after last: Int64?, before next: Int64?) -> [Int64]? {
    let wanted = Int64(count)
    let span = wanted.multipliedReportingOverflow(by: gap)
    if span.overflow { return nil }
    guard let next = next.map(position) else {
      let start = last.map(position) ?? -1
      if start.addingReportingOverflow(span.partialValue).overflow { return nil }
      return (0..<wanted).map { place(start + ($0 + 1) * gap) }
    }
    guard let last = last.map(position) else {
      let start = next.subtractingReportingOverflow(span.partialValue)
      return start.overflow ? nil : (0..<wanted).map { place(start.partialValue + $0 * gap) }
    }
    guard last < next else { return nil }
    let room = next.subtractingReportingOverflow(last)
    let step = room.overflow ? gap : min(gap, room.partialValue / (wanted + 1))
    return step > 0 ? (0..<wanted).map { place(last + ($0 + 1) * step) } : nil
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
    while index < places.count {
      if kept[index], let place = places[index] {
        result[index] = place
        index += 1
        continue
      }
      let end = (index..<places.count).first { kept[$0] } ?? places.count
      let found = Self.places(
        end - index, after: index > 0 ? result[index - 1] : nil, before: end < places.count ? places[end] : nil)
      guard let found else { return renumbered(places.count) }
      result.replaceSubrange(index..<end, with: found)
      index = end
    }
    return result
  }

  private static func renumbered(_ count: Int) -> [Int64] {
    (0..<count).map { Int64($0 + 1) * gap }
  }

  /// Marks a longest subsequence of members whose places increase.
  private static func longestRisingRun(_ places: [Int64?]) -> [Bool] {
    let known = places.map { $0 ?? 0 }
    var kept = [Bool](repeating: false, count: places.count)
    for index in known.indexesOfLongestRise(where: { known[$0] != 0 }) { kept[index] = true }
    return kept
  }

  // MARK: Without zero

  /// The position of a place among all integers but 0.
  private static func position(_ place: Int64) -> Int64 { place > 0 ? place - 1 : place }

  private static func place(_ position: Int64) -> Int64 { position >= 0 ? position + 1 : position }
}
