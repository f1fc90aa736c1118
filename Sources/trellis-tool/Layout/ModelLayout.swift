import TrellisModel
import TrellisModelFile

/// The canonical layout of a model file.
///
/// Only white space differs from what is there: keys keep their order, and texts and numbers their spelling. What fits
/// in a line stands in one, with these exceptions, which have one member per line: the model itself, two or more enums,
/// entities or properties, an entity with two or more properties, and a list of two or more objects. An object or a list
/// of plain values that does not fit is filled line by line.
struct ModelLayout {
  private static let lineLength = 120
  private static let indentation = 2

  private let bytes: [UInt8]
  private let root: LayoutNode
  private let lineBreak: [UInt8]

  /// - Parameters:
  ///   - root: the value of the file.
  ///   - bytes: the file, which was read without an error.
  init(_ root: JSONNode, in bytes: [UInt8]) {
    self.bytes = bytes
    self.root = LayoutNode(root, as: .model, in: bytes)
    // The file keeps its line breaks, which on Windows are those of the checkout.
    let first = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? 0
    lineBreak = Array((first > 0 && bytes[first - 1] == UInt8(ascii: "\r") ? "\r\n" : "\n").utf8)
  }

  /// - Complexity: linear in the size of the file.
  func text() -> [UInt8] {
    var output = Output(lineBreak: lineBreak)
    output.text.reserveCapacity(bytes.count)
    write(root, into: &output, indent: 0, after: 0)
    output.text += lineBreak
    return output.text
  }

  private struct Output {
    var text: [UInt8] = []
    /// The width of the last line.
    var column = 0
    let lineBreak: [UInt8]

    mutating func append(_ ascii: StaticString) {
      text.append(contentsOf: UnsafeBufferPointer(start: ascii.utf8Start, count: ascii.utf8CodeUnitCount))
      column += ascii.utf8CodeUnitCount
    }

    mutating func append(_ token: LayoutNode.Token, of bytes: [UInt8]) {
      text += bytes[token.range]
      column += token.width
    }

    mutating func startLine(_ indent: Int) {
      text += lineBreak
      text.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indent))
      column = indent
    }
  }

  /// - Parameter rest: the width of what has to follow in the same line.
  private func write(_ node: LayoutNode, into output: inout Output, indent: Int, after rest: Int) {
    if node.mayBeFlat, output.column + node.width + rest <= Self.lineLength { return writeFlat(node, into: &output) }
    let inner = indent + Self.indentation
    switch node.content {
    case .token(let token): output.append(token, of: bytes)
    case .object(let members):
      output.append("{")
      for (place, member) in members.enumerated() {
        let isLast = place == members.count - 1
        advance(to: member.width, isFirst: place == 0, isLast, filling: node.isFilled, into: &output, inner)
        output.append(member.key, of: bytes)
        output.append(": ")
        write(member.value, into: &output, indent: inner, after: isLast ? 0 : 1)
      }
      output.startLine(indent)
      output.append("}")
    case .list(let elements):
      output.append("[")
      for (place, element) in elements.enumerated() {
        let isLast = place == elements.count - 1
        advance(to: element.width, isFirst: place == 0, isLast, filling: node.isFilled, into: &output, inner)
        write(element, into: &output, indent: inner, after: isLast ? 0 : 1)
      }
      output.startLine(indent)
      output.append("]")
    }
  }

  /// Goes on to the next element: in the same line if it is filled and has room, otherwise in the next.
  private func advance(
    to width: Int, isFirst: Bool, _ isLast: Bool, filling: Bool, into output: inout Output, _ indent: Int
  ) {
    if !isFirst { output.append(",") }
    let hasRoom = output.column + 1 + width + (isLast ? 0 : 1) <= Self.lineLength
    if filling, !isFirst, hasRoom { output.append(" ") } else { output.startLine(indent) }
  }

  private func writeFlat(_ node: LayoutNode, into output: inout Output) {
    switch node.content {
    case .token(let token): output.append(token, of: bytes)
    case .object(let members):
      output.append(members.isEmpty ? "{}" : "{ ")
      for (place, member) in members.enumerated() {
        if place > 0 { output.append(", ") }
        output.append(member.key, of: bytes)
        output.append(": ")
        writeFlat(member.value, into: &output)
      }
      if !members.isEmpty { output.append(" }") }
    case .list(let elements):
      output.append("[")
      for (place, element) in elements.enumerated() {
        if place > 0 { output.append(", ") }
        writeFlat(element, into: &output)
      }
      output.append("]")
    }
  }
}
