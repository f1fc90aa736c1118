/// Decompresses a raw deflate stream (RFC 1951), as in the model cache of a store.
///
/// No stream can cause a trap, a hang or unlimited memory: the output has a limit.
enum Inflate {
  /// The largest output. The model caches of real stores have below one megabyte.
  static let limit = 256 * 1024 * 1024

  /// The decompressed bytes. A zlib header, which some writers add, is skipped.
  ///
  /// - Throws: ``ArchiveFault``.
  /// - Complexity: linear in the lengths of input and output.
  static func bytes(of stream: [UInt8], limit: Int = limit) throws(ArchiveFault) -> [UInt8] {
    var inflater = Inflater(stream[...], limit: limit)
    do throws(ArchiveFault) {
      return try inflater.run()
    } catch {
      guard hasHeader(stream) else { throw error }
      var second = Inflater(stream[2...], limit: limit)
      return try second.run()
    }
  }

  private static func hasHeader(_ stream: [UInt8]) -> Bool {
    stream.count > 2 && stream[0] & 0x0F == 8 && (Int(stream[0]) << 8 | Int(stream[1])).isMultiple(of: 31)
  }
}

/// The state of one decompression.
private struct Inflater {
  private let input: ArraySlice<UInt8>
  private let limit: Int
  private var place: Int
  private var bits: UInt64 = 0
  private var bitCount = 0
  private var output: [UInt8] = []

  init(_ input: ArraySlice<UInt8>, limit: Int) {
    self.input = input
    self.limit = limit
    place = input.startIndex
  }

  mutating func run() throws(ArchiveFault) -> [UInt8] {
    var isLast = false
    while !isLast {
      isLast = try take(1) == 1
      switch try take(2) {
      case 0: try readStored()
      case 1: try readCompressed(.fixedLiterals, .fixedDistances)
      case 2: try readDynamic()
      default: throw ArchiveFault("a block of the stream has an unknown kind")
      }
    }
    return output
  }

  // MARK: Bits

  private static let tooShort = ArchiveFault("the stream ends in the middle")
  private static let tooLong = ArchiveFault("it is larger than can be read")

  private mutating func fill(_ count: Int) throws(ArchiveFault) {
    while bitCount < count {
      guard place < input.endIndex else { throw Self.tooShort }
      bits |= UInt64(input[place]) << UInt64(bitCount)
      place += 1
      bitCount += 8
    }
  }

  /// The next bits, at most 16.
  private mutating func take(_ count: Int) throws(ArchiveFault) -> Int {
    try fill(count)
    let value = Int(bits & (1 << UInt64(count) - 1))
    bits >>= UInt64(count)
    bitCount -= count
    return value
  }

  private mutating func symbol(_ code: HuffmanCode) throws(ArchiveFault) -> Int {
    var length = 0
    var value = 0
    while length < HuffmanCode.longest {
      value = value << 1 | (try take(1))
      length += 1
      if let symbol = code.symbol(value, length) { return symbol }
    }
    throw ArchiveFault("the stream has a code that stands for nothing")
  }

  // MARK: Blocks

  private mutating func readStored() throws(ArchiveFault) {
    // The rest of the byte is unused; whole bytes that were read ahead are part of the block.
    let partial = bitCount % 8
    bits >>= UInt64(partial)
    bitCount -= partial
    let length = try take(16)
    guard try take(16) == length ^ 0xFFFF else { throw ArchiveFault("a block of the stream has a damaged length") }
    guard output.count + length <= limit else { throw Self.tooLong }
    place -= bitCount / 8
    (bits, bitCount) = (0, 0)
    guard length <= input.endIndex - place else { throw Self.tooShort }
    output += input[place..<(place + length)]
    place += length
  }

  private mutating func readDynamic() throws(ArchiveFault) {
    let literalCount = try take(5) + 257
    let distanceCount = try take(5) + 1
    let lengthCount = try take(4) + 4
    guard literalCount <= 286, distanceCount <= 30 else { throw ArchiveFault("a block has too many codes") }
    var lengths = [Int](repeating: 0, count: 19)
    for place in 0..<lengthCount { lengths[Self.lengthOrder[place]] = try take(3) }
    let code = try HuffmanCode(lengths)
    var all: [Int] = []
    let count = literalCount + distanceCount
    while all.count < count {
      let symbol = try symbol(code)
      switch symbol {
      case 16:
        guard let last = all.last else { throw ArchiveFault("a block repeats a length before the first") }
        try repeatLength(last, 3 + (try take(2)), &all, count)
      case 17: try repeatLength(0, 3 + (try take(3)), &all, count)
      case 18: try repeatLength(0, 11 + (try take(7)), &all, count)
      default: all.append(symbol)
      }
    }
    try readCompressed(HuffmanCode(Array(all[..<literalCount])), HuffmanCode(Array(all[literalCount...])))
  }

