import TrellisJSON
import TrellisModel

/// What a cell says before its type is known.
enum CellContent {
  /// An empty cell without quotes, or the word for nil.
  case null(isEmpty: Bool)
  case text(String, isQuoted: Bool)
}

/// A value of a cell.
enum CellValue {
  case null
  case value(StoredValue)
  /// What must be there, as the end of a sentence.
  case wrong(String)
}

extension CSVFormat {
  func content(_ cell: Cell, _ scanner: RowScanner, _ bytes: UnsafeBufferPointer<UInt8>) -> CellContent {
    if !cell.isQuoted, cell.content.isEmpty { return .null(isEmpty: true) }
    if scanner.isNullEscape(cell, bytes) || isNull(cell, bytes) { return .null(isEmpty: false) }
    return .text(scanner.text(cell, bytes), isQuoted: cell.isQuoted)
  }

  /// Whether a cell is the word for nil. The bytes of the file count: `\\N` is a text although it means `\N`.
  func isNull(_ cell: Cell, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let null, !cell.isQuoted, cell.content.count == null.utf8.count else { return false }
    return bytes[cell.content].elementsEqual(null.utf8)
  }

  /// The value of a cell.
  ///
  /// An empty cell is nil. In quotes it is the empty text, for a type that has one; and it is the empty text or the empty
  /// list without quotes, too, where nil cannot be meant.
  ///
  /// - Parameter mayBeNil: Whether nil can be meant although the attribute is not optional.
  func value(_ content: CellContent, _ map: ValueMap, mayBeNil: Bool = false) -> CellValue {
    switch content {
    case .null(let isEmpty):
      guard isEmpty, !mayBeNil, !map.attribute.isOptional, !map.emptyIsNull else { return .null }
      switch map.type {
      case .string: return .value(.text(map.taken("")))
      case .array: return .value(.text("[]"))
      case .data: return .value(.blob([]))
      default: return .null
      }
    case .text(let text, _):
      return value(of: text, map)
    }
  }

  private func value(of text: String, _ map: ValueMap) -> CellValue {
    switch map.type {
    case .string, .url:
      let taken = map.taken(unguarded(text))
      if taken.isEmpty, map.emptyIsNull || map.type == .url { return .null }
      return map.value(taken).map { .value($0) } ?? .wrong(map.expectation)
    case .array(let element):
      let text = unguarded(text)
      if text.isEmpty { return map.attribute.isOptional ? .null : .value(.text("[]")) }
      if let value = json(text, map) { return .value(value) }
      guard let listSeparator else { return .wrong(map.expectation + " in JSON") }
      return json(Self.jsonList(text, listSeparator, element), map).map { .value($0) }
        ?? .wrong("\(map.expectation), with '\(listSeparator)' between its elements")
    case .codable:
      if text.isEmpty { return .null }
      return json(unguarded(text), map).map { .value($0) } ?? .wrong(map.expectation + " in JSON")
    default: break
    }
    var trimmed = map.taken(text.trimmed)
    if trimmed.isEmpty { return map.type == .data && !map.attribute.isOptional ? .value(.blob([])) : .null }
    switch map.type {
    case .bool:
      switch trimmed.lowercased() {
      case "true", "t", "1": return .value(.integer(1))
      case "false", "f", "0": return .value(.integer(0))
      default: return .wrong("true or false")
      }
    case .float, .double, .decimal:
      if trimmed.utf8.contains(UInt8(ascii: ",")) {
        let isOne = trimmed.utf8.count { $0 == UInt8(ascii: ",") } == 1 && !trimmed.utf8.contains(UInt8(ascii: "."))
        guard hasDecimalCommas, isOne else {
          return .wrong(
            "\(map.expectation), without separators of thousands\(hasDecimalCommas ? "" : ", and with a point before the fraction")"
          )
        }
        trimmed = trimmed.replacing(",", with: ".")
      } else if hasDecimalCommas, trimmed.utf8.contains(UInt8(ascii: ".")) {
        return .wrong("\(map.expectation), with a comma before the fraction")
      }
    case .data:
      if trimmed.hasPrefix("\\x") {
        return Self.hexadecimal(trimmed.utf8.dropFirst(2)).map { .value(.blob($0)) } ?? .wrong(map.expectation)
      }
    default: break
    }
    return map.value(trimmed).map { .value($0) } ?? .wrong(map.expectation)
  }

