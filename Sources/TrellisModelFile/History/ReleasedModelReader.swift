import TrellisModel

/// Reads a file of a history and compares its model with its checksum.
struct ReleasedModelReader {
  private let path: String
  private let bytes: [UInt8]?
  /// The number in the file's name, which the file has to have; nil if the name says nothing.
  private let expectedNumber: Int?

  init(_ file: ModelHistory.File, number: Int?) {
    path = file.path
    bytes = file.bytes
    expectedNumber = number
  }

  /// Whether the first key is that of a history's file.
  static func isMarked(_ bytes: [UInt8]) -> Bool {
    let isSpace: (UInt8) -> Bool = { " \t\r\n".utf8.contains($0) }
    var rest = bytes[...]
    if rest.starts(with: Positions.byteOrderMark) { rest.removeFirst(Positions.byteOrderMark.count) }
    rest = rest.drop(while: isSpace)
    guard rest.popFirst() == UInt8(ascii: "{") else { return false }
    return rest.drop(while: isSpace).starts(with: "\"\(ReleasedModel.Key.format)\"".utf8)
  }

  func read() throws(ModelHistory.Refusal) -> ReleasedModel {
    guard let bytes else { throw refusal("The file cannot be read.", at: nil) }
    let (root, faults) = ModelFile.readJSON(bytes, path: path)
    guard let root else {
      let fault = faults.first { $0.severity == .error }
      throw refusal(
        "\(name) is damaged: \(fault?.message ?? "it is no JSON.") Restore it as it was released.", at: fault?.position)
    }
    let members = root.object?.members ?? []
    try checkFormat(members, root)
    guard members.map(\.key) == ReleasedModel.Key.all else {
      let keys = ReleasedModel.Key.all.map { "\"\($0)\"" }.joined(separator: ", ")
      throw damaged("it has the keys \(keys), in this order", root)
    }
    let (number, released, checksum, model) = (members[1].value, members[2].value, members[3].value, members[4].value)
    guard let count = number.integer.flatMap({ Int(exactly: $0) }), count > 0, count == expectedNumber ?? count else {
      throw damaged("its number is that of its name", number)
    }
    guard let day = released.string, Self.isDay(day) else {
      throw damaged("its day is written as 2026-03-02", released)
    }
    guard let sum = checksum.string, model.object != nil else {
      throw damaged("it has a checksum and a model", checksum)
    }
    return ReleasedModel(
      number: count, released: day, checksum: sum, canonicalText: try text(of: model, checksum: sum))
  }

  /// A later format may have other keys, so this is told apart from damage.
  private func checkFormat(_ members: [JSONObject.Member], _ root: JSONNode) throws(ModelHistory.Refusal) {
    guard let first = members.first, first.key == ReleasedModel.Key.format, let format = first.value.integer else {
      throw damaged("it begins with the key \"\(ReleasedModel.Key.format)\"", root)
    }
    guard format == ReleasedModel.format else {
      throw refusal(
        "\(name) has format \(format), and this version of Trellis knows format \(ReleasedModel.format); use the version "
          + "that released it.", at: position(of: first.value))
    }
  }

  /// The canonical text of the model, if it is the one that was released.
  private func text(of model: JSONNode, checksum: String) throws(ModelHistory.Refusal) -> String {
    let text = writtenText(of: model)
    if ModelDescription.checksum(ofText: text) == checksum { return String(decoding: text, as: UTF8.self) }
    // Another layout is no other model.
    if let description = try? ModelDescription(storedText: text), description.checksum == checksum {
      return description.canonicalJSON()
    }
    throw refusal(
      "\(name) was edited: its model has another checksum than \(checksum.quoted). Restore it as it was released, and "
        + "release what has to change as a new version.", at: position(of: model))
  }

  /// The text of the model without the file's indentation. The model is the last member of the file.
  private func writtenText(of model: JSONNode) -> [UInt8] {
    let file = bytes ?? []
    guard let end = file.lastIndex(of: UInt8(ascii: "}")) else { return [] }
    let body = file[model.offset..<max(model.offset, end)]
    guard let last = body.lastIndex(of: UInt8(ascii: "}")) else { return [] }
    var text: [UInt8] = []
    text.reserveCapacity(body.count)
    var margin = 0
    // A string has no line breaks, so each of them is part of the layout.
    for byte in body[...last] {
      if byte == UInt8(ascii: "\r") { continue }
      if margin > 0, byte == UInt8(ascii: " ") {
        margin -= 1
        continue
      }
      margin = byte == UInt8(ascii: "\n") ? ReleasedModel.margin.utf8.count : 0
      text.append(byte)
    }
    text.append(UInt8(ascii: "\n"))
    return text
  }

  /// Whether a text has the form of a day, so that it can be printed and sorted.
  private static func isDay(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 10
      && bytes.indices.allSatisfy { $0 == 4 || $0 == 7 ? bytes[$0] == UInt8(ascii: "-") : bytes[$0].isDigit }
  }

  // MARK: Messages

  private var name: String { expectedNumber.map { "Version \($0)" } ?? "The version" }

  private func damaged(_ rule: String, _ node: JSONNode) -> ModelHistory.Refusal {
    refusal("\(name) is damaged: \(rule). Restore it as it was released.", at: position(of: node))
  }

  private func refusal(_ message: String, at position: Diagnostic.Position?) -> ModelHistory.Refusal {
    ModelHistory.Refusal(diagnostic: .edited(path, message, at: position))
  }

  private func position(of node: JSONNode) -> Diagnostic.Position {
    (bytes ?? []).withUnsafeBufferPointer { Positions(of: [node.offset], in: $0)[node.offset] }
  }
}
