import TrellisModel
import TrellisStorage

/// Cuts the elements of an input out of its bytes, which may come in pieces.
///
/// It knows of JSON only what separates values: brackets, quotes and escapes. What lies in an element is checked when
/// the element is read.
struct ElementCutter {
  /// Where the elements are.
  enum Path {
    /// Each line is an element.
    case lines
    /// The document itself, or its elements if it is a list.
    case root
    /// The values that keys and lists lead to.
    case steps([JSONPath.Step])
  }

  typealias Element = ImportElement

  private enum State {
    /// The value at a level of the path is next.
    case value(Int)
    /// A key or the end of the object at a level is next.
    case key(Int)
    /// A comma or the end of the object at a level is next.
    case afterMember(Int)
    /// An element or the end of the list at a level is next.
    case element(Int)
    case afterElement(Int)
    /// The value of a key, or an element, that does not lead on.
    case passing(Int)
    case passingElement(Int)
    case end
  }

  private var path: Path
  private var steps: [JSONPath.Step] = []
  private var state = State.value(0)
  /// The positions in the lists on the way, by level.
  private var positions: [Int] = []
  private var skipper = ValueSkipper()
  /// Where reading goes on in the window.
  private(set) var offset = 0
  private var isRootKnown = false

  init(_ path: Path) {
    self.path = path
    if case .steps(let steps) = path { self.steps = steps }
    positions = Array(repeating: -1, count: steps.count + 1)
  }

  /// Tells that bytes before the place where reading goes on were taken out of the window.
  mutating func drop(_ count: Int) {
    offset -= count
    skipper.drop(count)
  }

  /// The next element of which all bytes are in the window; nil if more bytes are needed, or there are no more elements.
  ///
  /// - Throws: ``DocumentFault`` with an offset in the window.
  mutating func next(
    _ window: UnsafeBufferPointer<UInt8>, isWhole: Bool
  ) throws(DocumentFault) -> Element? {
    if case .lines = path { return nextLine(window, isWhole: isWhole) }
    while true {
      skipSpace(window)
      guard offset < window.count else {
        if isWhole, case .end = state { return nil }
        if isWhole { throw DocumentFault("the text ends before its JSON does", at: window.count) }
        return nil
      }
      let byte = window[offset]
      switch state {
      case .value(let level):
        if !isRootKnown { findRoot(byte) }
        if level == steps.count {
          guard let range = skip(window, isWhole: isWhole) else { return nil }
          state = after(level)
          return Element(range: range, pointer: pointer)
        }
        try enter(level, byte)
      case .key(let level):
        if byte == UInt8(ascii: "}") {
          offset += 1
          state = after(level)
          continue
        }
        guard let isWanted = try key(window, level, isWhole: isWhole) else { return nil }
        state = isWanted ? .value(level + 1) : .passing(level)
      case .passing(let level):
        guard skip(window, isWhole: isWhole) != nil else { return nil }
        state = .afterMember(level)
      case .afterMember(let level):
        guard byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") else {
          throw DocumentFault("here a ',' or '}' should be", at: offset)
        }
        offset += 1
        state = byte == UInt8(ascii: ",") ? .key(level) : after(level)
      case .element(let level):
        if byte == UInt8(ascii: "]"), positions[level] < 0 {
          offset += 1
          state = after(level)
          continue
        }
        positions[level] += 1
        let wanted = wanted(at: level) ?? positions[level]
        state = wanted == positions[level] ? .value(level + 1) : .passingElement(level)
      case .passingElement(let level):
        guard skip(window, isWhole: isWhole) != nil else { return nil }
        state = .afterElement(level)
      case .afterElement(let level):
        guard byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") else {
          throw DocumentFault("here a ',' or ']' should be", at: offset)
        }
        offset += 1
        state = byte == UInt8(ascii: ",") ? .element(level) : after(level)
      case .end: throw DocumentFault("here the text should end", at: offset)
      }
    }
  }

  // MARK: Lines

  private mutating func nextLine(_ window: UnsafeBufferPointer<UInt8>, isWhole: Bool) -> Element? {
    while true {
      skipSpace(window)
      guard offset < window.count else { return nil }
      let start = offset
      var end = max(start, skipper.position)
      while end < window.count, window[end] != 0x0A { end += 1 }
      guard end < window.count || isWhole else {
        skipper.position = end
        return nil
      }
      skipper.position = 0
      offset = end
      var last = end
      while last > start, window[last - 1] == 0x0D || window[last - 1] == 0x20 || window[last - 1] == 0x09 { last -= 1 }
      return Element(range: start..<last, pointer: "")
    }
  }

  // MARK: Steps

  private mutating func findRoot(_ byte: UInt8) {
    isRootKnown = true
    if case .root = path, byte == UInt8(ascii: "[") {
      steps = [.elements]
      positions = [-1, -1]
    }
  }

  private func wanted(at level: Int) -> Int? {
    if case .element(let position) = steps[level] { position } else { nil }
  }

  private mutating func enter(_ level: Int, _ byte: UInt8) throws(DocumentFault) {
    switch steps[level] {
    case .name:
      guard byte == UInt8(ascii: "{") else { throw DocumentFault("here an object should be", at: offset) }
      state = .key(level)
    case .elements, .element:
      guard byte == UInt8(ascii: "[") else { throw DocumentFault("here a list should be", at: offset) }
      positions[level] = -1
      state = .element(level)
    case .entries, .matching, .enclosing, .key, .value:
      throw DocumentFault("the path to the elements has more than keys and lists", at: offset)
    }
    offset += 1
  }

  private func after(_ level: Int) -> State {
    guard level > 0 else { return .end }
    if case .name = steps[level - 1] { return .afterMember(level - 1) }
    return .afterElement(level - 1)
  }

  /// Reads a key and the colon after it.
  ///
  /// - Returns: whether the key leads on; nil if not all of it is in the window.
  private mutating func key(
    _ window: UnsafeBufferPointer<UInt8>, _ level: Int, isWhole: Bool
  ) throws(DocumentFault) -> Bool? {
    var scanner = JSONScanner(window, at: offset)
    do throws(DocumentFault) {
      let key = try scanner.key()
      // The colon is followed by something, so the key is whole.
      guard scanner.offset < window.count || isWhole else { return nil }
      offset = scanner.offset
      if case .name(let name) = steps[level] { return TextBytes.areEqual(key, name) }
      return false
    } catch {
      if isWhole || scanner.offset < window.count { throw error }
      return nil
    }
  }

  private mutating func skip(_ window: UnsafeBufferPointer<UInt8>, isWhole: Bool) -> Range<Int>? {
    let start = offset
    guard let end = skipper.end(of: window, from: start, isWhole: isWhole) else { return nil }
    skipper = ValueSkipper()
    offset = end
    return start..<end
  }

  private mutating func skipSpace(_ window: UnsafeBufferPointer<UInt8>) {
    while offset < window.count {
      let byte = window[offset]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      offset += 1
    }
  }

  private var pointer: String {
    steps.indices.reduce(into: "") { text, level in
      switch steps[level] {
      case .name(let name): text += "/" + PointerText.escaped(name)
      case .elements, .element: text += "/\(positions[level])"
      case .entries, .matching, .enclosing, .key, .value: break
      }
    }
  }
}

