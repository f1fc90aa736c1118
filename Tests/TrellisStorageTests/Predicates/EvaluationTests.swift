import Foundation
import Testing
import TrellisModel
import TrellisStorage
import TrellisTestSupport

/// A person with a name, a mark, a friend and children.
final class Person: QueryObject {
  let queryKey: Int64
  var queryEntityName: String { "Person" }
  var values: [Int: StoredValue]
  var friend: Person?
  var children: [Person] = []

  init(_ key: Int64, _ values: [Int: StoredValue] = [:]) {
    queryKey = key
    self.values = values
  }

  func queryValue(_ property: Int) -> StoredValue {
    property == Self.friend ? friend.map { .integer($0.queryKey) } ?? .null : values[property] ?? .null
  }
  func queryPartner(_ property: Int) -> Person? { friend }
  func queryMembers(_ property: Int) -> [Person] { children }

  static let name = 0, mark = 1, friend = 2, children = 3
}

@Suite("Evaluating predicates") struct EvaluationTests {
  static let me = PropertyPath(variable: 0)
  static let name = me.appending(Person.name)
  static let mark = me.appending(Person.mark)

  func holds(_ predicate: QueryPredicate, _ person: Person) throws -> Bool {
    try PredicateEvaluator(predicate).matches(person)
  }

  func compare(
    _ a: StoredValue, _ relation: ComparisonOperator, _ b: StoredValue, _ kind: ValueKind = .integer
  ) throws -> Bool {
    try holds(.comparison(Comparison(.path(Self.mark), relation, .value(b), kind: kind)), Person(1, [Person.mark: a]))
  }

  @Test("nil equals nil, differs from values, and is not ordered")
  func nilLogic() throws {
    #expect(try compare(.null, .equal, .null))
    #expect(try !compare(.null, .notEqual, .null))
    #expect(try compare(.null, .notEqual, .integer(1)))
    #expect(try !compare(.null, .equal, .integer(1)))
    for relation: ComparisonOperator in [
      .less, .lessOrEqual, .greater, .greaterOrEqual, .contains, .hasPrefix, .hasSuffix,
    ] {
      #expect(try !compare(.null, relation, .null))
      #expect(try !compare(.null, relation, .integer(1)))
      #expect(try !compare(.integer(1), relation, .null))
    }
  }

  @Test("not of a false comparison is true, nil included")
  func negation() throws {
    let less = QueryPredicate.comparison(Comparison(.path(Self.mark), .less, .value(.integer(5)), kind: .integer))
    #expect(try holds(.not(less), Person(1)))
  }

  @Test("and of nothing holds, or of nothing does not")
  func emptyLists() throws {
    #expect(try holds(.and([]), Person(1)))
    #expect(try !holds(.or([]), Person(1)))
  }

  @Test("a list matches nil only when it has one")
  func lists() throws {
    #expect(try !holds(.isIn(.path(Self.mark), [.integer(1)], .integer), Person(1)))
    #expect(try holds(.isIn(.path(Self.mark), [.integer(1), .null], .integer), Person(1)))
    #expect(try holds(.isIn(.path(Self.name), [.text("1.50")], .decimal), Person(1, [Person.name: .text("1.5")])))
    #expect(try !holds(.isIn(.path(Self.name), [.text("é")], .text), Person(1, [Person.name: .text("e\u{301}")])))
  }

  @Test("a path through nil is nil, and counts nothing")
  func paths() throws {
    let friend = Self.me.appending(Person.friend)
    let friendsName = QueryPredicate.comparison(
      Comparison(.path(friend.appending(Person.name)), .equal, .value(.text("b")), kind: .text))
    let friendsChildren = QueryPredicate.comparison(
      Comparison(.count(friend.appending(Person.children)), .equal, .value(.integer(0)), kind: .integer))
    let person = Person(1)
    #expect(try !holds(friendsName, person))
    #expect(try holds(friendsChildren, person))
    person.friend = Person(2, [Person.name: .text("b")])
    #expect(try holds(friendsName, person))
    #expect(try holds(.comparison(Comparison(.path(friend), .equal, .value(.integer(2)), kind: .integer)), person))
    #expect(try holds(.comparison(Comparison(.path(Self.me), .equal, .value(.integer(1)), kind: .integer)), person))
  }

  @Test("any, all and none of no members are false, true and true")
  func quantifiersOfNothing() throws {
    let children = Self.me.appending(Person.children)
    for (quantifier, expected) in [(Quantifier.any, false), (.all, true), (.none, true)] {
      #expect(try holds(.quantified(quantifier, children, variable: 1, .constant(true)), Person(1)) == expected)
    }
  }

  @Test("inside a quantifier both the member and the object can be asked about")
  func variables() throws {
    let parent = Person(1, [Person.mark: .integer(5)])
    parent.children = [Person(2, [Person.mark: .integer(5)]), Person(3, [Person.mark: .integer(6)])]
    let same = QueryPredicate.comparison(
      Comparison(
        .path(PropertyPath(variable: 1).appending(Person.mark)), .equal, .path(Self.mark), kind: .integer))
    let children = Self.me.appending(Person.children)
    #expect(try holds(.quantified(.any, children, variable: 1, same), parent))
    #expect(try !holds(.quantified(.all, children, variable: 1, same), parent))
    #expect(try !holds(.quantified(.none, children, variable: 1, same), parent))
  }

  @Test("text options fold both sides")
  func options() throws {
    let predicate = QueryPredicate.comparison(
      Comparison(
        .path(Self.name), .contains, .value(.text("CAFE")), kind: .text,
        options: [.caseInsensitive, .diacriticInsensitive]))
    #expect(try holds(predicate, Person(1, [Person.name: .text("Le café")])))
  }

  @Test("a variable that nothing binds is an error")
  func unbound() {
    let path = PropertyPath(variable: 3).appending(0)
    let predicate = QueryPredicate.comparison(Comparison(.path(path), .equal, .value(.null), kind: .text))
    #expect(throws: EvaluationError.self) { try PredicateEvaluator(predicate) }
  }

  static func nested(_ depth: Int) -> QueryPredicate {
    (1..<depth).reduce(QueryPredicate.constant(true)) { inner, n in
      n.isMultiple(of: 2) ? .and([inner]) : .quantified(.all, me.appending(Person.children), variable: 0, inner)
    }
  }

  @Test("a predicate at the depth limit is evaluated on a small stack, a deeper one is refused")
  func depth() async throws {
    #expect(throws: EvaluationError.self) { try PredicateEvaluator(Self.nested(QueryPredicate.depthLimit + 1)) }
    let held = await withCheckedContinuation { (done: CheckedContinuation<Bool?, Never>) in
      let thread = Thread {
        let person = Person(1)
        person.children = [person]
        done.resume(returning: try? PredicateEvaluator(Self.nested(QueryPredicate.depthLimit)).matches(person))
        person.children = []
      }
      thread.stackSize = TestSettings.smallStack
      thread.start()
    }
    #expect(held == true)
  }
}
