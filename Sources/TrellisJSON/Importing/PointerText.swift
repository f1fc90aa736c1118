import TrellisStorage

/// JSON Pointers (RFC 6901).
enum PointerText {
  static func escaped(_ key: String) -> String {
    guard key.contains(where: { $0 == "~" || $0 == "/" }) else { return key }
    return key.reduce(into: "") { $0 += $1 == "~" ? "~0" : $1 == "/" ? "~1" : String($1) }
  }

  /// The pointer of the value at an offset, or of the innermost value around it, from the value that the bytes are.
  ///
  /// Bytes that are no JSON have the pointer of the last value that is.
  static func pointer(to offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> String {
    var scanner = JSONScanner(bytes)
    var text = ""
    scanner.skipSpace()
    do throws(DocumentFault) {
      while try step(into: &scanner, offset, &text) {}
    } catch {}
    return text
  }

  /// Moves to the member or element that contains the offset. Returns false if the value itself is meant.
  private static func step(
    into scanner: inout JSONScanner, _ offset: Int, _ text: inout String
  ) throws(DocumentFault) -> Bool {
    guard scanner.offset < offset else { return false }
    let isObject = scanner.next == UInt8(ascii: "{")
    guard isObject || scanner.next == UInt8(ascii: "["),
      isObject ? try scanner.open("{", "}", "an object") : try scanner.open("[", "]", "a list")
    else { return false }
    var position = 0
    repeat {
      let key = isObject ? try scanner.key() : "\(position)"
      let start = scanner.offset
      if start > offset { return false }
      do throws(DocumentFault) {
        try scanner.skipValue()
      } catch {
        // The offset is in a value that is no JSON.
        text += "/" + escaped(key)
        scanner.offset = start
        return true
      }
      if offset < scanner.offset {
        text += "/" + escaped(key)
        scanner.offset = start
        return true
      }
      position += 1
    } while try scanner.goOn(isObject ? "}" : "]")
    return false
  }
}
