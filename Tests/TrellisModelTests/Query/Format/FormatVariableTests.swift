import Testing
import TrellisModel
import TrellisStorage

@Suite("Variables of formats") struct FormatVariableTests {
  private let model: Model

  init() throws { model = try FormatModel.make() }

  private func variables(_ text: String) throws -> [FormatVariable] {
    try CheckedFormat(text, of: 0, in: model).variables
  }

  @Test("a variable has the type of the attribute that it is compared with")
  func attributes() throws {
    let found = try variables(
      "stars == $a AND weight < $b AND ANY images.size > $c AND $d IN tags.name AND next.level == $e AND words == $f")
    #expect(found.map(\.attribute) == [.int32, .double, .int64, .string, .enumeration("Level"), .array(.string)])
    #expect(
      try variables("SUBQUERY(images, $i, $i.size > $x AND $i.diary.stars < $y).@count > $z").map(\.attribute)
        == [.int64, .int32, nil])
  }

  @Test("objects are of the entity at the path's end")
  func objects() throws {
    #expect(
      try variables("next == $a AND $b IN tags AND SELF IN $c AND images CONTAINS $d").map(\.type)
        == [.object(0), .object(2), .object(0), .object(1)])
  }

  @Test("it is one value, after IN a list, after BETWEEN a range")
  func shapes() throws {
    #expect(
      try variables("stars == $a AND stars IN $b AND stars BETWEEN $c AND content IN[cd] $d").map(\.shape)
        == [.one, .list, .range, .list])
  }

  @Test("whole numbers of different sizes are whole numbers; other types do not mix, and shapes do not")
  func twice() throws {
    let found = try variables("stars == $a OR #in == $a")
    #expect(found.map(\.type) == [.integer] && found.map(\.attribute) == [nil])
    for text in ["content == $a OR stars == $a", "stars == $a OR stars IN $a", "stars IN $a OR stars BETWEEN $a"] {
      let error = #expect(throws: PredicateFormatError.self) { try variables(text) }
      #expect(error?.code == .typeMismatch)
      #expect(error?.offset == text.utf8.count - 2)
    }
  }

  @Test("what has no type is refused, as are ranges of what has no order in Swift")
  func untyped() throws {
    let constants = ["$a < CAST('2026-01-31', 'NSDate')", "$a IN {CAST(2, 'Double')}", "CAST('1', 'Decimal') == $a"]
    for text in constants + ["$a == $b", "SELF.next == CAST(1, 'ObjectID') AND CAST(1, 'ObjectID') == $a"] {
      #expect(throws: PredicateFormatError.self) { try variables(text) }
    }
    for text in ["link BETWEEN $a", "isDraft BETWEEN $a"] {
      #expect(throws: PredicateFormatError.self) { try variables(text) }
    }
  }
}
