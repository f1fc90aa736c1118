import Testing
import TrellisModel
import TrellisStorage

@Suite("Sorting") struct SortOrderTests {
  static let name = PropertyPath(variable: 0).appending(Person.name)
  static let mark = PropertyPath(variable: 0).appending(Person.mark)

  func keys(_ people: [Person], _ sort: [SortKey]) throws -> [Int64] {
    try SortOrder(sort).sorted(people).map(\.queryKey)
  }

  let people = [
    Person(3, [Person.name: .text("b"), Person.mark: .integer(1)]), Person(1, [Person.name: .text("a")]),
    Person(2, [Person.name: .text("b")]), Person(4, [Person.name: .text("B"), Person.mark: .integer(-1)]),
  ]

  @Test("without sort keys objects go by their keys")
  func noKeys() throws {
    #expect(try keys(people, []) == [1, 2, 3, 4])
  }

  @Test("ties go by key in the direction of the last sort key")
  func ties() throws {
    #expect(try keys(people, [SortKey(Self.name, kind: .text)]) == [4, 1, 2, 3])
    #expect(try keys(people, [SortKey(Self.name, descending: true, kind: .text)]) == [3, 2, 1, 4])
  }

  @Test("nil comes first ascending and last descending")
  func nils() throws {
    #expect(try keys(people, [SortKey(Self.mark, kind: .integer)]) == [1, 2, 4, 3])
    #expect(try keys(people, [SortKey(Self.mark, descending: true, kind: .integer)]) == [3, 4, 2, 1])
  }

  @Test("later keys decide between equals, folded where asked")
  func severalKeys() throws {
    let sort = [
      SortKey(Self.name, kind: .text, options: .caseInsensitive), SortKey(Self.mark, descending: true, kind: .integer),
    ]
    #expect(try keys(people, sort) == [1, 3, 4, 2])
  }

  @Test("comparing two says what sorting does")
  func comparing() throws {
    let order = try SortOrder([SortKey(Self.name, descending: true, kind: .text)])
    #expect(try order.compare(people[0], people[2]) < 0)
    #expect(try order.compare(people[1], people[1]) == 0)
  }
}
