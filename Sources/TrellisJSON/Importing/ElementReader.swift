import TrellisModel
import TrellisStorage

/// An element of an input, by its place in the window.
package struct ImportElement {
  package let range: Range<Int>
  /// The pointer of the element in its document.
  package let pointer: String

  package init(range: Range<Int>, pointer: String) {
    self.range = range
    self.pointer = pointer
  }
}

/// Cuts the elements of an input out of its bytes, and reads them into records.
package protocol ElementReader: AnyObject {
  /// Where reading goes on in the window.
  var offset: Int { get }
  /// The number of rows without any value, which are no elements.
  var emptyRows: Int { get }
  /// Tells that bytes before the place where reading goes on were taken out of the window.
  func drop(_ count: Int)
  /// The next element of which all bytes are in the window; nil if more bytes are needed, or there are no more elements.
  ///
  /// - Throws: ``DocumentFault`` if nothing after its place can be read.
  func next(_ window: UnsafeBufferPointer<UInt8>, isWhole: Bool) throws(DocumentFault) -> ImportElement?
  /// The records of an element, outer ones before inner ones.
  ///
  /// - Parameter base: The offset in the import of the first byte.
  /// - Throws: ``DocumentFault`` for an element that cannot be read, with an offset within the bytes.
  func records(_ bytes: UnsafeBufferPointer<UInt8>, base: Int) throws(DocumentFault) -> [ImportRecord]
  /// The pointers of the values at some offsets of an element, which are in ascending order.
  func pointers(to offsets: [Int], in bytes: UnsafeBufferPointer<UInt8>) -> [String]
}

extension ElementReader {
  package var emptyRows: Int { 0 }
}

/// Reads JSON.
final class JSONElementReader: ElementReader {
  private var cutter: ElementCutter
  private let entity: EntityMap
  private let map: JSONMap

  init(_ path: ElementCutter.Path, _ entity: EntityMap, _ map: JSONMap) {
    cutter = ElementCutter(path)
    self.entity = entity
    self.map = map
  }

  var offset: Int { cutter.offset }

  func drop(_ count: Int) { cutter.drop(count) }

  func next(_ window: UnsafeBufferPointer<UInt8>, isWhole: Bool) throws(DocumentFault) -> ImportElement? {
    try cutter.next(window, isWhole: isWhole)
  }

  func records(_ bytes: UnsafeBufferPointer<UInt8>, base: Int) throws(DocumentFault) -> [ImportRecord] {
    var parser = ElementParser(bytes, base: base, map)
    _ = try parser.read(as: entity)
    return parser.records
  }

  func pointers(to offsets: [Int], in bytes: UnsafeBufferPointer<UInt8>) -> [String] {
    PointerText.pointers(to: offsets, in: bytes)
  }
}