  private func repeatLength(_ length: Int, _ times: Int, _ all: inout [Int], _ count: Int) throws(ArchiveFault) {
    guard all.count + times <= count else { throw ArchiveFault("a block has too many codes") }
    all += repeatElement(length, count: times)
  }

  private mutating func readCompressed(
    _ literals: HuffmanCode, _ distances: HuffmanCode
  ) throws(ArchiveFault) {
    while true {
      let symbol = try symbol(literals)
      if symbol == 256 { return }
      if symbol < 256 {
        guard output.count < limit else { throw Self.tooLong }
        output.append(UInt8(truncatingIfNeeded: symbol))
        continue
      }
      guard symbol - 257 < Self.lengths.count else { throw ArchiveFault("the stream has an unknown length") }
      let (base, extra) = Self.lengths[symbol - 257]
      let length = base + (try take(extra))
      let number = try self.symbol(distances)
      guard number < Self.distances.count else { throw ArchiveFault("the stream has an unknown distance") }
      let (distanceBase, distanceExtra) = Self.distances[number]
      let distance = distanceBase + (try take(distanceExtra))
      guard distance <= output.count else { throw ArchiveFault("the stream refers to what comes before its start") }
      guard output.count + length <= limit else { throw Self.tooLong }
      // The copied part may overlap what it is copied to.
      var source = output.count - distance
      for _ in 0..<length {
        output.append(output[source])
        source += 1
      }
    }
  }

  // MARK: Tables

  private static let lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

  /// The least length of each symbol from 257 on, and the number of further bits.
  private static let lengths: [(Int, Int)] = {
    var table: [(Int, Int)] = []
    var base = 3
    for extra in [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5] {
      table.append((base, extra))
      base += 1 << extra
    }
    table[27] = (227, 5)
    return table + [(258, 0)]
  }()

  /// The least distance of each symbol, and the number of further bits.
  private static let distances: [(Int, Int)] = {
    var table: [(Int, Int)] = []
    var base = 1
    for number in 0..<30 {
      let extra = number < 4 ? 0 : number / 2 - 1
      table.append((base, extra))
      base += 1 << extra
    }
    return table
  }()
}

// MARK: - Huffman code

/// A canonical Huffman code, by the lengths of its codes.
private struct HuffmanCode {
  static let longest = 15

  /// The first code of each length, and the place of its symbol.
  private var first = [Int](repeating: 0, count: longest + 1)
  private var start = [Int](repeating: 0, count: longest + 1)
  private var counts = [Int](repeating: 0, count: longest + 1)
  private var symbols: [Int] = []

  /// - Parameter lengths: The length of each symbol's code; 0 for a symbol without a code.
  init(_ lengths: [Int]) throws(ArchiveFault) {
    for length in lengths { counts[length] += 1 }
    counts[0] = 0
    var code = 0
    var place = 0
    for length in 1...Self.longest {
      code = code << 1
      first[length] = code
      start[length] = place
      code += counts[length]
      place += counts[length]
      guard code <= 1 << length else { throw ArchiveFault("a block has more codes than fit their lengths") }
    }
    symbols = lengths.indices.filter { lengths[$0] > 0 }.sorted { (lengths[$0], $0) < (lengths[$1], $1) }
  }

  /// The symbol of a code with this length; nil if there is none.
  func symbol(_ code: Int, _ length: Int) -> Int? {
    let offset = code - first[length]
    return offset >= 0 && offset < counts[length] ? symbols[start[length] + offset] : nil
  }

  // The lengths are constants and fit, so that these never are empty.
  static let fixedLiterals = fixed(
    [Int](repeating: 8, count: 144) + [Int](repeating: 9, count: 112) + [Int](repeating: 7, count: 24)
      + [Int](repeating: 8, count: 8))
  static let fixedDistances = fixed([Int](repeating: 5, count: 30))

  private static func fixed(_ lengths: [Int]) -> HuffmanCode { (try? HuffmanCode(lengths)) ?? HuffmanCode() }

  private init() {}
}
