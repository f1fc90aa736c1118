import Foundation
import TrellisModel

/// A value of a keyed archive that needs no class of a program: a number, a text, a date, a list and so on.
indirect enum ArchivedValue: Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case data([UInt8])
  /// Seconds since 2001-01-01T00:00:00Z.
  case date(Double)
  case url(String)
  case uuid([UInt8])
  /// A decimal number as its canonical text.
  case decimal(String)
  case list([ArchivedValue])
  case dictionary([Entry])

  struct Entry: Hashable {
    let key: ArchivedValue
    let value: ArchivedValue
  }
}

extension ArchivedValue {
  /// The value of an archive, or of a plain binary property list, as SwiftData writes it for lists.
  ///
  /// - Throws: ``ArchiveFault``, with the name of the class if the archive has an object of one that is not known.
  /// - Complexity: linear in the number of objects; an archive that repeats its objects too often is refused.
  init(archive bytes: [UInt8]) throws(ArchiveFault) {
    let plist = try BinaryPlist(bytes)
    guard let archive = KeyedArchive(plist) else {
      var budget = 1_000 + 16 * plist.objects.count
      self = try Self.value(plist.top, in: plist, depth: 0, &budget)
      return
    }
    guard let root = archive.root else { throw ArchiveFault("it has no object") }
    // An object may stand in several places, but a few nested lists of one another would have millions.
    var budget = 1_000 + 16 * archive.count
    self = try Self.value(root, depth: 0, &budget)
  }

  /// - Throws: ``ArchiveFault``.
  init(_ node: ArchiveNode) throws(ArchiveFault) {
    var budget = 100_000
    self = try Self.value(node, depth: 0, &budget)
  }

  private static let deepest = 32

  private static func value(
    _ node: ArchiveNode, depth: Int, _ budget: inout Int
  ) throws(ArchiveFault) -> ArchivedValue {
    budget -= 1
    guard depth < deepest, budget > 0 else { throw ArchiveFault("it is nested too deep") }
    guard case .dictionary = node.plain else { return try plain(node.plain) }
    return try object(node, depth: depth, &budget)
  }

  private static func value(
    _ number: Int, in plist: BinaryPlist, depth: Int, _ budget: inout Int
  ) throws(ArchiveFault) -> ArchivedValue {
    budget -= 1
    guard depth < deepest, budget > 0 else { throw ArchiveFault("it is nested too deep") }
    switch plist[number] {
    case .array(let numbers)?:
      var values: [ArchivedValue] = []
      for number in numbers { values.append(try value(number, in: plist, depth: depth + 1, &budget)) }
      return .list(values)
    case .dictionary(let keys, let numbers)?:
      var entries: [Entry] = []
      for (key, number) in zip(keys, numbers) {
        entries.append(
          Entry(
            key: try value(key, in: plist, depth: depth + 1, &budget),
            value: try value(number, in: plist, depth: depth + 1, &budget)))
      }
      return .dictionary(entries)
    case let object?: return try plain(object)
    case nil: throw ArchiveFault("it has a value out of place")
    }
  }

  private static func plain(_ object: BinaryPlist.Object) throws(ArchiveFault) -> ArchivedValue {
    switch object {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .integer(let value): .integer(value)
    case .unsigned(let value): .real(Double(value))
    case .real(let value): .real(value)
    case .date(let seconds): .date(seconds)
    case .data(let bytes): .data(bytes)
    case .string(let text): .text(text)
    case .uid, .array, .dictionary: throw ArchiveFault("it has a value out of place")
    }
  }

