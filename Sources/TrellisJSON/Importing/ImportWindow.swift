import Foundation
import TrellisStorage

/// The bytes of an input that are not imported yet, with their position in it.
struct ImportWindow {
  private(set) var bytes: [UInt8] = []
  /// The offset in the import of the first byte.
  private(set) var start: Int
  /// The line of the first byte, from 1.
  private var line = 1
  /// The number of bytes of that line before the first byte.
  private var column = 0
  let file: String?

  /// - Parameter start: The offset in the import of the input.
  init(file: String?, start: Int) {
    self.file = file
    self.start = start
  }

  mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  /// Takes bytes out at the front.
  mutating func drop(_ count: Int) {
    guard count > 0 else { return }
    var passed = LineCounter()
    bytes.withUnsafeBufferPointer { bytes in passed.advance(to: count, in: bytes) }
    line += passed.count
    column = passed.count == 0 ? column + count : count - passed.start
    counted = LineCounter()
    start += count
    bytes.removeFirst(count)
  }

  /// The places of offsets of the import, which are in ascending order and in the window.
  ///
  /// - Parameter elements: The elements of the window, in order.
  /// - Complexity: linear in the number of bytes up to the last offset: each line and each element is walked once, however
  ///   many offsets it has.
  func places(of offsets: [Int], in elements: [ImportElement], _ reader: (any ElementReader)?) -> [JSONPlace] {
    let offsets = offsets.map { max(0, min($0 - start, bytes.count)) }
    let pointers = pointers(of: offsets, in: elements, reader)
    var lines = LineCounter()
    return bytes.withUnsafeBufferPointer { bytes in
      zip(offsets, pointers).map { offset, pointer in
        lines.advance(to: offset, in: bytes)
        return place(at: lines, offset, pointer)
      }
    }
  }

  private func place(at lines: LineCounter, _ offset: Int, _ pointer: String) -> JSONPlace {
    JSONPlace(
      file: file, line: line + lines.count, column: offset - lines.start + 1 + (lines.count == 0 ? column : 0),
      pointer: pointer)
  }

  private func pointers(
    of offsets: [Int], in elements: [ImportElement], _ reader: (any ElementReader)?
  ) -> [String] {
    var pointers: [String] = []
    pointers.reserveCapacity(offsets.count)
    var next = 0
    for element in elements where next < offsets.count {
      let range = element.range
      while next < offsets.count, offsets[next] < range.lowerBound {
        pointers.append("")
        next += 1
      }
      let end = offsets[next...].firstIndex { $0 >= range.upperBound } ?? offsets.count
      guard next < end, range.upperBound <= bytes.count else { continue }
      let inner = offsets[next..<end].map { $0 - range.lowerBound }
      pointers += bytes[range].withUnsafeBufferPointer { bytes in
        (reader?.pointers(to: inner, in: bytes) ?? inner.map { _ in "" }).map { element.pointer + $0 }
      }
      next = end
    }
    return pointers + Array(repeating: "", count: offsets.count - pointers.count)
  }

  // MARK: Faults

  /// The lines up to the last fault that was placed. Faults come in order, so no line is counted twice.
  private var counted = LineCounter()

  /// The place of a fault in an element, or between elements.
  mutating func place(
    ofFault offset: Int, in element: ImportElement?, _ reader: (any ElementReader)?
  ) -> JSONPlace {
    let offset = max(0, min(offset - start, bytes.count))
    if offset < counted.offset { counted = LineCounter() }
    bytes.withUnsafeBufferPointer { bytes in counted.advance(to: offset, in: bytes) }
    var pointer = ""
    if let element, element.range.upperBound <= bytes.count, element.range.lowerBound <= offset {
      pointer = bytes[element.range].withUnsafeBufferPointer { bytes in
        element.pointer + (reader?.pointers(to: [offset - element.range.lowerBound], in: bytes).first ?? "")
      }
    }
    return place(at: counted, offset, pointer)
  }
}

/// Counts lines while it moves forward in some bytes.
private struct LineCounter {
  /// The number of line ends before the offset.
  private(set) var count = 0
  /// The offset of the first byte of the line.
  private(set) var start = 0
  private(set) var offset = 0

  mutating func advance(to end: Int, in bytes: UnsafeBufferPointer<UInt8>) {
    guard let first = bytes.baseAddress else { return }
    while offset < end {
      guard let found = memchr(first + offset, 0x0A, end - offset) else { break }
      count += 1
      start = UnsafeRawPointer(found) - UnsafeRawPointer(first) + 1
      offset = start
    }
    offset = end
  }
}
