import Foundation
import Testing
import TrellisCSV
import TrellisDynamic
import TrellisJSON
import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisTestSupport

extension DynamicShelf {
  /// Imports a table.
  @discardableResult func table(
    _ text: String, _ entity: String = "Book", _ format: CSVFormat = CSVFormat(), _ policy: MergePolicy = .objectTrump,
    rejecting: JSONRejection = .everything, pieces: Int = 1 << 20
  ) throws -> JSONImportReport {
    try table(Data(text.utf8), entity, format, policy, rejecting: rejecting, pieces: pieces)
  }

  @discardableResult func table(
    _ data: Data, _ entity: String = "Book", _ format: CSVFormat = CSVFormat(), _ policy: MergePolicy = .objectTrump,
    rejecting: JSONRejection = .everything, pieces: Int = 1 << 20
  ) throws -> JSONImportReport {
    let number = try #require(context.model.entities.first { $0.name == entity }).index
    defer { #expect(!context.hasChanges) }
    let report = try context.importJSON(
      [JSONInput(entity: number, from: data, named: "books.csv").asCSV(format)], mergePolicy: policy,
      rejecting: rejecting, pieces: pieces)
    #expect(try container.check().isEmpty)
    return report
  }

  /// The failures of an import of everything.
  func failures(_ text: String, _ entity: String = "Book", _ format: CSVFormat = CSVFormat()) throws -> [String] {
    try failures(Data(text.utf8), entity, format)
  }

  func failures(_ data: Data, _ entity: String = "Book", _ format: CSVFormat = CSVFormat()) throws -> [String] {
    do {
      let report = try table(data, entity, format)
      Issue.record("nothing failed: \(report)")
      return []
    } catch let error as JSONImportError {
      return error.failures.map(\.description)
    }
  }

  func export(_ entity: String = "Book", _ format: CSVFormat = CSVFormat(), columns: [String]? = nil) throws -> String {
    let number = try #require(context.model.entities.first { $0.name == entity }).index
    var bytes: [UInt8] = []
    try context.exportCSV(context.request(for: number), format: format, columns: columns) { bytes += $0 }
    return String(decoding: bytes, as: UTF8.self)
  }
}

@Suite("Tables") struct TableTests {
  private static let model = """
    { "model": "M",
      "enums": { "Kind": { "type": "string", "cases": ["novel", "poem"] } },
      "composites": { "Price": { "attributes": { "amount": "double", "currency": "string?" } },
        "Size": { "attributes": { "width": "int32?", "height": "int32?" } } },
      "entities": {
        "Book": { "json": { "key": "isbn", "style": "snake_case" },
          "attributes": { "isbn": "string", "title": "string", "subtitle": "string?", "pageCount": "int32?", "isNew": { "type": "bool", "default": false },
            "weight": "double?", "fee": "decimal?", "price": "Price?", "size": "Size?", "kind": "Kind?", "token": "uuid?", "photo": "data?",
            "published": { "type": "date?", "json": { "date": "dd.MM.yyyy" } }, "savedAt": "date?", "tags": { "type": "[string]", "default": [] } },
          "relationships": {
            "author": { "destination": "Author", "inverse": "books", "optional": true, "json": true },
            "shelf": { "destination": "Shelf", "inverse": "books", "optional": true, "json": true },
            "related": { "destination": "Book", "inverse": "related", "toMany": true, "json": true } },
          "unique": ["isbn"] },
        "Author": { "json": { "key": "login" }, "attributes": { "login": "string", "name": "string?" }, "unique": ["login"],
          "relationships": { "books": { "destination": "Book", "inverse": "author", "toMany": true } } },
        "Shelf": { "json": { "key": ["room", "number"] }, "attributes": { "room": "string", "number": "int32" },
          "unique": [["room", "number"]],
          "relationships": { "books": { "destination": "Book", "inverse": "shelf", "toMany": true } } } } }
    """

  private func shelf() throws -> DynamicShelf { try DynamicShelf(Self.model) }

  @Test("columns have the names of the mapping, partners are found by their keys, and an import again changes nothing")
  func columns() throws {
    let shelf = try shelf()
    try shelf.table("login,name\nada,Ada\n", "Author")
    try shelf.table("room,number\nA,1\n", "Shelf")
    let text = """
      isbn,title,page_count,price.amount,price.currency,author,shelf.room,shelf.number,related,tags
      1,Dune,412,9.5,EUR,ada,A,1,"[""2""]","[""sand"",""worm""]"
      2,Emma,,,,,,,"[""1""]",
      """
    #expect(try shelf.table(text).inserted.count == 2)
    #expect(
      try shelf.list("Book", ["isbn", "pageCount", "author.login", "shelf.room", "related.isbn"]) == [
        "1 412 ada A 2", "2 -   1",
      ])
    #expect(try shelf.table(text).counts.prefix(2) == [0, 0])
    #expect(try shelf.table("isbn,title\n1,Dune II\n3,New\n").counts == [1, 1, 0, 0, 0, 0])
    #expect(try shelf.list("Book", ["isbn", "title", "pageCount"]) == ["1 Dune II 412", "2 Emma -", "3 New -"])
  }