/// Finds the end of a value of which the bytes come in pieces.
private struct ValueSkipper {
  /// Where the search goes on; 0 before it has begun.
  var position = 0
  private var depth = 0
  private var isInText = false
  private var isEscaped = false

  mutating func drop(_ count: Int) { if position > 0 { position -= count } }

  /// - Returns: the offset after the value; nil if it is not in the window.
  mutating func end(of window: UnsafeBufferPointer<UInt8>, from start: Int, isWhole: Bool) -> Int? {
    // Local copies, because the loop is run for each byte of the input.
    var (place, level) = (max(position, start), depth)
    defer { (position, depth) = (place, level) }
    while place < window.count {
      if isInText {
        guard let end = endOfText(window, from: place) else {
          place = window.count
          return isWhole ? place : nil
        }
        place = end
        isInText = false
        if level == 0 { return place }
      }
      guard place < window.count else { break }
      switch window[place] {
      case UInt8(ascii: "\""):
        isInText = true
        place += 1
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        level += 1
        place += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if level == 0 { return place }
        level -= 1
        place += 1
        if level == 0 { return place }
      case UInt8(ascii: ","), 0x20, 0x0A, 0x0D, 0x09:
        if level == 0 { return place }
        place += 1
      default: place += 1
      }
    }
    return isWhole ? place : nil
  }

  /// The offset after the quote that ends a text; nil if it is not in the window.
  private mutating func endOfText(_ window: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    var place = start
    while place < window.count {
      if !isEscaped { place = JSONScanner.endOfPlainText(window, from: place) }
      guard place < window.count else { break }
      let byte = window[place]
      place += 1
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        return place
      }
    }
    return nil
  }
}
