import Foundation
import Testing
import TrellisTestSupport

@Suite("trellis pull") struct PullTests {
  private static func folder() throws -> ToolFolder {
    let folder = try ToolFolder()
    try folder.write([], to: "shop.sqlite")
    try OtherProgram(folder.folder.file("shop.sqlite")).run(
      "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, n INT); INSERT INTO items VALUES (1, 'a', 1), (2, 'b', NULL);"
    )
    return folder
  }

  @Test("writes a model that check accepts and format leaves, and the same one again")
  func model() throws {
    let folder = try Self.folder()
    #expect(try folder.run("pull", "sqlite:shop.sqlite") == .init(status: 0, output: "Shop.model.json\n"))
    #expect(try folder.run("check", "Shop.model.json") == .init(status: 0))
    #expect(try folder.run("format", "--check", "Shop.model.json") == .init(status: 0))
    #expect(try folder.run("pull", "shop.sqlite").status == 0)
    try folder.write("mine", to: "Shop.model.json")
    let refused = try folder.run("pull", "shop.sqlite")
    #expect(refused.status == 1)
    #expect(refused.errors.hasPrefix("error: Shop.model.json exists already."))
    #expect(try folder.text(of: "Shop.model.json") == "mine")
    let printed = try folder.run("pull", "shop.sqlite", "--output", "-", "--name", "Store")
    #expect(printed.output.hasPrefix("{\n  \"model\": \"Store\""))
  }

  @Test("copies the rows, into a document as well, and makes nothing if a value has no place")
  func rows() throws {
    let folder = try Self.folder()
    #expect(try folder.run("pull", "shop.sqlite", "--rows", "new.store").output.hasSuffix("copied 2 × Item\n"))
    #expect(
      try folder.run("pull", "shop.sqlite", "--rows", "new.json", "--json").output.contains("\"rows\": { \"Item\": 2 }")
    )
    #expect(try folder.run("query", "new.json", "Item", "n == 1", "--count").output == "1\n")
    #expect(try folder.run("pull", "shop.sqlite", "--rows", "new.store").status == 1)
    let values = (3..<50).map { "(\($0), 'c', \($0))" }.joined(separator: ", ")
    try OtherProgram(folder.folder.file("shop.sqlite")).run(
      "INSERT INTO items VALUES \(values); INSERT INTO items VALUES (99, 'x', 'many')")
    let refused = try folder.run("pull", "shop.sqlite", "--rows", "other.store", "--output", "Other.model.json")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("items#99.n: has a text that is no int64"))
    #expect(try folder.names() == ["Shop.model.json", "new.json", "new.store", "shop.sqlite"])
    let lossy = try folder.run("pull", "shop.sqlite", "--rows", "other.store", "--allow-loss")
    #expect(lossy.output.hasSuffix("copied 50 × Item\nleft-out items#99.n: has a text that is no int64\n"))
  }

  @Test("leaves no store behind if the model cannot be written, and one try does not stop the next")
  func wholeOrNothing() throws {
    let folder = try Self.folder()
    for store in ["new.store", "new.json"] {
      let refused = try folder.run("pull", "shop.sqlite", "--rows", store, "--output", "no/such/m.json")
      #expect(refused.status == 74, "\(refused)")
      #expect(try folder.names() == ["shop.sqlite"])
    }
    let same = try folder.run("pull", "shop.sqlite", "--rows", "new.store", "--output", "./new.store")
    #expect(same.status == 64 && same.errors.contains("--rows and --output name the same file"), "\(same)")
    #expect(try folder.names() == ["shop.sqlite"])
    #expect(try folder.run("pull", "shop.sqlite", "--rows", "new.store", "--output", "m.json").status == 0)
    #expect(try folder.names() == ["m.json", "new.store", "shop.sqlite"])
  }

  @Test("names the rows of values that become equal, also in a document")
  func equalValues() throws {
    let folder = try ToolFolder()
    try folder.write([], to: "day.sqlite")
    try OtherProgram(folder.folder.file("day.sqlite")).run(
      "CREATE TABLE day (id INTEGER PRIMARY KEY, d DATE NOT NULL UNIQUE); "
        + "INSERT INTO day VALUES (1, '2020-01-01'), (2, '2020-01-01 00:00:00');")
    for store in ["new.store", "new.json"] {
      let refused = try folder.run("pull", "day.sqlite", "--rows", store)
      #expect(refused.status == 1)
      #expect(
        refused.errors.contains("day#2.d: has to be unique, and is, as a date, the same as in day#1\n"), "\(refused)")
      #expect(try folder.names() == ["day.sqlite"])
    }
    let lossy = try folder.run("pull", "day.sqlite", "--rows", "new.store", "--allow-loss")
    #expect(lossy.output.hasSuffix("the same as in day#1, so the row is left out\n"), "\(lossy)")
  }

  @Test("refuses what it cannot use, with the reason")
  func refusals() throws {
    let folder = try Self.folder()
    try folder.write("text", to: "text")
    for (arguments, status, reason) in [
      (["none.db"], 66, "There is no such file."), (["text"], 66, "is encrypted, or is no SQLite file"),
      (["shop.sqlite", "--name", "1x"], 64, "is no name of a model"),
      (["shop.sqlite", "--sample", "-1"], 64, "--sample needs"),
      (["shop.sqlite", "--allow-loss"], 64, "--allow-loss is for --rows."),
      (["postgresql://127.0.0.1:1/x"], 66, "error: "),
    ] as [([String], Int32, String)] {
      let outcome = try folder.run(["pull"] + arguments)
      #expect(outcome.status == status, "\(arguments): \(outcome)")
      #expect(outcome.errors.contains(reason), "\(arguments): \(outcome)")
    }
    #expect(try folder.names() == ["shop.sqlite", "text"])
  }
}
