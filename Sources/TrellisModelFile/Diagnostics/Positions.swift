/// Lines and columns of byte offsets, computed in one pass over the file for lines of any length.
struct Positions {
  private var found: [Int: Diagnostic.Position] = [:]

  init(of offsets: [Int], in bytes: UnsafeBufferPointer<UInt8>) {
    var line = 1
    var column = 1
    var place = bytes.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
    for offset in Set(offsets).sorted() {
      while place < offset, place < bytes.count {
        let byte = bytes[place]
        place += 1
        if byte == UInt8(ascii: "\n") {
          line += 1
          column = 1
        } else if byte & 0b1100_0000 != 0b1000_0000 {
          column += 1
        }
      }
      found[offset] = Diagnostic.Position(line: line, column: column)
    }
  }

  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  subscript(offset: Int) -> Diagnostic.Position { found[offset] ?? Diagnostic.Position(line: 1, column: 1) }
}
