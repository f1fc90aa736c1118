import Testing
import TrellisModel

@testable import TrellisAdoption

@Suite struct ValueFormTests {
  @Test(arguments: [
    ("2026-01-31", "2026-01-31T00:00:00Z"), ("2026-01-31 09:30", "2026-01-31T09:30:00Z"),
    ("2026-01-31 09:30:05", "2026-01-31T09:30:05Z"), ("2026-01-31T09:30:05Z", "2026-01-31T09:30:05Z"),
    ("2026-01-31 09:30:05.250", "2026-01-31T09:30:05.250000Z"),
    ("2026-01-31 09:30:05.123456789", "2026-01-31T09:30:05.123456Z"),
    ("2026-01-31 09:30:05+09", "2026-01-31T00:30:05Z"), ("2026-01-31 09:30:05+0900", "2026-01-31T00:30:05Z"),
    ("2026-01-31T09:30:05.5+09:00", "2026-01-31T00:30:05.500000Z"),
    ("2026-01-31 09:30:05-0130", "2026-01-31T11:00:05Z"),
    ("2026-01-31 09:30:05 ", "2026-01-31T09:30:05Z"), ("2026-01-31 09:30:05 +02:00", "2026-01-31T07:30:05Z"),
  ]) func `dates in all notations`(_ text: String, _ date: String) {
    #expect(DateForm.text.microseconds(.text(text)).map(DateText.text) == date)
  }

  @Test(arguments: [
    "", "2026", "2026-13-01", "2026-02-30", "31.01.2026", "2026-01-31 25:00", "2026-01-31 09:30:05.12x456789",
    "2026-01-31 +",
    "now", "2026-01-31 09:30:05 KST", "          ", "2026-01-31T", "2026-01-31 -", "9999999-01-01",
  ]) func `other texts are no dates`(_ text: String) { #expect(DateForm.text.microseconds(.text(text)) == nil) }

  @Test func `numbers are dates by the unit of their column`() {
    #expect(DateForm.seconds.microseconds(.integer(1)) == 1_000_000)
    #expect(DateForm.seconds.microseconds(.real(1.5)) == 1_500_000)
    #expect(DateForm.milliseconds.microseconds(.integer(-1)) == -1_000)
    #expect(DateForm.julianDays.microseconds(.real(2_440_587.5)) == 0)
    #expect(DateForm.julianDays.microseconds(.real(2_440_588.75)) == 108_000_000_000)
    #expect(DateForm.seconds.microseconds(.integer(.max)) == nil)
    #expect(DateForm.seconds.microseconds(.real(.nan)) == nil)
    #expect(DateForm.microseconds.microseconds(.integer(.min)) == nil)
  }

  @Test func `no value changes its meaning`() {
    let whole = ValueForm.integer(Int64.min...Int64.max)
    #expect(whole.stored(.real(3)) == .integer(3))
    #expect(whole.stored(.real(3.5)) == nil)
    #expect(whole.stored(.text("x")) == nil)
    #expect(ValueForm.integer(0...9).stored(.integer(10)) == nil)
    #expect(ValueForm.double.stored(.integer(9_007_199_254_740_993)) == nil)
    #expect(ValueForm.double.stored(.integer(.max)) == nil)
    #expect(ValueForm.decimal.stored(.real(0.1)) == .text("0.1"))
    #expect(ValueForm.decimal.stored(.real(.infinity)) == nil)
    #expect(ValueForm.decimal.stored(.text("1.50")) == .text("1.5"))
    #expect(ValueForm.bool.stored(.text("True")) == .integer(1))
    #expect(ValueForm.bool.stored(.integer(2)) == nil)
    #expect(ValueForm.string.stored(.unsound([0xFF])) == nil)
    #expect(ValueForm.data.stored(.unsound([0xFF])) == .blob([0xFF]))
    #expect(ValueForm.uuid.stored(.text("e621e1f8-c36c-495a-93fc-0c247a3e6e5f"))?.isNull == false)
    #expect(ValueForm.uuid.stored(.blob([1])) == nil)
    #expect(ValueForm.list(.string).stored(.text("[\"a\", \"b\"]")) == .text("[\"a\",\"b\"]"))
    #expect(ValueForm.list(.string).stored(.text("[null]")) == nil)
    #expect(ValueForm.among([.text("a")], .string).stored(.text("b")) == nil)
    #expect(ValueForm.among([.text("a")], .string).stored(.null) == .null)
  }
}
