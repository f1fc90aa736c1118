import Foundation

#if canImport(Android)
  import Android
#endif

/// Reads lines of bounded length from the standard input.
struct LineReader {
  enum Line {
    case text([UInt8])
    /// A line that is longer than the bound. It is skipped.
    case tooLong
  }

  /// The greatest number of bytes of a line.
  let mostBytes: Int
  private var rest: [UInt8] = []
  private var searched = 0
  private var isSkipping = false
  private var isAtEnd = false

  init(mostBytes: Int) { self.mostBytes = mostBytes }

  /// The next line without its end; nil after the last one. What comes after the last line's end is a line, too.
  mutating func next() -> Line? {
    while true {
      if let end = rest[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = Array(rest[..<end])
        rest.removeSubrange(...end)
        searched = 0
        if isSkipping {
          isSkipping = false
          continue
        }
        return line.count > mostBytes ? .tooLong : .text(line)
      }
      searched = rest.count
      if isAtEnd {
        let line = isSkipping ? [] : rest
        (rest, searched) = ([], 0)
        return line.isEmpty ? nil : .text(line)
      }
      if rest.count > mostBytes {
        let isFirst = !isSkipping
        (rest, searched, isSkipping) = ([], 0, true)
        if isFirst { return .tooLong }
      }
      let bytes = Self.input()
      if bytes.isEmpty { isAtEnd = true } else { rest += bytes }
    }
  }

  /// The bytes that have come, at least one; none at the end, and if there is no input.
  private static func input() -> [UInt8] {
    #if os(Windows)
      return [UInt8](FileHandle.standardInput.availableData)
    #else
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = buffer.withUnsafeMutableBytes { read(0, $0.baseAddress, $0.count) }
        if count > 0 { return Array(buffer[..<count]) }
        if count == 0 || errno != EINTR { return [] }
      }
    #endif
  }
}
