import Foundation
import TrellisModel

// MARK: - Text pattern

/// The pattern matching of `like` and `matches`, shared by the evaluation in memory and all stores.
public struct TextPattern: Sendable {
  private let pattern: Pattern?

  /// Creates a pattern for texts prepared by ``Comparison/folding``. An invalid pattern matches nothing.
  public init(_ text: String, ignoringCase: Bool) {
    pattern = try? Pattern(text, ignoringCase: ignoringCase)
  }

  /// Whether the whole text matches. A match that would take more than ``Pattern/stepLimit`` steps fails.
  public func matches(_ text: String) -> Bool { pattern?.match(text) == .matches }

  /// Whether the whole text matches the mask: `*` stands for any number of scalars, `?` for one, and `\` escapes.
  ///
  /// - Complexity: linear in the text and the mask; if `?` occurs between two `*`, linear in the text times that part.
  public static func isLike(_ text: String, _ mask: String) -> Bool { LikeMask(mask).matches(text) }
}

// MARK: - Like mask

/// A mask of `like`, split at its `*`.
struct LikeMask {
  fileprivate enum Piece {
    /// The UTF-8 bytes of literal text.
    case bytes([UInt8])
    /// Any single scalar.
    case scalar
  }

  /// The part between two `*`.
  fileprivate struct Part {
    var pieces: [Piece] = []
    /// The number of scalars of any text that the part matches.
    var scalarCount = 0
    /// Literal bytes at the end, not yet in `pieces`.
    private var bytes: [UInt8] = []

    mutating func append(_ scalar: Unicode.Scalar) {
      scalarCount += 1
      bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
    }

    mutating func appendAnyScalar() {
      finish()
      scalarCount += 1
      pieces.append(.scalar)
    }

    mutating func finish() {
      if !bytes.isEmpty { pieces.append(.bytes(bytes)) }
      bytes = []
    }
  }

  private var parts: [Part] = []

  init(_ text: String) {
    var part = Part()
    var scalars = text.unicodeScalars.makeIterator()
    while let scalar = scalars.next() {
      switch scalar {
      case "*":
        part.finish()
        parts.append(part)
        part = Part()
      case "?": part.appendAnyScalar()
      // A backslash at the very end is literal.
      case "\\": part.append(scalars.next() ?? scalar)
      default: part.append(scalar)
      }
    }
    part.finish()
    parts.append(part)
  }

  /// Whether the whole text matches the mask.
  ///
  /// - Complexity: linear in the text and the mask; for a part with `?`, linear in the text times that part.
  func matches(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes(matches) }

  private func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let first = parts.first, let last = parts.last, var place = first.end(in: text, at: 0) else { return false }
    if parts.count == 1 { return place == text.count }
    for part in parts[1..<(parts.count - 1)] {
      // The first position at which a part matches leaves the most text for the following parts.
      guard let end = part.firstEnd(in: text, from: place) else { return false }
      place = end
    }
    guard let start = last.start(in: text, from: place) else { return false }
    return last.end(in: text, at: start) == text.count
  }
}

extension LikeMask.Part {
  /// The end of the part if it matches at a position, otherwise nil.
  func end(in text: UnsafeRawBufferPointer, at place: Int) -> Int? {
    var place = place
    for piece in pieces {
      switch piece {
      case .scalar:
        guard place < text.count else { return nil }
        place = Self.end(ofScalarAt: place, in: text)
      case .bytes(let bytes):
        guard place + bytes.count <= text.count, text[place..<(place + bytes.count)].elementsEqual(bytes) else {
          return nil
        }
        place += bytes.count
      }
    }
    return place
  }

  /// The end of the part at the first position, at or after `start`, at which it matches.
  func firstEnd(in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
    if pieces.isEmpty { return start }
    if pieces.count == 1, case .bytes(let bytes) = pieces[0] {
      return bytes.withUnsafeBytes { part in
        var search = ByteSearch(part, in: text)
        return search.firstOffset(from: start).map { $0 + part.count }
      }
    }
    var place = start
    while place < text.count {
      if let end = end(in: text, at: place) { return end }
      place = Self.end(ofScalarAt: place, in: text)
    }
    return nil
  }

  /// The position at which the part must begin to end with the text; nil if that is before `first`.
  func start(in text: UnsafeRawBufferPointer, from first: Int) -> Int? {
    var place = text.count
    for _ in 0..<scalarCount {
      guard place > first else { return nil }
      repeat { place -= 1 } while place > first && Self.isContinuation(text[place])
    }
    return place
  }

  private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

  private static func end(ofScalarAt place: Int, in text: UnsafeRawBufferPointer) -> Int {
    var end = place + 1
    while end < text.count, isContinuation(text[end]) { end += 1 }
    return end
  }
}