  private static func object(
    _ node: ArchiveNode, depth: Int, _ budget: inout Int
  ) throws(ArchiveFault) -> ArchivedValue {
    guard let name = node.className else { throw ArchiveFault("an object has no class") }
    switch name {
    case "NSNull": return .null
    case "NSString", "NSMutableString":
      if let text = node.string { return .text(text) }
      if case .data(let bytes)? = node["NS.bytes"]?.plain { return .text(String(decoding: bytes, as: UTF8.self)) }
    case "NSData", "NSMutableData": if let bytes = node.data { return .data(bytes) }
    case "NSDate": if let seconds = node["NS.time"]?.real { return .date(seconds) }
    case "NSUUID":
      if case .data(let bytes)? = node["NS.uuidbytes"]?.plain, bytes.count == 16 { return .uuid(bytes) }
    case "NSURL": if let text = url(node, depth: 0) { return .url(text) }
    case "NSNumber":
      for key in ["NS.intval", "NS.dblval", "NS.boolval"] {
        if let value = node[key] { return try self.value(value, depth: depth + 1, &budget) }
      }
    case "NSDecimalNumber": if let text = decimal(node) { return .decimal(text) }
    case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet":
      // An empty ordered set has no elements at all.
      if let elements = node.elements ?? (name.hasSuffix("OrderedSet") ? [] : nil) {
        var values: [ArchivedValue] = []
        for element in elements { values.append(try value(element, depth: depth + 1, &budget)) }
        return .list(values)
      }
    case "NSDictionary", "NSMutableDictionary", "NSKnownKeysDictionary1", "NSKnownKeysDictionary2":
      if let entries = node.entries {
        var values: [Entry] = []
        for entry in entries {
          values.append(
            Entry(
              key: try value(entry.key, depth: depth + 1, &budget),
              value: try value(entry.value, depth: depth + 1, &budget)))
        }
        return .dictionary(values)
      }
    default: throw ArchiveFault("it has an object of the class \(name)")
    }
    throw ArchiveFault("an object of the class \(name) is damaged")
  }

  /// The absolute text of an archived URL, which may have another as its base.
  private static func url(_ node: ArchiveNode, depth: Int) -> String? {
    guard depth < 8, let relative = node["NS.relative"]?.string else { return nil }
    guard let base = node["NS.base"], !base.isNull else { return relative }
    guard let text = url(base, depth: depth + 1), let origin = URL(string: text) else { return relative }
    return URL(string: relative, relativeTo: origin)?.absoluteString ?? relative
  }

  /// The text of an archived decimal number: a mantissa of at most 16 bytes, and an exponent of ten.
  private static func decimal(_ node: ArchiveNode) -> String? {
    guard case .data(let mantissa)? = node["NS.mantissa"]?.plain, mantissa.count <= 16,
      let exponent = node["NS.exponent"]?.integer, exponent.magnitude <= 127
    else { return nil }
    // A length of 0 with a sign stands for no number.
    let isNegative = node["NS.negative"]?.bool ?? false
    let length = node["NS.length"]?.integer ?? 8
    if length == 0 { return isNegative ? nil : "0" }
    // Units of 16 bits, the lowest first; a flag tells that the bytes of a unit are little-endian.
    let isLittle = node["NS.mantissa.bo"]?.integer != 2
    var digits = [0]
    let count = min(mantissa.count / 2, Int(clamping: length))
    for unit in (0..<max(0, count)).reversed() {
      let (low, high) = (Int(mantissa[unit * 2]), Int(mantissa[unit * 2 + 1]))
      multiplyAdd(&digits, isLittle ? high << 8 | low : low << 8 | high)
    }
    let text = digits.reversed().map(String.init).joined()
    return DecimalText.canonical((isNegative ? "-" : "") + text + "e\(exponent)")
  }

  /// Multiplies a number in decimal digits, the lowest first, by 65,536 and adds a unit.
  private static func multiplyAdd(_ digits: inout [Int], _ unit: Int) {
    var carry = unit
    for place in digits.indices {
      let value = digits[place] * 65_536 + carry
      digits[place] = value % 10
      carry = value / 10
    }
    while carry > 0 {
      digits.append(carry % 10)
      carry /= 10
    }
  }
}
