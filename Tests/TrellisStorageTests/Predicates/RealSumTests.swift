import Testing
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@Suite("Sums of reals") struct RealSumTests {
  private let seed = TestSettings.seed()

  private func sum(_ numbers: [Double]) -> Double {
    var sum = RealSum()
    for number in numbers { sum.add(number) }
    return sum.value
  }

  @Test("a sum is the real that is nearest to what exact arithmetic gives, in any order")
  func exact() {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      // Multiples of 2⁻³⁰ below 2⁸³, so that 128 bits hold the sum.
      var units: [Int128] = (0..<(1 + random.below(60))).map { _ in
        let number = Int128(Int.random(in: -(1 << 53)...(1 << 53), using: &random))
        return number << Int128(random.below(60))
      }
      if random.below(2) == 0 { units += units.map { -$0 } + [1, Int128(random.below(1000))] }
      let numbers = units.map { Double($0) * 0x1p-30 }.shuffled(using: &random)
      let expected = Double(units.reduce(0, +)) * 0x1p-30
      #expect(sum(numbers) == expected && sum(numbers.reversed()) == expected, "seed \(seed)")
    }
  }

  @Test("what cancels leaves no trace, from the least real to the largest")
  func cancelling() {
    let large = Double.greatestFiniteMagnitude
    let least = Double.leastNonzeroMagnitude
    #expect(sum([1e16, 3.0, 1e-9, -1e16, 1.0]) == 4.000000001)
    #expect(sum([large, large, 1, -large, least, -large, -1]) == least)
    #expect(sum([large, large, -large]) == large && sum([-large, large * 0.5, -large, large]) == -large * 0.5)
    #expect(sum([least, least, -1, 1]) == least * 2 && sum([]) == 0 && sum([-0.0]) == 0)
    // Halfway between two reals; one bit far below decides.
    #expect(sum([1, 0x1p-53]) == 1 && sum([1, 0x1p-53, least]) == 1 + 0x1p-52)
    #expect(sum([1, 0x1p-53, -least]) == 1 && sum([0x1p1000, 1, 0x1p-500, -0x1p1000]) == 1)
  }

  @Test("SQLite can keep a sum in the memory of a group, which is aligned to 8 bytes")
  func alignment() { #expect(MemoryLayout<NumberSum>.alignment <= 8) }

  @Test("a sum beyond all reals is infinite, an infinity stays, and two opposite ones have no sum")
  func infinite() {
    let large = Double.greatestFiniteMagnitude
    #expect(sum([large, large]) == .infinity && sum([-large, -large]) == -.infinity)
    #expect(sum([.infinity, -large]) == .infinity && sum([.infinity, -.infinity]).isNaN)
    let values: [StoredValue] = [.real(large), .real(large), .real(-large)]
    #expect(ValueArithmetic.aggregate(.sum, values, kind: .real) == .real(large))
    #expect(ValueArithmetic.aggregate(.sum, [.real(large), .real(large)], kind: .real) == .null)
  }
}
