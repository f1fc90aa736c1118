import Testing

@Suite("Two programs cannot break a rule together") struct RulesInProcessesTests {
  /// What two writers do at once that the model does not allow together, and what becomes of it.
  enum Rivalry: CaseIterable {
    case greatestCount, leastCountOfPairs, leastCountOfRows, leastCountByDelete, denialByRow, denialByPair, cascade

    /// What the first and what the second does.
    var changes: (String, String) {
      switch self {
      case .greatestCount: ("add item 3", "add item 4")
      case .leastCountOfPairs: ("remove 1", "remove 2")
      case .leastCountOfRows: ("delete question 1", "delete question 2")
      case .leastCountByDelete: ("delete pin 1", "remove 2")
      case .denialByRow: ("delete box", "add lock 1")
      case .denialByPair: ("delete box", "add label 1")
      case .cascade: ("delete box", "add slip 3")
      }
    }

    /// What the later one hears, the second's save coming later and the first's coming later.
    var answers: (second: String, first: String) {
      switch self {
      case .greatestCount: ("refused: maximumCount items", "refused: maximumCount items")
      case .leastCountOfPairs, .leastCountByDelete: ("refused: minimumCount crew", "refused: minimumCount crew")
      case .leastCountOfRows: ("refused: minimumCount questions", "refused: minimumCount questions")
      case .denialByRow: ("refused: deletedPartner box", "refused: deniedDelete locks")
      case .denialByPair: ("refused: deletedPartner boxes", "refused: deniedDelete labels")
      // A delete that cascades takes along whoever has come meanwhile.
      case .cascade: ("refused: deletedPartner box", "done")
      }
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let rivalry: Rivalry
    let firstSavesFirst: Bool
    let place: ToldPair.Place
    var testDescription: String { "\(rivalry), the \(firstSavesFirst ? "second" : "first") saves later, two \(place)" }
  }

  static let all = Rivalry.allCases.flatMap { rivalry in
    [true, false].flatMap { order in
      ToldPair.Place.allCases.map { Case(rivalry: rivalry, firstSavesFirst: order, place: $0) }
    }
  }

  @Test("the later save is refused by name, whoever it is, and the store keeps the rule", arguments: all)
  func rivalry(_ test: Case) throws {
    let pair = try ToldPair(test.place)
    #expect(try pair.first.tell(test.rivalry.changes.0) == "done")
    #expect(try pair.second.tell(test.rivalry.changes.1) == "done")
    let (earlier, later) = test.firstSavesFirst ? (pair.first, pair.second) : (pair.second, pair.first)
    #expect(try earlier.tell("save") == "done")
    let wanted = test.rivalry.answers
    #expect(try later.tell("save") == (test.firstSavesFirst ? wanted.second : wanted.first))
    let stored = try later.tell("stored")
    #expect(stored == Self.stored(test.rivalry, boxIsGone: test.firstSavesFirst))
    // What was refused is still there to be decided about, and goes when it is rolled back.
    #expect(try later.tell("rollback") == "done")
    #expect(try later.tell("save") == "done" && later.tell("stored") == stored)
  }

  private static func stored(_ rivalry: Rivalry, boxIsGone: Bool) -> String {
    var sides = ["items": 2, "slips": 2, "locks": 0, "labels": 0, "crew": 2, "questions": 2]
    let gone = ["items": -1, "slips": 0, "locks": -1, "labels": -1]
    switch rivalry {
    case .greatestCount: sides["items"] = 3
    case .leastCountOfPairs, .leastCountByDelete: sides["crew"] = 1
    case .leastCountOfRows: sides["questions"] = 1
    case .denialByRow: if boxIsGone { sides.merge(gone) { $1 } } else { sides["locks"] = 1 }
    case .denialByPair: if boxIsGone { sides.merge(gone) { $1 } } else { sides["labels"] = 1 }
    case .cascade: sides.merge(gone) { $1 }
    }
    let names = ["items", "slips", "locks", "labels", "crew", "questions"]
    return (names.map { "\($0) \(sides[$0] ?? 0)" } + ["x 10", "y 20"]).joined(separator: ", ")
  }
}
