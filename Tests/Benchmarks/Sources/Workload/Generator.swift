public import Foundation

/// Numbers by chance, the same ones for every participant (splitmix64).
public struct Generator {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  public mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

  public mutating func uuid() -> UUID {
    let pair = (next(), next())
    return withUnsafeBytes(of: pair) { UUID(uuid: $0.load(as: uuid_t.self)) }
  }

  /// Every number below a limit once.
  public mutating func shuffled(below limit: Int) -> [Int] {
    var numbers = Array(0..<limit)
    for last in numbers.indices.reversed().dropLast() { numbers.swapAt(last, below(last + 1)) }
    return numbers
  }
}
