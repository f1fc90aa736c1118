import Testing
import Trellis

@Suite("Saving with retries") struct RetryTests {
  @Test("the body runs again on fresh values after a conflict", arguments: WriterPair.Place.allCases)
  func again(_ place: WriterPair.Place) throws {
    let pair = try WriterPair(place)
    let mine = Counter(in: pair.first, name: "a")
    let seen = Essay(in: pair.first, title: "old")
    try pair.first.save()
    var runs = 0
    let result = try pair.first.saveRetrying {
      runs += 1
      if runs == 1 {
        try pair.theirs(mine).value = 10
        try pair.theirs(seen).title = "new"
        try pair.second.save()
      }
      _ = Counter(in: pair.first, name: "made in run \(runs)")
      mine.value += 1
      return seen.title
    }
    #expect(runs == 2 && mine.value == 11 && result == "new" && !pair.first.hasChanges)
    #expect(try pair.stored(Counter.all).map(\.name).sorted() == ["a", "made in run 2"])
  }

  @Test("a key that somebody else has taken is looked for again") func keys() throws {
    let pair = try WriterPair(.sqlite)
    var runs = 0
    try pair.first.saveRetrying {
      runs += 1
      let found = try pair.first.first(Counter.where { $0.name == "a" })
      if runs == 1 {
        _ = Counter(in: pair.second, name: "a", value: 5)
        try pair.second.save()
      }
      (found ?? Counter(in: pair.first, name: "a")).value += 1
    }
    #expect(runs == 2)
    #expect(try pair.stored(Counter.all).map(\.value) == [6])
  }

  @Test("when no retries are left the conflict is thrown, and nothing is pending") func exhausted() throws {
    let pair = try WriterPair(.memory)
    let mine = Counter(in: pair.first, name: "a")
    try pair.first.save()
    var runs = 0
    #expect(throws: SaveConflict.self) {
      try pair.first.saveRetrying(atMost: 2) {
        runs += 1
        let read = mine.value
        try pair.theirs(mine).value += 10
        try pair.second.save()
        mine.value = read + 1
      }
    }
    #expect(runs == 3 && !pair.first.hasChanges)
    #expect(try pair.stored(Counter.all).map(\.value) == [30])
  }

  @Test("what the body throws ends it, and is rolled back") func bodyThrows() throws {
    struct Stop: Error {}
    let pair = try WriterPair(.memory)
    #expect(throws: Stop.self) {
      try pair.first.saveRetrying {
        _ = Counter(in: pair.first, name: "a")
        throw Stop()
      }
    }
    #expect(!pair.first.hasChanges)
  }

  @Test("changes from before are refused, since a second run would lose them") func unsaved() throws {
    let pair = try WriterPair(.memory)
    _ = Counter(in: pair.first, name: "a")
    let problem = try #require(throws: ContextError.self) { try pair.first.saveRetrying {} }
    #expect(problem.code == .unsavedChanges && pair.first.insertedObjects.count == 1)
  }
}
