import TrellisStorage

/// JSON Pointers (RFC 6901).
package enum PointerText {
  package static func escaped(_ key: String) -> String {
    guard key.contains(where: { $0 == "~" || $0 == "/" }) else { return key }
    return key.reduce(into: "") { $0 += $1 == "~" ? "~0" : $1 == "/" ? "~1" : String($1) }
  }

  /// The pointers of the values at some offsets, or of the innermost values around them, from the value that the bytes are.
  ///
  /// Bytes that are no JSON have the pointer of the last value that is.
  ///
  /// - Parameter offsets: In ascending order.
  /// - Complexity: linear in the number of bytes, for each level at which values with an offset lie.
  static func pointers(to offsets: [Int], in bytes: UnsafeBufferPointer<UInt8>) -> [String] {
    var scanner = JSONScanner(bytes)
    scanner.skipSpace()
    var pointers: [String] = []
    pointers.reserveCapacity(offsets.count)
    append(offsets[...], at: scanner, "", to: &pointers)
    return pointers
  }

  /// Appends the pointers of offsets that are in a value, or before it.
  private static func append(
    _ offsets: ArraySlice<Int>, at scanner: JSONScanner, _ pointer: String, to pointers: inout [String]
  ) {
    var rest = offsets
    do throws(DocumentFault) {
      try appendInner(&rest, at: scanner, pointer, to: &pointers)
    } catch {}
    pointers += repeatElement(pointer, count: rest.count)
  }

  /// Appends the pointers of the first offsets, and leaves those that are in none of the inner values that come later.
  private static func appendInner(
    _ rest: inout ArraySlice<Int>, at start: JSONScanner, _ pointer: String, to pointers: inout [String]
  ) throws(DocumentFault) {
    var scanner = start
    append(&rest, before: scanner.offset + 1, pointer, to: &pointers)
    let isObject = scanner.next == UInt8(ascii: "{")
    guard !rest.isEmpty, isObject || scanner.next == UInt8(ascii: "["),
      isObject ? try scanner.open("{", "}", "an object") : try scanner.open("[", "]", "a list")
    else { return }
    var position = 0
    repeat {
      let key = isObject ? try scanner.key() : "\(position)"
      append(&rest, before: scanner.offset, pointer, to: &pointers)
      guard let next = rest.first else { return }
      let value = scanner
      do throws(DocumentFault) {
        try scanner.skipValue()
      } catch {
        // The offsets are in a value that is no JSON.
        append(rest, at: value, "\(pointer)/\(escaped(key))", to: &pointers)
        rest = []
        return
      }
      if next < scanner.offset {
        let end = rest.firstIndex { $0 >= scanner.offset } ?? rest.endIndex
        append(rest[..<end], at: value, "\(pointer)/\(escaped(key))", to: &pointers)
        rest = rest[end...]
      }
      position += 1
    } while try scanner.goOn(isObject ? "}" : "]")
  }

  private static func append(
    _ rest: inout ArraySlice<Int>, before end: Int, _ pointer: String, to pointers: inout [String]
  ) {
    while let first = rest.first, first < end {
      pointers.append(pointer)
      rest.removeFirst()
    }
  }
}
