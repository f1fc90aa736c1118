import Testing
import TrellisModel
import TrellisTestSupport

@Suite("Finding bytes") struct ByteSearchTests {
  private let seed = TestSettings.seed()

  private func find(_ part: [UInt8], in text: [UInt8], from start: Int = 0) -> (place: Int?, steps: Int) {
    part.withUnsafeBytes { part in
      text.withUnsafeBytes { text in
        var search = ByteSearch(part, in: text)
        return (search.firstOffset(from: start), search.steps)
      }
    }
  }

  @Test("a part is found where a comparison at each place finds it, long and periodic ones included")
  func naive() {
    var random = SeededGenerator(seed: seed)
    for round in 0..<4_000 {
      let letters = 1 + random.below(3)
      func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(random.below(letters)) } }
      let period = bytes(1 + random.below(9))
      var part = round % 2 == 0 ? bytes(random.below(60)) : (0..<random.below(120)).map { period[$0 % period.count] }
      var text = (0..<random.below(600)).map { period[$0 % period.count] }
      for _ in 0..<random.below(4) where !text.isEmpty { text[random.below(text.count)] = UInt8(random.below(letters)) }
      if random.below(2) == 0 { text.insert(contentsOf: part, at: random.below(text.count + 1)) }
      if random.below(4) == 0, !part.isEmpty { part[random.below(part.count)] ^= 1 }
      let start = random.below(4) == 0 ? random.below(text.count + 1) : 0
      let expected = (start...max(start, text.count)).first { place in
        place + part.count <= text.count && text[place..<(place + part.count)].elementsEqual(part)
      }
      #expect(find(part, in: text, from: start).place == expected, "seed \(seed), round \(round)")
    }
  }

  @Test(
    "no text and no part makes a search take more steps than a few for each byte",
    arguments: [
      "aaaa", "abab", "aab", "abaab", "aabaabaaab",
    ])
  func hostile(_ period: String) {
    let unit = Array(period.utf8)
    let text = (0..<130_000).map { unit[$0 % unit.count] }
    let half = (0..<32_500).map { unit[$0 % unit.count] }
    // What differs lies at the end, in the middle, at the start, nowhere, and where the period breaks.
    let middle = half + [UInt8(ascii: "b"), UInt8(ascii: "a")] + half
    for part in [half + half + [0], middle, [0] + half + half, half + half, half.dropLast() + half] {
      let found = find(Array(part), in: text)
      #expect(found.steps <= 6 * (text.count + part.count), "\(found.steps) steps")
    }
    // One that breaks again and again.
    var broken = text
    for place in stride(from: 900, to: broken.count, by: 1_000) { broken[place] = UInt8(ascii: "c") }
    let long = Array(text[..<1_200])
    #expect(find(long, in: broken).steps <= 6 * (broken.count + long.count))
  }
}
