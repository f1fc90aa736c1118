import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Values at the edges") struct ValueTests {
  /// Saves a sample for each value, and gives what a fresh context reads, in order.
  private func roundTrip<Value>(
    _ kind: StoreKind, _ property: ReferenceWritableKeyPath<Sample, Value>, _ values: [Value]
  ) throws -> [Value] {
    let place = try Place(kind)
    let context = place.container.newContext()
    for value in values { Sample(in: context)[keyPath: property] = value }
    try context.save()
    let fresh = place.container.newContext()
    return try fresh.fetch(Sample.all).map { $0[keyPath: property] }
  }

  @Test("integers come back to their limits, and are compared as numbers", arguments: StoreKind.inPlace)
  func integers(kind: StoreKind) throws {
    let numbers: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
    #expect(try roundTrip(kind, \.large, numbers.reversed()) == numbers.reversed())
    #expect(try roundTrip(kind, \.medium, [.min, 0, .max]) == [.min, 0, .max])
    #expect(try roundTrip(kind, \.small, [.min, 0, .max]) == [.min, 0, .max])
    let place = try Place(kind)
    let context = place.container.newContext()
    for number in numbers.shuffled() { Sample(in: context).large = number }
    try context.save()
    let fresh = place.container.newContext()
    #expect(try fresh.fetch(Sample.all.sorted { $0.large }).map(\.large) == numbers)
    #expect(try fresh.count(Sample.where { $0.large > .max - 1 }) == 1)
    #expect(try fresh.count(Sample.where { $0.large <= .min }) == 1)
  }

  @Test("real numbers come back to their limits, infinite ones too", arguments: StoreKind.inPlace)
  func reals(kind: StoreKind) throws {
    let numbers: [Double] = [
      -.infinity, -.greatestFiniteMagnitude, -.leastNonzeroMagnitude, 0, .leastNonzeroMagnitude, 0.1, .pi,
      .greatestFiniteMagnitude, .infinity,
    ]
    #expect(try roundTrip(kind, \.precise, numbers) == numbers)
    #expect(try roundTrip(kind, \.single, numbers.map { Float($0) }) == numbers.map { Float($0) })
    #expect(try roundTrip(kind, \.precise, [-0.0]) == [0])
  }

  private static let decimals = [
    "-99999999999999999999999999999999999999", "-12345678901234567890.123456789012345678", "-0.1", "0",
    "0.00000000000000000000000000000000000001", "0.1", "0.10000000000000000000000000000000000001", "1", "9", "10",
    "10.5", "12345678901234567890123456789012345678", "99999999999999999999999999999999999999",
  ]

  @Test("decimals are exact to 38 digits, and compared as numbers", arguments: StoreKind.inPlace)
  func decimals(kind: StoreKind) throws {
    let exact = try Self.decimals.map { try #require(Decimal(string: $0)) }
    // `Decimal.greatestFiniteMagnitude` has 39 digits.
    let greatest = Decimal(sign: .plus, exponent: 127, significand: try #require(exact.last))
    let wide = [
      -greatest, Decimal(sign: .plus, exponent: -127, significand: 1),
      Decimal(sign: .plus, exponent: 127, significand: 1), greatest,
    ]
    let back = try roundTrip(kind, \.amount, exact + wide)
    #expect(back == exact + wide)
    #expect(back.prefix(exact.count).map { "\($0)" } == Self.decimals)
    let place = try Place(kind)
    let context = place.container.newContext()
    let sorted = (exact + wide).sorted()
    for number in sorted.shuffled() { Sample(in: context).amount = number }
    try context.save()
    let fresh = place.container.newContext()
    #expect(try fresh.fetch(Sample.all.sorted { $0.amount }).map(\.amount) == sorted)
    for (index, number) in sorted.enumerated() {
      #expect(try fresh.count(Sample.where { $0.amount < number }) == index)
      #expect(try fresh.count(Sample.where { $0.amount == number }) == 1)
    }
  }

  @Test("equal decimals are one value, however they were written", arguments: StoreKind.inPlace)
  func equalDecimals(kind: StoreKind) throws {
    let place = try Place(kind)
    let context = place.container.newContext()
    let forms = [
      Decimal(sign: .plus, exponent: -2, significand: 150), Decimal(sign: .plus, exponent: -1, significand: 15),
      Decimal(sign: .plus, exponent: -3, significand: 1500),
    ]
    for form in forms { Sample(in: context).amount = form }
    let sample = Sample(in: context)
    sample.amount = Decimal(sign: .minus, exponent: 0, significand: 0)
    try context.save()
    #expect(try context.count(Sample.where { $0.amount == forms[1] }) == 3)
    #expect(try place.container.newContext().count(Sample.where { $0.amount == forms[1] }) == 3)
    #expect(try place.container.newContext().count(Sample.where { $0.amount == 0 }) == 1)
    sample.amount = 0
    #expect(!sample.hasChanges)
  }

  @Test("dates come back to the microsecond, far ones as near as Foundation keeps them", arguments: StoreKind.inPlace)
  func dates(kind: StoreKind) throws {
    let seconds = [0, 0.000_001, -0.000_001, 1.234_567, 1_767_225_599.999_999, -2_208_988_800.000_001]
    let dates = seconds.map { Date(timeIntervalSince1970: $0) }
    for (date, back) in zip(dates, try roundTrip(kind, \.moment, dates)) {
      #expect(abs(back.timeIntervalSince(date)) < 0.000_000_5)
    }
    let latest = [Date.distantPast, .distantFuture, Date(timeIntervalSince1970: 9e12)]
    let far = kind.keepsAllDates ? latest + [Date(timeIntervalSince1970: -9e12)] : latest
    for (date, back) in zip(far, try roundTrip(kind, \.moment, far)) {
      #expect(abs(back.timeIntervalSince(date)) <= date.timeIntervalSinceReferenceDate.ulp)
    }
    #expect(try roundTrip(kind, \.moments, [dates, []]).map { $0?.count } == [dates.count, 0])
  }

  @Test("what is set is what is read before a save and after it", arguments: StoreKind.inPlace)
  func roundedWhenSet(kind: StoreKind) throws {
    let place = try Place(kind)
    let context = place.container.newContext()
    let sample = Sample(in: context)
    sample.moment = Date(timeIntervalSince1970: 1.000_000_4)
    let set = sample.moment
    try context.save()
    let fresh = place.container.newContext()
    #expect(try fresh.first(Sample.all)?.moment == set && set == Date(timeIntervalSince1970: 1))
    sample.moment = set
    #expect(!sample.hasChanges)
  }

  private static let texts = [
    "", "\0", "a\0b", "a", "a\0", "e\u{301}", "é", "한글", "\u{1112}\u{1161}\u{11AB}글", "👩‍👩‍👧", "\u{10FFFF}", "\u{FEFF}x",
    "\r\n",
    "'\"\\%_*", "\u{FFFD}", "\u{7F}",
  ]

  @Test("texts come back byte for byte, and differ where their bytes do", arguments: StoreKind.inPlace)
  func texts(kind: StoreKind) throws {
    let all = Self.texts + [String(repeating: "가", count: 400_000)]
    let texts = kind.keepsZeroCharacters ? all : all.filter { !$0.unicodeScalars.contains("\0") }
    let back = try roundTrip(kind, \.text, texts)
    #expect(zip(texts, back).allSatisfy { $0.utf8.elementsEqual($1.utf8) })
    #expect(try roundTrip(kind, \.words, [texts, []]) == [texts, []])
    let place = try Place(kind)
    let context = place.container.newContext()
    for text in texts { Sample(in: context).text = text }
    try context.save()
    let fresh = place.container.newContext()
    for text in texts { #expect(try fresh.count(Sample.where { $0.text == text }) == 1, "\(text.debugDescription)") }
    #expect(try fresh.count(Sample.where { $0.text.contains("\0") }) == (kind.keepsZeroCharacters ? 3 : 0))
    #expect(try fresh.count(Sample.where { $0.text.hasPrefix("a\0") }) == (kind.keepsZeroCharacters ? 2 : 0))
    #expect(try fresh.count(Sample.where { $0.text.hasSuffix("\0") }) == (kind.keepsZeroCharacters ? 2 : 0))
    let sorted = try fresh.fetch(Sample.all.sorted { $0.text }).map { Array($0.text.utf8) }
    #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
  }

  @Test("replacing a text by another spelling of it is a change", arguments: StoreKind.inPlace)
  func spelling(kind: StoreKind) throws {
    let place = try Place(kind)
    let context = place.container.newContext()
    let sample = Sample(in: context)
    (sample.text, sample.words) = ("é", ["é"])
    try context.save()
    (sample.text, sample.words) = ("e\u{301}", ["e\u{301}"])
    #expect(sample.changedProperties == ["text", "words"])
    try context.save()
    let fresh = place.container.newContext()
    let back = try #require(try fresh.first(Sample.all))
    #expect(back.text.unicodeScalars.count == 2 && back.words[0].unicodeScalars.count == 2)
  }

  @Test("no data, empty data and 100 MB of it are three things", .timeLimit(.minutes(60)), arguments: StoreKind.inPlace)
  func data(kind: StoreKind) throws {
    var large = Data(count: 100_000_000)
    for index in stride(from: 0, to: large.count, by: 4093) { large[index] = UInt8(truncatingIfNeeded: index) }
    let back = try roundTrip(kind, \.bytes, [nil, Data(), large])
    #expect(back[0] == nil && back[1] == Data())
    let isSame = back[2] == large
    #expect(isSame)
  }

  @Test("identities and addresses come back as they were", arguments: StoreKind.inPlace)
  func others(kind: StoreKind) throws {
    let tokens = [UUID(), UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))]
    #expect(try roundTrip(kind, \.token, tokens) == tokens)
    let links = [
      URL(string: "https://example.com/산책?a=b#c"), URL(string: "mailto:a@b.c"), URL(fileURLWithPath: "/tmp/a b"),
      URL(string: "relative/path"), nil,
    ]
    #expect(try roundTrip(kind, \.link, links).map { $0?.absoluteString } == links.map { $0?.absoluteString })
  }

  @Test("lists of numbers, dates and decimals are exact", arguments: StoreKind.inPlace)
  func lists(kind: StoreKind) throws {
    let numbers = [0.1, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, 1e300]
    #expect(try roundTrip(kind, \.numbers, [numbers, [], nil]) == [numbers, [], nil])
    let amounts = try Self.decimals.map { try #require(Decimal(string: $0)) }
    #expect(try roundTrip(kind, \.amounts, [amounts, nil]) == [amounts, nil])
    let points = [Point(x: 0.1, y: -0.0), Point(x: 1e300, y: .leastNonzeroMagnitude), nil]
    #expect(try roundTrip(kind, \.point, points) == points)
  }
}