  /// A list in JSON, of a text with a separator between its elements.
  private static func jsonList(_ text: String, _ separator: String, _ element: AttributeType) -> String {
    let parts = text.split(separator: separator, omittingEmptySubsequences: true).map { String($0).trimmed }
    switch element {
    case .bool, .integer, .float, .double: return "[\(parts.joined(separator: ","))]"
    default:
      var bytes: [UInt8] = [UInt8(ascii: "[")]
      for (place, part) in parts.enumerated() {
        if place > 0 { bytes.append(UInt8(ascii: ",")) }
        bytes.appendQuoted(part)
      }
      return String(decoding: bytes + [UInt8(ascii: "]")], as: UTF8.self)
    }
  }

  /// The elements of a list in JSON as texts; nil for a list that has others than texts, numbers, true and false.
  static func elements(ofJSON list: String) -> [String]? {
    var list = list
    return list.withUTF8 { bytes in
      var scanner = JSONScanner(bytes)
      var texts: [String] = []
      do throws(DocumentFault) {
        guard try scanner.open("[", "]", "a list") else { return [] }
        repeat {
          guard let text = try scanner.scalarText() else { return nil }
          texts.append(text)
        } while try scanner.goOn("]")
      } catch {
        return nil
      }
      return texts
    }
  }

  /// The value that a text of JSON holds.
  func json(_ text: String, _ map: ValueMap) -> StoredValue? {
    var text = text
    return text.withUTF8 { bytes in
      var scanner = JSONScanner(bytes)
      scanner.skipSpace()
      guard let value = try? map.read(&scanner) else { return nil }
      scanner.skipSpace()
      return scanner.next == nil && !value.isNull ? value : nil
    }
  }

  private static func hexadecimal(_ digits: Substring.UTF8View) -> [UInt8]? {
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    var rest = digits[...]
    while let first = rest.popFirst(), let second = rest.popFirst() {
      guard let high = Character(Unicode.Scalar(first)).hexDigitValue,
        let low = Character(Unicode.Scalar(second)).hexDigitValue
      else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }

  /// The values of a list in a cell; nil for a cell that has none.
  ///
  /// - Parameter read: Reads an element of a list in JSON.
  func list(_ text: String, _ map: ValueMap) -> [StoredValue]? {
    if text.isEmpty { return [] }
    if let values = jsonList(text, map) { return values }
    guard let listSeparator, !listSeparator.isEmpty else { return nil }
    var values: [StoredValue] = []
    for part in text.split(separator: listSeparator, omittingEmptySubsequences: true) {
      switch value(of: String(part).trimmed, map) {
      case .null: continue
      case .value(let value): values.append(value)
      case .wrong: return nil
      }
    }
    return values
  }

  private func jsonList(_ text: String, _ map: ValueMap) -> [StoredValue]? {
    guard text.utf8.first == UInt8(ascii: "[") else { return nil }
    var text = text
    return text.withUTF8 { bytes in
      var scanner = JSONScanner(bytes)
      var values: [StoredValue] = []
      do throws(DocumentFault) {
        if try scanner.open("[", "]", "a list") {
          repeat {
            guard let value = try map.read(&scanner), !value.isNull else { return nil }
            values.append(value)
          } while try scanner.goOn("]")
        }
      } catch {
        return nil
      }
      scanner.skipSpace()
      return scanner.next == nil ? values : nil
    }
  }
}

extension String {
  /// The text without spaces and tabs around it.
  fileprivate var trimmed: String {
    let bytes = utf8
    guard bytes.first == 0x20 || bytes.last == 0x20 || bytes.first == 0x09 || bytes.last == 0x09 else { return self }
    let start = bytes.firstIndex { $0 != 0x20 && $0 != 0x09 } ?? bytes.endIndex
    var end = bytes.endIndex
    while end > start, bytes[bytes.index(before: end)] == 0x20 || bytes[bytes.index(before: end)] == 0x09 {
      end = bytes.index(before: end)
    }
    return String(self[start..<end])
  }
}
