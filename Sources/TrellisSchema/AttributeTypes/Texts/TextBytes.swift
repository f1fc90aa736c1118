/// Texts as UTF-8 bytes: the order, equality and search that all stores share.
public enum TextBytes {
  /// Negative if `left` comes first, zero if the bytes are equal, positive otherwise.
  ///
  /// - Complexity: linear in the common prefix.
  public static func compare(_ left: String, _ right: String) -> Int {
    withBytes(left) { a in withBytes(right) { b in compare(a, b) } }
  }

  /// Whether both texts have the same bytes.
  public static func areEqual(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    return withBytes(left) { a in withBytes(right) { b in commonPrefix(a, b) == a.count } }
  }

  public static func hasPrefix(_ text: String, _ prefix: String) -> Bool {
    withBytes(text) { a in withBytes(prefix) { b in a.count >= b.count && commonPrefix(a, b) == b.count } }
  }

  public static func hasSuffix(_ text: String, _ suffix: String) -> Bool {
    withBytes(text) { a in
      withBytes(suffix) { b in
        a.count >= b.count && commonPrefix(UnsafeRawBufferPointer(rebasing: a.suffix(b.count)), b) == b.count
      }
    }
  }

  /// Whether `part` occurs in `text`. An empty part always does.
  ///
  /// - Complexity: linear in both.
  public static func contains(_ text: String, _ part: String) -> Bool {
    withBytes(text) { a in withBytes(part) { b in contains(a, b) } }
  }

  /// The lexicographic order of bytes. If one sequence is a prefix of the other, the shorter comes first.
  public static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let same = commonPrefix(left, right)
    guard same < left.count, same < right.count else { return left.count - right.count }
    return Int(left[same]) - Int(right[same])
  }

  private static func withBytes<Result>(_ text: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    if let result = text.utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) { return result }
    return Array(text.utf8).withUnsafeBytes(body)
  }

  /// The length of the common prefix in bytes.
  static func commonPrefix(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    let end = min(a.count, b.count)
    var index = 0
    while index + 8 <= end {
      let difference =
        a.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        ^ b.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if difference != 0 { return index + UInt64(littleEndian: difference).trailingZeroBitCount / 8 }
      index += 8
    }
    while index < end, a[index] == b[index] { index += 1 }
    return index
  }

  /// The range of the first occurrence of `part` in `text` at or after `start`; nil if there is none or the part is
  /// empty.
  ///
  /// - Complexity: linear in the rest of the text, if the text is stored as UTF-8.
  public static func firstPlace(of part: String, in text: String, from start: String.Index) -> Range<String.Index>? {
    guard !part.isEmpty else { return nil }
    let utf8 = text.utf8
    let passed = utf8.distance(from: utf8.startIndex, to: start)
    let found = withBytes(text) { a in withBytes(part) { b in firstOffset(of: b, in: a, from: passed) } }
    guard let found else { return nil }
    let lower = utf8.index(start, offsetBy: found - passed)
    return lower..<utf8.index(lower, offsetBy: part.utf8.count)
  }

  private static func contains(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
    firstOffset(of: part, in: text, from: 0) != nil
  }

  private static func firstOffset(
    of part: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer, from start: Int
  ) -> Int? {
    var search = ByteSearch(part, in: text)
    return search.firstOffset(from: start)
  }
}
