import Testing

@Suite("trellis diff") struct DiffTests {
  private static func model(_ attributes: String, _ entity: String = "") -> String {
    #"{ "model": "M", "entities": { "A": { \#(entity)"attributes": { \#(attributes) } } } }"#
  }

  private func status(_ old: String, _ new: String) throws -> Int32 {
    let folder = try ToolFolder()
    try folder.write(old, to: "Old.model.json")
    try folder.write(new, to: "New.model.json")
    let outcome = try folder.run("diff", "Old.model.json", "New.model.json")
    #expect(outcome.output.hasPrefix("Old.model.json → New.model.json\n  ") && outcome.errors == "")
    return outcome.status
  }

  @Test("the exit code tells whether a migration is safe, has questions, or loses with consent")
  func codes() throws {
    let old = Self.model(#""a": "string""#)
    #expect(try status(old, old) == 0)
    #expect(try status(old, Self.model(#""a": "string", "b": "string?""#)) == 0)
    #expect(try status(old, Self.model(#""a": "string", "b": "string""#)) == 2)
    #expect(try status(old, Self.model(#""b": "string?""#)) == 2)
    #expect(try status(old, Self.model(#""b": "string?""#, #""removed": ["a"], "#)) == 3)
  }

  @Test("the last lines tell whether programs with the former model can go on beside the new ones")
  func compatibility() throws {
    func lines(_ old: String, _ new: String) throws -> [Substring] {
      let folder = try ToolFolder()
      try folder.write(old, to: "Old.model.json")
      try folder.write(new, to: "New.model.json")
      return try folder.run("diff", "Old.model.json", "New.model.json").output.split(separator: "\n")
    }
    let old = Self.model(#""a": "string""#)
    let additive = "  additive: programs with the former model can go on"
    #expect(try lines(old, Self.model(#""a": "string", "b": "string?""#)).last == Substring(additive))
    #expect(
      try lines(old, Self.model(#""a": "string", "b": { "type": "int64", "default": 1 }"#)).last == Substring(additive))
    #expect(
      try lines(old, Self.model(#""b": { "type": "string", "renamedFrom": "a" }"#)).suffix(2) == [
        "  breaking: programs with the former model cannot go on", "            A.a: renamed to b",
      ])
    #expect(try lines(old, old).last == "  nothing to do")
  }

  @Test("a mapping of JSON is no change of stored data")
  func mapping() throws {
    let old = Self.model(#""a": "string""#, #""json": true, "#)
    let new = Self.model(#""a": { "type": "string", "json": "b.c" }"#, #""json": { "key": "a" }, "unique": ["a"], "#)
    let plain = Self.model(#""a": "string""#, #""unique": ["a"], "#)
    let folder = try ToolFolder()
    try folder.write(plain, to: "Plain.model.json")
    try folder.write(new, to: "Mapped.model.json")
    for names in [["Plain.model.json", "Mapped.model.json"], ["Mapped.model.json", "Plain.model.json"]] {
      let outcome = try folder.run("diff", names[0], names[1])
      #expect(outcome.status == 0 && outcome.output == "\(names[0]) → \(names[1])\n  nothing to do\n")
    }
    #expect(try status(old, Self.model(#""a": "string""#)) == 0)
  }

  @Test("each version of a history is compared, and the worst of all is the answer")
  func history() throws {
    let folder = try ToolFolder()
    for attributes in [#""a": "string""#, #""a": "string", "b": "string?""#] {
      try folder.write(Self.model(attributes), to: "M.model.json")
      #expect(try folder.run("release", "M.model.json").status == 0)
    }
    let same = try folder.run("diff", "M.history", "M.model.json")
    #expect(same.status == 0)
    let titles = same.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }
    #expect(titles == ["version 1 (2026-03-02) → M.model.json", "version 2 (2026-03-02) → M.model.json"])
    try folder.write(Self.model(#""a": "string""#), to: "M.model.json")
    #expect(try folder.run("diff", "M.history/0001.json", "M.model.json").status == 0)
    #expect(try folder.run("diff", "M.history/0002.json", "M.model.json").status == 2)
    #expect(try folder.run("diff", "M.history", "M.model.json").status == 2)
    #expect(try folder.run("diff", "M.history/0001.json", "M.history/0002.json").status == 0)
  }

  @Test("a store in the place of a model is told, with the way to compare it", arguments: ["s.sqlite", "s.json"])
  func stores(_ store: String) throws {
    let folder = try ToolFolder()
    try folder.write(Self.model(#""a": "string""#), to: "M.model.json")
    #expect(try folder.run("seed", "M.model.json", store, "1").status == 0)
    let outcome = try folder.run("diff", store, "M.model.json")
    #expect(
      outcome
        == .init(
          status: 66,
          errors: """
            \(store): error: This is a store, and OLD is a model. Name the store with --store \(store) besides OLD and NEW, or \
            compare it alone with NEW: trellis migrate --plan \(store) NEW.

            """))
    for arguments in [
      ["diff", "M.model.json", store], ["seed", store, "t.sqlite", "1"], ["diff", "--api", "M.model.json", store],
    ] {
      let other = try folder.run(arguments)
      #expect(
        other.status == 66 && other.errors.hasPrefix("\(store): error: This is a store, and a model file "), "\(other)")
    }
    #expect(try folder.run("migrate", "--plan", store, "M.model.json").status == 0)
    #expect(try folder.run("diff", "--store", store, "M.model.json", "M.model.json").status == 0)
  }

  @Test("what is no model, no version or no history is named")
  func refused() throws {
    let folder = try ToolFolder()
    try folder.write(Self.model(#""a": "string""#), to: "M.model.json")
    #expect(try folder.run("release", "M.model.json").status == 0)
    let text = try folder.text(of: "M.history/0001.json")
    try folder.write(text.replacing("\"a\"", with: "\"b\""), to: "Copy.json")
    let copy = try folder.run("diff", "Copy.json", "M.model.json")
    #expect(copy.status == 1 && copy.errors.hasPrefix("Copy.json:6:12: error: The version was edited: "))
    try folder.write(text.replacing("\"trellis-history\": 1", with: "\"trellis-history\": 2"), to: "Copy.json")
    #expect(try folder.run("diff", "Copy.json", "M.model.json").errors.hasPrefix("Copy.json:2:22: error: "))
    try folder.write("", to: "Empty/x")
    #expect(try folder.run("diff", "Empty", "M.model.json").status == 66)
    #expect(try folder.run("diff", "M.model.json", "M.history").status == 66)
    #expect(try folder.run("diff", "--store", "M.db", "M.model.json", "M.model.json").status == 66)
  }
}
