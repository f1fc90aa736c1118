import TrellisModel

/// Random values from small pools, so that equal values, nils and near misses are frequent.
struct RandomValues {
  private static let texts = [
    "", "a", "A", "b", "é", "e\u{301}", "É", "커피", "아이스커피", "ß", "SS", "%", "_", "a'b", "☕️", "İ", "ı",
    "커피", "ﬀ", "a*b", "a?", "[aé]+", ".*", "\\\\*", "*s*", "?", "(", "ΑΣ", "ας",
    "커피 산책", "Coffee shop", "cof", "커피shop, 산책", "a b a",
  ]
  private static let lists = ["[]", "[\"a\"]", "[\"a\",\"b\"]", "[\"커피\"]"]
  private static let decimals = ["-10", "-2.5", "0", "0.1", "2", "2.5", "10", "12345678901234567890.5"]
  /// Some of these cancel each other in sums, and leave a rest that rounding in between would lose.
  private static let reals: [Double] = [
    -1.5, -0.0, 0, 0.1, 1, 2.5, .infinity, 1e16, -1e16, 1e-9, 3, 1e308, -1e308, .leastNonzeroMagnitude,
  ]

  /// Moments at which a period begins somewhere, and those around them.
  private static let moments: [Int64] = [
    1_325_152_800_000_000, 1_325_152_799_999_999, 1_541_300_400_000_000, 1_554_562_800_000_000, 951_782_400_000_000,
    -1_000_000_000_000_000, 1_764_547_200_000_000, 1_767_225_600_000_000, 1_767_225_599_999_999,
    -62_135_596_800_000_000,
  ]

  /// A calendar, or nil for the current one.
  static func calendar(_ random: inout RandomNumbers) -> QueryCalendar? {
    if random.isOne(in: 6) { return nil }
    let zone = random.pick(["UTC", "Asia/Seoul", "Pacific/Apia", "Australia/Lord_Howe", "America/Sao_Paulo"])
    let name = random.pick(["gregorian", "iso8601", "hebrew", "japanese", "persian"])
    if random.isOne(in: 2) { return QueryCalendar(named: name, timeZone: zone) }
    return QueryCalendar(
      named: name, timeZone: zone, firstWeekday: 1 + random.below(7), minimumDaysInFirstWeek: 1 + random.below(7))
  }

  static func value(_ attribute: Attribute, _ random: inout RandomNumbers) -> StoredValue {
    if attribute.isOptional && random.isOne(in: 4) { return .null }
    // A store may rely on values having their attribute's type, and store them in the best form for it.
    switch attribute.type {
    case .bool: return .integer(Int64(random.below(2)))
    case .uuid: return .blob([UInt8](repeating: UInt8(random.below(3)), count: 16))
    case .array: return .text(random.pick(lists))
    case .date: return .integer(random.isOne(in: 3) ? Int64(random.below(6)) - 1 : random.pick(moments))
    default: return value(attribute.valueKind, random: &random)
    }
  }

  static func value(_ kind: ValueKind, random: inout RandomNumbers) -> StoredValue {
    switch kind {
    case .integer: .integer(Int64(random.below(6)) - 1)
    case .real: .real(random.pick(reals))
    case .text: .text(random.pick(texts))
    case .decimal: .text(random.pick(decimals))
    case .blob: .blob((0..<random.below(3)).map { _ in UInt8(random.below(3)) })
    }
  }

  static func options(_ kind: ValueKind, _ random: inout RandomNumbers) -> TextOptions {
    kind == .text && random.isOne(in: 3) ? TextOptions(rawValue: UInt8(random.below(8))) : []
  }
}
