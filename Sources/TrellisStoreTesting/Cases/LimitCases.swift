import TrellisModel
import TrellisStorage

/// What a store does with values that it cannot keep.
enum LimitCases {
  static func all(of limits: Set<StoreLimit>) -> [ConformanceCase] {
    let firstDates = limits.compactMap { if case .datesBefore(let date) = $0 { date } else { nil } }
    return (limits.contains(.zeroCharacter) ? zeroCharacter : []) + (firstDates.max().map(dates) ?? [])
  }

  // MARK: U+0000

  private static let zeroCharacter =
    refusals(
      of: StoreLimit.zeroCharacter,
      values: ["\u{0}", "\u{0}a", "a\u{0}b", "a\u{0}"].map { .text($0) },
      in: [
        Place("Author", "name", .text("kept")), Place("Author", "email", .text("kept"), isUnique: true),
        Place("Tag", "name", .text("kept"), isUnique: true), Place("Book", "title", .text("kept"), isUnique: true),
        Place("Sample", "the_string", .null), Place("Sample", "the_url", .text("https://example.org")),
        Place("Sample", "the_list", .text("[]")),
      ]) + [
      ConformanceCase("a list has a text with U+0000, which its JSON spells otherwise") { bench in
        let samples = try bench.inserted("Sample", ["[\"a\\u0000b\"]", "[]"].map { ["the_list": .text($0)] })
        samples[1]["the_list"] = .text("[\"\\u0000\"]")
        try bench.save(update: [(samples[1], ["the_list"])])
        try bench.expectRows("Sample", samples)
      },
      ConformanceCase("a text with U+0000 is compared with others, by every operator") { bench in
        let texts = ["", "a", "A", "b", "aa", "a\u{1}", "ab", "é", "*", "."]
        let tags = try bench.inserted("Tag", texts.map { ["name": .text($0)] })
        let options: [TextOptions] = [
          [], .normalized, .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
        ]
        for relation in ComparisonOperator.allCases {
          for text in ["\u{0}", "a\u{0}", "A\u{0}b", "*\u{0}", ".\u{0}?"] {
            // A search has no options.
            for options in relation == .matching ? [[]] : options {
              let predicate = try bench.compare("Tag", "name", relation, .text(text), .text, options)
              try expectAsInMemory(bench, predicate, tags)
            }
          }
        }
      },
      ConformanceCase("a text with U+0000 is found nowhere, in lists, by unique keys, and among members") { bench in
        let author = try bench.inserted("Author", [["name": .text("a")]])[0]
        let tags = try bench.inserted("Tag", ["a", "b"].map { ["name": .text($0)] })
        let books = try bench.inserted(
          "Book", [["title": .text("a"), "author": .integer(author.storedKey)], ["title": .text("b")]])
        let zero = StoredValue.text("b\u{0}")
        try expectAsInMemory(bench, .isIn(.path(bench.path("Tag", "name")), [zero, .text("b"), .null], .text), tags)
        try expectAsInMemory(bench, .isIn(.path(bench.path("Tag", "name")), [zero], .text), tags)
        bench.expect(try bench.holders("Tag", ["name"], [[zero, .text("b")]]), is: [1: tags[1].storedKey])
        for (relation, matches) in [(ComparisonOperator.equal, []), (.notEqual, [author]), (.less, [author])] {
          let title = try bench.compare("Book", "title", relation, zero, .text, variable: 1)
          let books = try bench.path("Author", "books")
          try bench.expect("Author", .quantified(.any, books, variable: 1, title), matches: matches)
        }
        let paths = try [bench.projected("Book", "title", .text)]
        let isLess = Comparison(
          .path(GroupRequest.path(toColumn: 0)), .less, .value(.text("a\u{0}")), kind: .text)
        bench.expect(
          try bench.groups("Book", by: paths, [.init(.rows, paths[0])], having: .comparison(isLess)),
          is: [[.text("a"), .integer(1)]])
        let rank = SortKey(try bench.path("Book", "title"), rankFor: "b\u{0}")
        bench.expect(try bench.keys(bench.request("Book", sort: [rank])), is: [books[1], books[0]].map(\.storedKey))
      },
      ConformanceCase("a text with U+0000 is part of a computed value") { bench in
        let tags = try bench.inserted("Tag", ["a", "b", "c"].map { ["name": .text($0)] })
        try expectAsInMemory(bench, computed(bench, "Tag", "name", .text("b"), .text("b\u{0}"), .text), tags)
        let length = Operand.computed(.function(.length, .value(.text("a\u{0}b"))))
        try bench.expect(
          "Tag", .comparison(Comparison(length, .equal, .value(.integer(3)), kind: .integer)), matches: tags)
        let name = Operand.path(try bench.path("Tag", "name"))
        let isGreater = Comparison(.value(.text("b\u{0}")), .greater, name, kind: .text)
        try bench.expect("Tag", .comparison(isGreater), matches: [tags[0], tags[1]])
      },
    ]

  // MARK: Dates

