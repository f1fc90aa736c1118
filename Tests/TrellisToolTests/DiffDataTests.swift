import Testing

@Suite("Comparisons of two moments") struct DiffDataTests {
  @Test("a later moment before an earlier one is a mistake, and not no difference")
  func exchanged() throws {
    let folder = try ToolFolder()
    try folder.write(
      #"{ "model": "M", "history": "values", "entities": { "T": { "attributes": { "note": "string?" } } } }"#,
      to: "M.model.json")
    #expect(try folder.run("seed", "M.model.json", "s.sqlite", "1").status == 0)
    for note in ["a", "b"] {
      #expect(try folder.run("set", "s.sqlite", "T#1", "note=\(note)", "--write").status == 0)
    }
    func diff(_ since: String, _ until: String?, _ options: String...) throws -> ToolFolder.Outcome {
      try folder.run(["diff-data", "s.sqlite", "--since", since] + (until.map { ["--until", $0] } ?? []) + options)
    }
    #expect(try diff("1", "3").output.hasSuffix(" → b\n"))
    #expect(
      try diff("3", "1")
        == .init(
          status: 1,
          errors: "error: --since '3' is save 3, which is later than save 1 of --until. Exchange the two.\n"))
    #expect(try diff("3", "0", "--json").status == 1)
    #expect(try diff("now", "2", "--all").status == 1)
    #expect(
      try diff("2100-01-01", "2000-01-01").errors.hasPrefix(
        "error: --since '2100-01-01' is save 3, which is later than save 0 "))
    for (since, until) in [("3", "3"), ("3", "now"), ("2100-01-01", nil), ("2100-01-01", "2100-01-02"), ("0", "0")] {
      #expect(try diff(since, until) == .init(status: 0, output: "nothing differs\n"))
    }
  }
}
