import TrellisStorage

/// What is wrong at one place of a document.
struct DocumentFault: Error {
  var code: StoreError.Code
  /// The byte at which it is.
  var offset: Int
  /// A sentence without its full stop: what should be there, or what is wrong. It holds no user data.
  var what: String
  var entity: String?
  var properties: [String]

  init(
    _ what: String, at offset: Int, _ code: StoreError.Code = .damaged, entity: String? = nil, properties: [String] = []
  ) {
    self.code = code
    self.offset = offset
    self.what = what
    self.entity = entity
    self.properties = properties
  }

  /// The fault as an error that says where in which file.
  func error(_ path: String, _ bytes: UnsafeBufferPointer<UInt8>) -> StoreError {
    let (line, column) = Self.position(of: offset, in: bytes)
    return StoreError(
      code, "\(path):\(line):\(column): \(what).",
      remedy: "Correct the document there, or put back an earlier copy; it was left as it is.", entity: entity,
      properties: properties)
  }

  /// Line and column, both from 1; columns count characters of Unicode, not bytes.
  static func position(of offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> (line: Int, column: Int) {
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
