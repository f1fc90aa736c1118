import Testing

@Suite("Imports of JSON by the tool") struct ImportJSONTests {
  private static let model = """
    { "model": "Letters", "entities": {
      "Author": { "json": { "key": "id" }, "attributes": { "id": "int64" }, "relationships": {
        "firstBook": { "destination": "Book", "json": "first_book" },
        "notes": { "destination": "Note", "inverse": "author", "toMany": true, "deleteRule": "cascade", "json": true } },
        "unique": ["id"] },
      "Book": { "json": { "key": "isbn" }, "attributes": { "isbn": "string" },
        "relationships": { "author": { "destination": "Author", "json": true } }, "unique": ["isbn"] },
      "Note": { "json": { "key": "text" }, "attributes": { "text": "string" },
        "relationships": { "author": { "destination": "Author", "inverse": "notes" } }, "unique": ["text"] } } }
    """

  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(Self.model, to: "L.model.json")
    try folder.write(#"[{"id": 1, "first_book": "a", "notes": [{"text": "n"}]}]"#, to: "authors.json")
    try folder.write("{\"isbn\": \"a\", \"author\": 1}\n{\"isbn\": \"b\", \"author\": 7}\n", to: "books.ndjson")
    try folder.write(
      #"{"people": [{"id": 1, "first_book": "a"}], "books": [{"isbn": "a", "author": 1}]}"#, to: "all.json")
  }

  @Test("several files are one import, in any order, and mistakes name the file")
  func severalFiles() throws {
    let inputs = [["Author", "authors.json"], ["Book", "books.ndjson"]]
    for (number, pairs) in [inputs, inputs.reversed()].enumerated() {
      for writes in [false, true] {
        let outcome = try folder.run(
          ["import-json", "\(number).sqlite"] + pairs.flatMap(\.self) + ["--model", "L.model.json"]
            + (writes ? ["--write"] : []))
        #expect(outcome.status == 1)
        #expect(
          outcome.output == """
            entity  inserted  updated  unchanged  deleted
            Author         1        0          0        0
            Book           1        0          0        0
            Note           1        0          0        0

            """)
        #expect(
          outcome.errors.hasPrefix(
            "error: books.ndjson:2:25 /author: Book.author: leads to no object of the input or the store: '7' [missing-partner]\n"
          ))
      }
    }
  }

  @Test("each file may have a path of its own, or all have one")
  func paths() throws {
    let all = ["Author", "all.json", "Book", "all.json"]
    let outcome = try folder.run(
      ["import-json", "s.sqlite", "--at", "people[*]"] + all + ["--at=books[*]", "--model", "L.model.json", "--write"])
    #expect(outcome.status == 0 && outcome.errors == "")
    let same = try folder.run(
      "import-json", "s.sqlite", "Author", "all.json", "Author", "all.json", "--at", "people[*]")
    #expect(same.output.contains("Author         0        0          1        0\n") && same.status == 0)
    let wrong = try folder.run(["import-json", "s.sqlite"] + all + ["Book", "all.json", "--at=a", "--at=b"])
    #expect(wrong.status == 64 && wrong.errors.hasPrefix("error: --at is given once, or once for each FILE.\n"))
  }

  @Test("what an import deletes is told, and is a change")
  func deleted() throws {
    #expect(
      try folder.run(
        "import-json", "s.sqlite", "Author", "authors.json", "Book", "books.ndjson", "--model", "L.model.json",
        "--write"
      ).status == 1)
    try folder.write(#"[{"id": 1, "notes": []}]"#, to: "fewer.json")
    let table = """
      entity  inserted  updated  unchanged  deleted
      Author         0        1          0        0
      Note           0        0          0        1

      """
    let dry = try folder.run("import-json", "s.sqlite", "Author", "fewer.json")
    #expect(
      dry
        == .init(
          status: 2, output: table, errors: "Nothing was written. The same with --write changes the store.\n"))
    let json = try folder.run("import-json", "s.sqlite", "Author", "fewer.json", "--json", "--write")
    #expect(
      json
        == .init(
          status: 0,
          output:
            #"{ "written": true, "entities": { "Author": { "inserted": 0, "updated": 1, "unchanged": 0, "deleted": 0 }, "Note": { "inserted": 0, "updated": 0, "unchanged": 0, "deleted": 1 } }, "rejected": [], "unresolved": [], "emptyRows": 0 }"#
            + "\n"))
  }

  @Test("arguments that name no inputs are refused, and a file that is missing before anything is written")
  func refused() throws {
    let new = ["--model", "L.model.json", "--write"]
    let odd = try folder.run(["import-json", "s.sqlite", "Author", "authors.json", "Book"] + new)
    #expect(odd.status == 64 && odd.errors.hasPrefix("error: The ENTITY 'Book' needs a FILE.\n"))
    let twice = try folder.run(["import-json", "s.sqlite", "Author", "-", "Book", "-"] + new)
    #expect(twice.status == 64 && twice.errors.hasPrefix("error: '-' is given twice.\n"))
    try folder.write(#"[{"isbn": "b", "author": {"id": 3, "first_book": "b"}}]"#, to: "own.json")
    let none = try folder.run(["import-json", "s.sqlite", "Book", "own.json", "Author", "none.json"] + new)
    #expect(none == .init(status: 66, errors: "none.json: error: There is no such file.\n"))
    #expect(try !folder.names().contains("s.sqlite"))
    let unknown = try folder.run(["import-json", "s.sqlite", "Book", "own.json", "Autor", "authors.json"] + new)
    #expect(unknown.status == 1 && unknown.errors.contains("'Autor'"))
    #expect(try !folder.names().contains("s.sqlite"))
  }
}