  private static func dates(from first: Int64) -> [ConformanceCase] {
    let limit = StoreLimit.datesBefore(microseconds: first)
    // Otherwise there is no such date.
    guard first > -DateText.mostMicroseconds else { return [] }
    let early = [first - 1, -DateText.mostMicroseconds].map(StoredValue.integer)
    return refusals(
      of: limit, values: early, in: [Place("Author", "born", .null), Place("Sample", "the_date", .integer(0))]
    ) + [
      ConformanceCase("the first date that the store can keep comes back") { bench in
        let samples = try bench.inserted("Sample", [first, first + 1].map { ["the_date": .integer($0)] })
        try bench.expectRows("Sample", samples)
        try expectAsInMemory(bench, bench.compare("Sample", "the_date", .equal, .integer(first), .integer), samples)
      },
      ConformanceCase("\(limit) is compared with others, by every operator") { bench in
        let born: [StoredValue] = [.integer(first), .integer(0), .null]
        let authors = try bench.inserted("Author", born.map { ["name": .text("a"), "born": $0] })
        let date = Operand.path(try bench.path("Author", "born"))
        for value in early + [.integer(.min)] {
          for relation: ComparisonOperator in [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual] {
            try expectAsInMemory(bench, bench.compare("Author", "born", relation, value, .integer), authors)
            let turned = Comparison(.value(value), relation, date, kind: .integer)
            try expectAsInMemory(bench, .comparison(turned), authors)
          }
          try expectAsInMemory(bench, .isIn(date, [value, .integer(0)], .integer), authors)
          try expectAsInMemory(bench, .isIn(date, [value, .null], .integer), authors)
          try expectAsInMemory(bench, computed(bench, "Author", "born", .integer(0), value, .integer), authors)
        }
      },
    ]
  }

  // MARK: Refusals

  /// An attribute with a value that every store can keep.
  private struct Place {
    let entity: String
    let property: String
    let value: StoredValue
    /// Whether it is part of a unique key, which a change of many rows never assigns.
    let isUnique: Bool

    init(_ entity: String, _ property: String, _ value: StoredValue, isUnique: Bool = false) {
      (self.entity, self.property, self.value, self.isUnique) = (entity, property, value, isUnique)
    }
  }

  private static func refusals(
    of limit: StoreLimit, values: [StoredValue], in places: [Place]
  ) -> [ConformanceCase] {
    [
      ConformanceCase("\(limit) is refused at an insert, and nothing is changed") { bench in
        for place in places {
          for value in values {
            let record = try bench.new(place.entity, [place.property: value])
            try expectRefusal(bench, insert: [record])
            record[place.property] = place.value
            try bench.save(insert: [record])
            bench.expect(try bench.row(record), is: RowImage(record))
            try bench.save(delete: [record])
          }
        }
      },
      ConformanceCase("\(limit) is refused at an update, and nothing is changed") { bench in
        for place in places {
          let record = try bench.inserted(place.entity, [[place.property: place.value]])[0]
          for value in values {
            record[place.property] = value
            try expectRefusal(bench, update: [(record, [place.property])])
            record[place.property] = place.value
            try bench.save(update: [(record, [place.property])])
            bench.expect(try bench.row(record), is: RowImage(record))
          }
        }
      },
      ConformanceCase("\(limit) is refused as a new value of many rows, and nothing is changed") { bench in
        for place in places where !place.isUnique {
          try bench.inserted(place.entity, (0..<3).map { _ in [place.property: place.value] })
          let before = try allRows(bench)
          for value in values {
            bench.expectError(.unstorableValue) {
              _ = try bench.update(bench.request(place.entity), place.property, .value(value))
            }
            bench.expect(try allRows(bench), is: before)
          }
        }
      },
    ]
  }

  /// Checks that a save is refused, and with it what the store could keep.
  private static func expectRefusal(
    _ bench: Bench, insert: [Record] = [], update: [(Record, [String])] = [], line: Int = #line
  ) throws {
    let others = try bench.inserted("Crate", [["label": .text("changed")], ["label": .text("deleted")]])
    let before = try allRows(bench)
    let new = try bench.new("Crate", ["label": .text("new")])
    others[0]["label"] = .text("other")
    bench.expectError(.unstorableValue, line: line) {
      try bench.save(insert: [new] + insert, update: [(others[0], ["label"])] + update, delete: [others[1]])
    }
    bench.expect(try allRows(bench), is: before, line: line)
  }

  private static func allRows(_ bench: Bench) throws -> [[RowImage]] {
    try bench.model.entities.filter { $0.parent == nil }.map { try bench.rows($0.name) }
  }

  // MARK: Predicates

  /// Checks that a predicate and its opposite match the records that they match in memory.
  private static func expectAsInMemory(
    _ bench: Bench, _ predicate: QueryPredicate, _ records: [Record], line: Int = #line
  ) throws {
    guard let entity = records.first?.entity.name else { return }
    for predicate in [predicate, .not(predicate)] {
      let matches = try records.filter { try RecordMatch.holds(predicate, $0) }
      try bench.expect(entity, predicate, matches: matches, line: line)
    }
  }

  /// Whether a property, with another value in the place of one of its values, is that value.
  private static func computed(
    _ bench: Bench, _ entity: String, _ property: String, _ replaced: StoredValue, _ value: StoredValue,
    _ kind: ValueKind
  ) throws -> QueryPredicate {
    let isReplaced = try bench.compare(entity, property, .equal, replaced, kind)
    let choice = Operand.computed(.conditional(isReplaced, .value(value), .path(try bench.path(entity, property))))
    return .comparison(Comparison(choice, .equal, .value(value), kind: kind))
  }
}
