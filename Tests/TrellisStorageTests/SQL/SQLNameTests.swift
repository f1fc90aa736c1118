import Testing
import TrellisStorage

@Suite("Names in SQL") struct SQLNameTests {
  @Test("quotes inside a name are doubled")
  func quotes() {
    #expect(SQLName.quoted("a\"b") == "\"a\"\"b\"")
    #expect(SQLName.literal("it's") == "'it''s'")
  }
}
