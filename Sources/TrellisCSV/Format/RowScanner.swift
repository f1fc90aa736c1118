import TrellisJSON

/// A cell, by its place among the bytes.
struct Cell {
  /// The offset of the cell, with its quotes.
  var start: Int
  /// The bytes between the quotes, or those of the cell.
  var content: Range<Int>
  var isQuoted: Bool
  /// Whether the content has quotes that stand twice, or backslashes.
  var hasEscapes: Bool
}

/// Finds the cells of rows (RFC 4180). A row ends with LF or CRLF, and a cell in quotes may have line ends.
///
/// Quotes inside of a cell that does not begin with one are letters.
struct RowScanner {
  let separator: UInt8
  let hasBackslashes: Bool
  /// The cells of the row that was scanned last.
  private(set) var cells: [Cell] = []
  /// What is wrong with that row.
  private(set) var fault: DocumentFault?

  static let quote = UInt8(ascii: "\"")
  private static let backslash = UInt8(ascii: "\\")
  /// A row has so many bytes at most. Quotes that never end would take the whole file.
  static let longestRow = 64 << 20

  init(_ separator: UInt8, hasBackslashes: Bool) {
    self.separator = separator
    self.hasBackslashes = hasBackslashes
  }

  /// Scans the row at an offset.
  ///
  /// - Returns: the offset after the row; nil if more bytes are needed.
  mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, isWhole: Bool) throws(DocumentFault) -> Int?
  {
    cells.removeAll(keepingCapacity: true)
    fault = nil
    var offset = start
    let count = bytes.count
    while true {
      let first = offset
      var cell = Cell(start: first, content: first..<first, isQuoted: false, hasEscapes: false)
      if offset < count, bytes[offset] == Self.quote {
        cell.isQuoted = true
        offset += 1
        guard let end = closingQuote(bytes, offset, &cell.hasEscapes) else {
          if isWhole || count - start > Self.longestRow {
            throw DocumentFault("the quotes that begin here do not end", at: first, .damaged)
          }
          return nil
        }
        cell.content = first + 1..<end
        offset = end + 1
        let after = offset
        skipPlain(bytes, &offset)
        if offset > after, !(offset == after + 1 && bytes[after] == 0x0D && (offset == count || bytes[offset] == 0x0A))
        {
          fault = fault ?? DocumentFault("the cell goes on after its closing quote", at: after, .damaged)
        }
      } else {
        skipPlain(bytes, &offset, noting: &cell.hasEscapes)
        let isReturn = offset > first && bytes[offset - 1] == 0x0D && (offset == count || bytes[offset] == 0x0A)
        cell.content = first..<(isReturn ? offset - 1 : offset)
      }
      if offset == count {
        guard isWhole else {
          try checkLength(from: start, to: count)
          return nil
        }
        cells.append(cell)
        try checkLength(from: start, to: count)
        return count
      }
      cells.append(cell)
      offset += 1
      if bytes[offset - 1] == 0x0A {
        try checkLength(from: start, to: offset)
        return offset
      }
    }
  }

  private func checkLength(from start: Int, to end: Int) throws(DocumentFault) {
    guard end - start > Self.longestRow else { return }
    throw DocumentFault("the row that begins here has more than 64 MB", at: start, .limit)
  }

  /// Whether the row has separators only, as spreadsheets write below a table.
  var isEmpty: Bool { cells.allSatisfy { !$0.isQuoted && $0.content.isEmpty } }

  /// Moves to the separator or the line feed after the cell.
  @inline(__always) private func skipPlain(_ bytes: UnsafeBufferPointer<UInt8>, _ offset: inout Int) {
    var ignored = false
    skipPlain(bytes, &offset, noting: &ignored)
  }

  @inline(__always) private func skipPlain(
    _ bytes: UnsafeBufferPointer<UInt8>, _ offset: inout Int, noting hasEscapes: inout Bool
  ) {
    let count = bytes.count
    while offset < count {
      let byte = bytes[offset]
      if byte == separator || byte == 0x0A { return }
      if hasBackslashes, byte == Self.backslash, offset + 1 < count {
        hasEscapes = true
        offset += 1
      }
      offset += 1
    }
  }

  private func closingQuote(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ hasEscapes: inout Bool) -> Int? {
    var offset = start
    let count = bytes.count
    while offset < count {
      let byte = bytes[offset]
      if byte == Self.quote {
        guard offset + 1 < count, bytes[offset + 1] == Self.quote else { return offset }
        hasEscapes = true
        offset += 2
      } else if hasBackslashes, byte == Self.backslash {
        hasEscapes = true
        offset += 2
      } else {
        offset += 1
      }
    }
    return nil
  }

  /// The text of a cell.
  func text(_ cell: Cell, _ bytes: UnsafeBufferPointer<UInt8>) -> String {
    let content = UnsafeBufferPointer(rebasing: bytes[cell.content])
    guard cell.hasEscapes else { return String(decoding: content, as: UTF8.self) }
    var text: [UInt8] = []
    text.reserveCapacity(content.count)
    var offset = 0
    while offset < content.count {
      let byte = content[offset]
      offset += 1
      if byte == Self.quote, cell.isQuoted {
        text.append(byte)
        offset += 1
      } else if byte == Self.backslash, hasBackslashes, offset < content.count {
        text.append(Self.meaning(of: content[offset]))
        offset += 1
      } else {
        text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func meaning(of letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "0"): 0x00
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "Z"): 0x1A
    default: letter
    }
  }

  /// Whether a cell is `\N`, which stands for nil.
  func isNullEscape(_ cell: Cell, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    hasBackslashes && !cell.isQuoted && cell.content.count == 2 && bytes[cell.content.lowerBound] == Self.backslash
      && bytes[cell.content.lowerBound + 1] == UInt8(ascii: "N")
  }
}
