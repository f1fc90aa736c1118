import Testing

@testable import TrellisAdoption

@Suite struct ConditionTests {
  private static let table = SourceTable(
    "film", columns: ["rating", "length", "price", "Title"].map { SourceColumn($0, "") })

  private func conditions(_ text: String) -> [ColumnCondition]? { ColumnCondition.all(of: text, in: Self.table) }

  @Test(arguments: [
    "rating IN ('G', 'PG')", "rating = 'G' OR rating = 'PG'", "(rating IS NULL) OR rating in ('G','PG')",
    "\"rating\" IN (\"G\", \"PG\")",
    "(rating)::text = ANY ((ARRAY['G'::character varying, 'PG'::character varying])::text[])",
    "[rating] IN ('G','PG', NULL)", "rating IS 'G' or 'PG' = rating", "film.rating in ('G','PG') /* MPAA */",
    "CAST(rating AS TEXT) IN ('G', 'PG')",
  ]) func `values in any notation are those of an enum`(_ text: String) {
    #expect(conditions(text) == [.allowed("rating", [.text("G"), .text("PG")])])
  }

  @Test(arguments: [
    "length >= 0", "0 <= length", "([length]>=(0))", "length >= (0)::numeric", "length IS NULL OR length >= 0",
  ])
  func `a bound stands on either side`(_ text: String) {
    #expect(conditions(text) == [.minimum("length", .integer(0), isIncluded: true)])
  }

  @Test func `what is between has two bounds`() {
    let expected: [ColumnCondition] = [
      .minimum("price", .real(0.5), isIncluded: true), .maximum("price", .integer(10), isIncluded: true),
    ]
    #expect(conditions("price BETWEEN 0.5 AND 10") == expected)
    #expect(conditions("price >= 0.5 AND price <= 10 AND title <> ''") == expected + [.minimumLength("Title", 1)])
    #expect(
      conditions("length(Title) > 2 and LENGTH(title) < 9") == [.minimumLength("Title", 3), .maximumLength("Title", 8)])
  }

  @Test(arguments: [
    "price > length", "price % 2 = 0", "price > 0 OR length > 0", "title LIKE 'a%'", "json_valid(title)",
    "NOT price > 0",
    "price IN (SELECT 1)", "", "(", "price >", "price IN ()", "CASE WHEN price THEN 1 END", "price NOT BETWEEN 1 AND 2",
    "nobody > 3", "rating = ANY (title)", "'", "price = ", "length(title, 2) > 3",
  ]) func `what is about no single column has no words`(_ text: String) { #expect(conditions(text) == nil) }

  @Test func `nesting has an end`() {
    let deep = String(repeating: "(", count: 100_000) + "price > 0" + String(repeating: ")", count: 100_000)
    #expect(conditions(deep) == nil)
    #expect(conditions(String(repeating: "-", count: 100_000) + "1") == nil)
    #expect(conditions(String(repeating: "- ", count: 100_000) + "1 < price") == nil)
    #expect(conditions("price = 1" + String(repeating: " OR price = 1", count: 10_000))?.count == 1)
    #expect(conditions("length >= -9223372036854775808")?.count == 1)
  }

  @Test func `comments belong to the column on their line`() {
    let text = TableText(
      """
      CREATE TABLE film ( -- all films
        -- The name in the original language.
        Title TEXT NOT NULL COLLATE nocase, -- as printed
        price DECIMAL(5,2) CHECK (price > 0), /* in euros */
        twice AS (price * 2) STORED,
        CONSTRAINT c CHECK (length(Title) > 0 AND Title <> 'it''s, (') )
      """, columns: ["Title", "price", "twice"])
    #expect(text.docs == ["Title": "The name in the original language. as printed", "price": "in euros"])
    #expect(text.checks == ["price > 0", "length ( Title ) > 0 AND Title <> 'it''s, ('"])
    #expect(text.generations == ["twice": "price * 2"])
    #expect(text.collations == ["Title": "NOCASE"])
  }
}
