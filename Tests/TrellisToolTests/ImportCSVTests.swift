import Testing

@Suite("Imports of CSV by the tool") struct ImportCSVTests {
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(
      """
      { "model": "M", "entities": {
        "Item": { "json": { "key": "id" }, "attributes": { "id": "int64", "note": "string?", "inStock": { "type": "int32?", "min": 0 } },
          "relationships": { "maker": { "destination": "Maker", "optional": true, "json": true } }, "unique": ["id"] },
        "Maker": { "json": { "key": "name" }, "attributes": { "name": "string" }, "unique": ["name"] } } }
      """, to: "M.model.json")
  }

  private func importing(_ store: String, _ text: String, _ options: String...) throws -> ToolFolder.Outcome {
    try folder.write(text, to: "t.csv")
    return try folder.run(["import-csv", store, "Item", "t.csv", "--write"] + options)
  }

  @Test("rows with separators only are counted, in a new store as in an old one")
  func emptyRows() throws {
    let text = "id,note,inStock\n1,a,1\n,,\n2,b,2\n,,,\n"
    let new = try importing("a.store", text, "--model", "M.model.json")
    #expect(new.status == 0 && new.output.hasSuffix("\n2 rows with separators only passed over\n"), "\(new)")
    #expect(new.output.contains("Item           2 "))
    let old = try importing("a.store", text)
    #expect(old.status == 0 && old.output.hasSuffix("\n2 rows with separators only passed over\n"), "\(old)")
    #expect(try importing("a.store", text, "--json").output.contains(#""emptyRows": 2"#))
    #expect(try importing("a.store", "id\n,\n3\n").errors.contains("has 2 cells") == false)
  }

  @Test("a new store has what an old one would have, also where the word for nil is a number")
  func nullNumbers() throws {
    let text = "id,inStock,note\n1,0,0\n2,9,9\n3,\"0\",\"0\"\n"
    #expect(try importing("a.store", text, "--null", "0", "--model", "M.model.json").status == 0)
    #expect(try importing("b.store", "id\n7\n", "--model", "M.model.json").status == 0)
    #expect(try importing("b.store", text, "--null", "0").status == 0)
    let lists = try ["a.store", "b.store"].map { store in
      try folder.run("query", store, "Item", "id < 7", "--columns", "id,inStock,note", "--json").output
        .split(separator: "\n").map { $0.drop { $0 != "," } }
    }
    #expect(lists[0] == lists[1] && lists[0].count == 5, "\(lists)")
    #expect(try folder.run("get", "a.store", "Item#1", "inStock").output == "nil\n")
    #expect(try folder.run("get", "a.store", "Item#3", "inStock").output == "0\n")
  }

  @Test("a broken rule is at its cell, and a reference that leads nowhere has its key")
  func messages() throws {
    #expect(try importing("a.store", "id\n7\n", "--model", "M.model.json").status == 0)
    for options in [["--rejecting", "objects"], ["--rejecting", "everything"], []] {
      try folder.write("id,note,inStock\n1,a,-1\n", to: "t.csv")
      let outcome = try folder.run(["import-csv", "a.store", "Item", "t.csv"] + options)
      #expect(
        outcome.errors.hasPrefix("error: t.csv:2:5 /inStock: Item.inStock: must be at least 0 [broken-rule]\n"),
        "\(outcome)")
      #expect(outcome.status == 1)
    }
    let missing = try importing("a.store", "id,maker\n1,ada\n")
    #expect(
      missing.errors
        == "warning: t.csv:2:3 /maker: Item.maker: leads to no object of the input or the store: 'ada' [missing-partner]\n"
    )
    #expect(try importing("a.store", "id,maker\n1,ada\n", "--json").output.contains(#""key": "ada""#))
  }

  @Test("a row of more than 64 MB is refused, in a new store as well") func longRow() throws {
    let outcome = try importing(
      "a.store", "id,note\n1,\(String(repeating: "x", count: 64 << 20))\n", "--model", "M.model.json")
    #expect(
      outcome.status == 1
        && outcome.errors.hasPrefix("error: t.csv:2:1 /: the row that begins here has more than 64 MB"))
    #expect(try folder.names() == ["M.model.json", "t.csv"])
  }
}
