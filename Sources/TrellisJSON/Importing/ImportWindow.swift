import Foundation
import TrellisStorage

/// The bytes of the input that are not done with, and where they stand in it.
struct ImportWindow {
  private(set) var bytes: [UInt8] = []
  /// The offset in the input of the first byte.
  private(set) var start = 0
  /// The line of the first byte, from 1.
  private var line = 1
  /// The number of bytes of that line before the first byte.
  private var column = 0
  let file: String?

  init(file: String?) { self.file = file }

  mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  /// Takes bytes out at the front.
  mutating func drop(_ count: Int) {
    guard count > 0 else { return }
    var (lines, last) = (0, -1)
    bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      var place = start
      while let found = memchr(place, 0x0A, count - (place - start)) {
        (lines, last) = (lines + 1, UnsafeRawPointer(found) - start)
        place = UnsafeRawPointer(found) + 1
      }
    }
    line += lines
    column = last < 0 ? column + count : count - 1 - last
    start += count
    bytes.removeFirst(count)
  }

  /// The places of offsets of the input that are in the window.
  struct Lines {
    private let window: ImportWindow
    /// The offsets in the window of the first byte of each line.
    private let starts: [Int]

    init(_ window: ImportWindow) {
      self.window = window
      starts = [0] + window.bytes.indices.filter { window.bytes[$0] == 0x0A }.map { $0 + 1 }
    }

    /// - Parameters:
    ///   - element: The range in the window of the element that the offset is in, and its pointer.
    func place(_ offset: Int, in element: ElementCutter.Element?) -> JSONPlace {
      let offset = max(0, min(offset - window.start, window.bytes.count))
      var (low, high) = (0, starts.count)
      while high - low > 1 {
        let middle = (low + high) / 2
        if starts[middle] <= offset { low = middle } else { high = middle }
      }
      var pointer = ""
      if let element, element.range.upperBound <= window.bytes.count, element.range.lowerBound <= offset {
        pointer = window.bytes[element.range].withUnsafeBufferPointer { bytes in
          element.pointer + PointerText.pointer(to: offset - element.range.lowerBound, in: bytes)
        }
      }
      return JSONPlace(
        file: window.file, line: window.line + low, column: offset - starts[low] + 1 + (low == 0 ? window.column : 0),
        pointer: pointer)
    }
  }
}
