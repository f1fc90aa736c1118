/// The SHA-256 digest that identifies a sequence of bytes. No two different sequences with the same digest are known.
public struct ContentDigest: Hashable, Sendable {
  private let first: UInt64
  private let second: UInt64
  private let third: UInt64
  private let fourth: UInt64

  /// The digest of some bytes.
  ///
  /// - Complexity: linear in the number of bytes.
  public init(of bytes: UnsafeRawBufferPointer) {
    var hasher = ContentHasher(expecting: bytes.count)
    hasher.add(bytes)
    self = hasher.digest()
  }

  /// Computes the digest of bytes.
  ///
  /// - Complexity: linear in the number of bytes.
  public init(of bytes: [UInt8]) {
    self = bytes.withUnsafeBytes { ContentDigest(of: $0) }
  }

  init(_ words: SHA256.Words) {
    first = UInt64(words.0) << 32 | UInt64(words.1)
    second = UInt64(words.2) << 32 | UInt64(words.3)
    third = UInt64(words.4) << 32 | UInt64(words.5)
    fourth = UInt64(words.6) << 32 | UInt64(words.7)
  }

  /// - Parameter bytes: the 32 bytes of the digest.
  init(_ bytes: UnsafeRawBufferPointer) {
    func word(_ place: Int) -> UInt64 { UInt64(bigEndian: bytes.load(fromByteOffset: place, as: UInt64.self)) }
    (first, second, third, fourth) = (word(0), word(8), word(16), word(24))
  }

  /// The digest for a text of 64 lowercase hexadecimal digits; nil for any other text.
  public init?(_ text: some StringProtocol) {
    let digits = Array(text.utf8)
    guard digits.count == 64 else { return nil }
    var words: [UInt64] = []
    for start in stride(from: 0, to: 64, by: 16) {
      var word: UInt64 = 0
      for digit in digits[start..<start + 16] {
        guard let value = Self.value(of: digit) else { return nil }
        word = word << 4 | value
      }
      words.append(word)
    }
    (first, second, third, fourth) = (words[0], words[1], words[2], words[3])
  }

  /// The digest as 64 lowercase hexadecimal digits.
  public var text: String {
    var digits: [UInt8] = []
    digits.reserveCapacity(64)
    for word in [first, second, third, fourth] {
      for shift in stride(from: 60, through: 0, by: -4) { digits.append(Self.digit(UInt8(word >> UInt64(shift) & 15))) }
    }
    return String(decoding: digits, as: UTF8.self)
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }

  private static func value(of digit: UInt8) -> UInt64? {
    switch digit {
    case 48...57: UInt64(digit - 48)
    case 97...102: UInt64(digit - 87)
    default: nil
    }
  }
}