  @Test("an empty cell is nil, and the empty text stands in quotes, or where nil cannot be meant")
  func nils() throws {
    let shelf = try shelf()
    try shelf.table("isbn,title,subtitle,page_count\n1,,,\n2,\"\",\"\",\"\"\n")
    #expect(try shelf.list("Book", ["isbn", "title", "subtitle", "pageCount"]) == ["1  - -", "2   -"])
    let text = try shelf.export(columns: ["isbn", "title", "subtitle", "page_count"])
    #expect(text == "isbn,title,subtitle,page_count\n1,\"\",,\n2,\"\",\"\",\n")
    var format = CSVFormat()
    format.null = "NULL"
    try shelf.table("isbn,title,subtitle\n3,NULL and more,NULL\n4,a,\"NULL\"\n", "Book", format)
    #expect(try shelf.list("Book", ["isbn", "subtitle"]).suffix(2) == ["3 -", "4 NULL"])
  }

  @Test("each bad cell is told with its line in the file and its column, and nothing is imported")
  func badCells() throws {
    let shelf = try shelf()
    let text =
      "isbn,title,page_count,is_new\r\n1,\"two\r\nlines\",x,true\r\n\r\n2,b,3,perhaps\r\n3,c,99999999999,TRUE\r\n"
    #expect(
      try shelf.failures(text) == [
        "books.csv:3:8 /page_count: Book.pageCount: must be a whole number from -2147483648 to 2147483647 [bad-value]",
        "books.csv:5:7 /is_new: Book.isNew: must be true or false [bad-value]",
        "books.csv:6:5 /page_count: Book.pageCount: must be a whole number from -2147483648 to 2147483647 [bad-value]",
      ])
    #expect(try shelf.list("Book", ["isbn"]).isEmpty)
    let report = try shelf.table("isbn,title\n1,a\n2\n3,c,d\n4,e\n", rejecting: .objects)
    #expect(report.inserted.count == 2)
    #expect(
      report.rejected.map(\.description) == [
        "books.csv:3:1 /: the row has 1 cell, and the first one has 2 [bad-syntax]",
        "books.csv:4:5 /: the row has 3 cells, and the first one has 2 [bad-syntax]",
      ])
  }

  @Test("a header that does not fit is refused, with what could be meant")
  func headers() throws {
    let shelf = try shelf()
    #expect(try shelf.failures("isbn,titel\n1,a\n").first?.contains("'titel' (did you mean 'title'?)") == true)
    #expect(try shelf.failures("title\na\n").first?.contains("the column 'isbn' is missing") == true)
    #expect(try shelf.failures("isbn,isbn\n1,1\n").first?.contains("'isbn' comes twice") == true)
    #expect(try shelf.failures("").first?.contains("the file is empty") == true)
    var format = CSVFormat()
    format.skipsUnknownColumns = true
    #expect(try shelf.table("isbn,titel,title\n1,a,b\n", "Book", format).inserted.count == 1)
    // pandas writes the numbers of rows in a column without a name.
    #expect(try shelf.table(",isbn,title\n0,7,b\n").inserted.count == 1)
  }

  @Test("files of spreadsheets, databases and scripts are read as they are")
  func writers() throws {
    let expected = ["1 Größe 1.5", "2 a;b -"]
    func check(_ data: Data, _ format: CSVFormat = CSVFormat(), note: Comment) throws {
      let shelf = try shelf()
      try shelf.table(data, "Book", format, pieces: 3)
      #expect(try shelf.list("Book", ["isbn", "title", "fee"]) == expected, note)
    }
    var german = CSVFormat()
    german.hasDecimalCommas = true
    let excel = "isbn;title;fee\r\n1;Größe;1,5\r\n2;\"a;b\";\r\n"
    try check(Data("\u{FEFF}\(excel)".utf8), german, note: "Excel, UTF-8")
    try check(Data("sep=;\r\n\(excel)".utf8), german, note: "Excel with sep=")
    var windows = german
    windows.encoding = .windows1252
    try check(Data(excel.unicodeScalars.map { UInt8($0.value) }), windows, note: "Excel, windows-1252")
    let unicode = "isbn\ttitle\tfee\r\n1\tGröße\t1.5\r\n2\ta;b\t\r\n"
    try check(
      Data([0xFF, 0xFE]) + unicode.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }, note: "Excel, Unicode text")
    try check(Data([0xFE, 0xFF]) + unicode.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }, note: "UTF-16BE")
    try check(Data("isbn,title,fee\r1,Größe,1.5\r2,a;b,\r".utf8), note: "CR alone")
    try check(Data("isbn,title,fee\n1,Größe,1.5\n2,a;b,".utf8), note: "no line end at the end")
    try check(
      Data("\"isbn\",\"title\",\"fee\"\n\"1\",\"Größe\",\"1.5\"\n\"2\",\"a;b\",\"\"\n".utf8), note: "all quoted")
    var mysql = CSVFormat()
    mysql.hasBackslashes = true
    try check(Data("\"isbn\",\"title\",\"fee\"\n\"1\",\"Größe\",1.5\n\"2\",\"a;b\",\\N\n".utf8), mysql, note: "MySQL")
    let postgres = try shelf()
    try postgres.table(
      "isbn,title,is_new,saved_at,photo,token\n1,a,t,2026-01-31 09:30:00+09,\\x4869,e621e1f8-c36c-495a-93fc-0c247a3e6e5f\n"
    )
    #expect(
      try postgres.export(columns: ["isbn", "is_new", "saved_at", "photo"])
        == "isbn,is_new,saved_at,photo\n1,true,2026-01-31T00:30:00Z,SGk=\n")
  }

  @Test("numbers with commas are refused, unless they are asked for")
  func decimalCommas() throws {
    let shelf = try shelf()
    for text in ["1,5", "1.234,5", "1,234.5"] {
      let failure = try shelf.failures("isbn;title;fee\n1;a;\(text)\n").first
      #expect(failure?.contains("and with a point before the fraction") == true)
    }
    var format = CSVFormat(separator: .semicolon)
    format.hasDecimalCommas = true
    try shelf.table("isbn;title;fee\n1;a;1,50\n", "Book", format)
    #expect(try shelf.export("Book", format, columns: ["isbn", "fee"]) == "isbn;fee\n1;1,5\n")
    #expect(try shelf.failures("isbn;title;fee\n1;a;1.5\n", "Book", format).first?.contains("with a comma") == true)
  }

  @Test("a text that a spreadsheet would run has an apostrophe in a file for one, and no other file")
  func formulas() throws {
    let shelf = try shelf()
    var format = CSVFormat()
    format.isForSpreadsheet = true
    try shelf.table("isbn,title,page_count\n1,=1+1,-5\n2,'quoted,1\n3,it's,2\n")
    let text = try shelf.export("Book", format, columns: ["isbn", "title", "page_count"])
    #expect(text == "\u{FEFF}isbn,title,page_count\r\n1,'=1+1,-5\r\n2,''quoted,1\r\n3,it's,2\r\n")
    #expect(try shelf.table(text, "Book", format).unchanged.count == 3)
    #expect(try shelf.export(columns: ["isbn", "title"]).hasPrefix("isbn,title\n1,=1+1\n"))
  }

  @Test("a list is JSON, or has a separator that is asked for")
  func lists() throws {
    let shelf = try shelf()
    #expect(try shelf.failures("isbn,title,tags\n1,a,x|y\n").first?.contains("[bad-value]") == true)
    var format = CSVFormat()
    format.listSeparator = "|"
    try shelf.table("isbn,title,tags,related\n1,a,x|y,2\n2,b,,1\n3,c,\"[\"\"p|q\"\"]\",\n", "Book", format)
    #expect(try shelf.list("Book", ["isbn", "tags", "related.isbn"]) == [#"1 ["x","y"] 2"#, "2 [] 1", #"3 ["p|q"] "#])
  }

  @Test("a value of a composite without a value of a field is one")
  func emptyComposites() throws {
    let shelf = try shelf()
    try shelf.table("isbn,title,size,size.width,size.height\n1,a,true,,\n2,b,,,\n3,c,,4,\n")
    let text = try shelf.export(columns: ["isbn", "size", "size.width", "size.height"])
    #expect(text == "isbn,size,size.width,size.height\n1,true,,\n2,,,\n3,true,4,\n")
  }

  @Test("quotes that do not end are told where they begin")
  func openQuotes() throws {
    let failures = try shelf().failures("isbn,title\n1,a\n2,\"b\n3,c\n")
    #expect(failures == ["books.csv:3:3 /: the quotes that begin here do not end [bad-syntax]"])
    #expect(
      try shelf().failures("isbn,title\n1,\"a\"b\n") == [
        "books.csv:2:6 /title: the cell goes on after its closing quote [bad-syntax]"
      ])
    #expect(
      try shelf().failures(Data("isbn,title\n1,a\n2,".utf8) + [0xFF, 0x0A]).first?.contains("books.csv:3:3") == true)
  }
}
