package import TrellisStorage

/// A problem at one place of a document.
///
/// A class, because a fault is passed through every `try` on its way.
package final class DocumentFault: Error {
  package let code: StoreError.Code
  /// The byte offset of the problem.
  package let offset: Int
  /// A sentence without its full stop: the expected content, or the problem. It contains no user data.
  package let what: String
  let entity: String?
  let properties: [String]

  package init(
    _ what: String, at offset: Int, _ code: StoreError.Code = .damaged, entity: String? = nil, properties: [String] = []
  ) {
    self.code = code
    self.offset = offset
    self.what = what
    self.entity = entity
    self.properties = properties
  }

  /// The problem as an error with the file and the position in it.
  func error(_ path: String, _ bytes: UnsafeBufferPointer<UInt8>) -> StoreError {
    let (line, column) = Self.position(of: offset, in: bytes)
    return StoreError(
      code, "\(path):\(line):\(column): \(what).",
      remedy: "Correct the document there, or put back an earlier copy; it was left as it is.", entity: entity,
      properties: properties)
  }

  /// The line and the column, both from 1. Columns count Unicode characters, not bytes.
  package static func position(of offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> (line: Int, column: Int) {
    var line = 1
    var column = 1
    for byte in bytes.prefix(offset).dropFirst(JSONScanner.markLength(bytes)) {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0b1100_0000 != 0b1000_0000 {
        column += 1
      }
    }
    return (line, column)
  }
}
