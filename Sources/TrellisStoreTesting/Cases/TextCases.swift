import TrellisModel
import TrellisStorage

enum TextCases {
  static let all = [
    ConformanceCase("contains, prefix and suffix go by bytes and take every character literally") { bench in
      let tags = try bench.inserted(
        "Tag", ["아이스커피", "커피", "100%", "a_b", "a*b", "[x]", "it's", "é", "back\\slash"].map { ["name": .text($0)] })
      let found: [(ComparisonOperator, String, [Int])] = [
        (.contains, "커피", [0, 1]), (.hasSuffix, "커피", [0, 1]), (.hasPrefix, "커피", [1]), (.contains, "%", [2]),
        (.contains, "_", [3]), (.contains, "*", [4]), (.contains, "[x", [5]), (.contains, "'", [6]),
        (.contains, "e", []),
        (.contains, "\\", [8]), (.hasPrefix, "", Array(0..<9)), (.contains, "", Array(0..<9)),
        (.hasSuffix, "아이스커피!", []),
      ]
      for (relation, part, expected) in found {
        try bench.expect(
          "Tag", bench.compare("Tag", "name", relation, .text(part), .text), matches: expected.map { tags[$0] })
      }
    },
    ConformanceCase("text options fold both sides, as in memory") { bench in
      let texts = [
        "Café", "CAFE", "cafe\u{301}", "straße", "STRASSE", "ı", "I", "i", "İ", "ΟΔΟΣ", "οδος", "커피",
        "\u{110F}\u{1165}\u{1111}\u{1175}", "☕️", "",
      ]
      let tags = try bench.inserted("Tag", texts.map { ["name": .text($0)] })
      let options: [TextOptions] = [
        [], .normalized, .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
      ]
      for options in options {
        for relation: ComparisonOperator in [
          .equal, .notEqual, .less, .greaterOrEqual, .contains, .hasPrefix, .hasSuffix,
        ] {
          for text in texts {
            let predicate = try bench.compare("Tag", "name", relation, .text(text), .text, options)
            try bench.expect("Tag", predicate, matches: try tags.filter { try RecordMatch.holds(predicate, $0) })
          }
        }
      }
    },
    ConformanceCase("a text with a zero character is compared to its end") { bench in
      let tags = try bench.insertedIfStorable("Tag", "name", ["a\u{0}b", "a\u{0}c", "a"].map { .text($0) })
      for (relation, text, match) in [
        (ComparisonOperator.equal, "a\u{0}c", 1), (.hasSuffix, "\u{0}b", 0), (.contains, "b", 0), (.equal, "a", 2),
      ] {
        let predicate = try bench.compare("Tag", "name", relation, .text(text), .text)
        try bench.expect("Tag", predicate, matches: [tags[match]].compactMap { $0 })
      }
    },
  ]
}

/// Evaluates a predicate over a record's own attributes.
enum RecordMatch {
  private struct Row: QueryObject {
    let record: Record

    var queryKey: Int64 { record.storedKey }
    var queryEntityName: String { record.entity.name }
    func queryValue(_ property: Int) -> StoredValue {
      record.entity.properties[property].column.map { record.values[$0] } ?? .null
    }
    func queryPartner(_ property: Int) -> Row? { nil }
    func queryMembers(_ property: Int) -> [Row] { [] }
  }

  static func holds(_ predicate: QueryPredicate, _ record: Record) throws -> Bool {
    try PredicateEvaluator(predicate).matches(Row(record: record))
  }
}
