import TrellisModel
import TrellisStorage

enum ValueCases {
  static let all = [
    ConformanceCase("values of every kind come back bit by bit, to the edges of their types") { bench in
      var records: [Record] = []
      for (name, values) in try storableEdges(bench) {
        for value in values { records.append(try bench.new("Sample", [name: value])) }
      }
      try bench.save(insert: records)
      try bench.expectRows("Sample", records)
    },
    ConformanceCase("values are updated to every kind of value, and to null") { bench in
      let record = try bench.inserted("Sample", [[:]])[0]
      for (name, values) in try storableEdges(bench) {
        for value in values + [.null] {
          record[name] = value
          try bench.save(update: [(record, [name])])
          bench.expect(try bench.row(record), is: RowImage(record))
        }
      }
    },
    ConformanceCase("a real that is not a number is refused") { bench in
      let record = try bench.new("Sample", ["the_double": .real(.nan)])
      bench.expectError(.unstorableValue) { try bench.save(insert: [record]) }
      try bench.expectRows("Sample", [])
    },
    ConformanceCase("null is refused where it is not optional") { bench in
      let record = try bench.new("Sample")
      record["required"] = .null
      bench.expectError(nil) { try bench.save(insert: [record]) }
      try bench.expectRows("Sample", [])
    },
    ConformanceCase("a text is found by the bytes it was saved with, and not by an equal one of other bytes") { bench in
      let texts = ["\u{CEE4}", "\u{110F}\u{1165}", "é", "e\u{301}"]
      let records = try bench.inserted("Sample", texts.map { ["the_string": .text($0)] })
      for (record, text) in zip(records, texts) {
        try bench.expect("Sample", bench.compare("Sample", "the_string", .equal, .text(text), .text), matches: [record])
      }
    },
  ]

  private static func storableEdges(_ bench: Bench) throws -> [(String, [StoredValue])] {
    try edges.map { name, values in (name, try values.filter { try bench.canStore($0, "Sample", name) }) }
  }

  static let longText = String(repeating: "커피☕️", count: 20_000)

  static let edges: [(String, [StoredValue])] = [
    (
      "the_string",
      ["", "a", "\u{0}", "a\u{0}b", "'\"%_\\", "\u{10FFFF}", "e\u{301}", "é", longText].map(StoredValue.text)
    ),
    ("the_bool", [.integer(0), .integer(1)]),
    ("the_int16", [.integer(-32768), .integer(32767)]),
    ("the_int32", [.integer(Int64(Int32.min)), .integer(Int64(Int32.max))]),
    ("the_int64", [.integer(.min), .integer(-1), .integer(0), .integer(.max)]),
    ("the_float", [.real(0.1), .real(Double(Float.greatestFiniteMagnitude))]),
    (
      "the_double",
      [
        0, 0.1, 1, -1e300, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity,
        9_007_199_254_740_992,
      ].map(StoredValue.real)
    ),
    ("the_decimal", ["0", "-0.1", "99999999999999999999999999999999999999", "1.5"].map(StoredValue.text)),
    (
      "the_date",
      [
        -DateText.mostMicroseconds, 0, 1_700_000_000_123_456, DateText.mostMicroseconds,
      ].map(StoredValue.integer)
    ),
    ("the_data", [.blob([]), .blob([0]), .blob([UInt8](0...255)), .blob([UInt8](repeating: 7, count: 200_000))]),
    ("the_uuid", [.blob([UInt8](repeating: 0, count: 16)), .blob([UInt8](240...255))]),
    ("the_url", [.text("https://example.org/커피?a=b#c")]),
    ("the_list", [.text("[]"), .text("[\"a\",\"b\"]")]),
  ]
}
