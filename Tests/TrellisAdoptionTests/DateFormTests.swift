import Foundation
import Testing
import TrellisAdoption
import TrellisTestSupport

/// Dates in SQLite, which has no type for them: an integer may be a year, a written day or a number of units.
@Suite("Forms of dates") struct DateFormTests {
  private func file(_ declared: String, _ values: [String]) throws -> AdoptionTestFile {
    let rows = values.map { "(\($0))" }.joined(separator: ", ")
    return try AdoptionTestFile(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, c \(declared)); INSERT INTO t (c) VALUES \(rows);")
  }

  @Test(arguments: [
    // A column that is declared DATE makes integers of such texts.
    (["'1999'", "'2001'", "'2015'"], "int64?", "holds integers, which are years, and is an int64"),
    (["1999", "NULL"], "int64?", "which are years"),
    (["'31.01.2020'", "'29.02.2020'"], "string?", "holds texts in no known form of dates, and is a string"),
    (["'01/02/2020'"], "string?", "in no known form of dates"),
    (["''", "'2020-01-31'"], "string?", "in no known form"),
    (["'Jan 5, 2020'", "1999"], "string?", "holds integers and texts in no known form of dates, and is a string"),
    (["x'00'", "x'01'"], "data?", "holds bytes, and is data"),
    // Seconds since 2001, as programs of Apple's systems write them, or seconds since 1970 of the last century.
    (
      ["700000000", "712345678"], "int64?",
      "whose unit is not certain (seconds since 1970, or since 2001), and is an int64"
    ),
    (
      ["700000000.25", "712345678.5"], "double?",
      "whose unit is not certain (seconds since 1970, or since 2001), and is a double"
    ),
    (["1", "2", "3"], "int64?", "whose form of dates is not certain"),
    (["1700000000", "1700000000000"], "int64?", "holds integers, whose unit is not certain, and is an int64"),
    (["1700000000", "20200131"], "int64?", "not certain"),
    (["1700000000", "1999", "1700000001", "1700000002"], "int64?", "not certain"),
    (["20200131", "20200231", "20200141"], "int64?", "not certain"), (["1580428800000000000"], "int64?", "not certain"),
    (["2440588", "2458849"], "int64?", "not certain"), (["-5", "8000"], "int64?", "not certain"),
  ]) func `numbers and texts that are no certain dates stay, and are told`(
    _ values: [String], _ type: String, _ remark: String
  ) throws {
    for declared in ["DATE", "DATETIME", "TIMESTAMP"] {
      let file = try file(declared, values)
      let line = try file.lines("\"c\":").first ?? ""
      #expect(line.contains("\"\(type)\""), "\(declared) \(values): \(line)")
      let notes = try file.database().notes.map(\.description)
      #expect(
        notes.contains { $0.hasPrefix("changed t.c: is declared \(declared), holds ") && $0.contains(remark) },
        "\(notes)")
      try file.database().copy(to: file.target)
      let kept = try file.copied("SELECT count(c) FROM T")
      #expect(kept == ["\(values.count { $0 != "NULL" })"])
    }
  }

  @Test(arguments: [
    (
      ["20200131", "'20200229'", "99991231"], "days as 20200131",
      ["1580428800000000", "1582934400000000", "253402214400000000"]
    ),
    (
      ["20200131093005", "'18000101000000'"], "moments as 20200131093005, in UTC",
      ["1580463005000000", "-5364662400000000"]
    ),
    (["1580428800", "0", "1580428801.5"], "seconds since 1970", ["1580428800000000", "0", "1580428801500000"]),
    (
      ["-300000000", "1580428800", "1580428801"], "seconds since 1970",
      ["-300000000000000", "1580428800000000", "1580428801000000"]
    ),
    (["1580428800123", "0"], "milliseconds since 1970", ["1580428800123000", "0"]),
    (["1580428800123456"], "microseconds since 1970", ["1580428800123456"]),
    (["2458879.5", "2440587.5"], "Julian days", ["1580428800000000", "0"]),
    (
      ["'2020-01-31'", "'2020-01-31 09:30:05'"], "texts, read as UTC where they name no zone",
      ["1580428800000000", "1580463005000000"]
    ),
  ]) func `a form that is certain is told, and its values are dates`(
    _ values: [String], _ form: String, _ moments: [String]
  ) throws {
    let file = try file("DATETIME", values)
    #expect(try file.lines("\"c\": \"date?\"").count == 1)
    #expect(try file.database().notes.map(\.description) == ["changed t.c: holds dates as \(form)"])
    try file.database().copy(to: file.target)
    #expect(try file.copied("SELECT c FROM T ORDER BY _id") == moments)
  }

  @Test func `a year among texts of dates is named`() throws {
    let file = try file("DATE", (1...20).map { "'2020-01-\($0 < 10 ? "0" : "")\($0)'" } + ["'1999'"])
    let error = #expect(throws: AdoptionError.self) { try file.database().copy(to: file.target) }
    #expect(error?.message.contains("t#21.c: has an integer that is no date as the others are") == true)
  }
}
