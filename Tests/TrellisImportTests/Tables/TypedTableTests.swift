import Foundation
import Testing
import Trellis
import TrellisCSV
import TrellisJSON
import TrellisTestSupport

@Suite("Tables of generated classes") struct TypedTableTests {
  @Test("the sample of the guide runs as it says")
  func guide() throws {
    let context = try Shelf().context
    let table = Data("id,full_name\n1,Lee\n2,\"Kim, A\"\n".utf8)
    let report = try context.importCSV(Author.self, from: table)
    print(report.inserted.count, "new,", report.updated.count, "changed")
    let data = try context.exportCSV(Author.all.sorted { $0.fullName }, columns: ["id", "full_name"])
    #expect(report.inserted.count == 2 && report.updated.isEmpty)
    #expect(String(decoding: data, as: UTF8.self) == "id,full_name\n2,\"Kim, A\"\n1,Lee\n")
    #expect(try GuideText("ImportingCSV.md").samples(missingFrom: #filePath) == [])
  }

  @Test("a file is read by its URL, in a form that is told, and an error has the first failures")
  func files() throws {
    let folder = try TestFolder()
    let url = URL(filePath: folder.path("a.csv"))
    try Data("id;full_name\n1;Lee\nx;Kim\n".utf8).write(to: url)
    let context = try Shelf().context
    var steps = 0
    let error = try #require(throws: JSONImportError.self) {
      try context.importCSV(Author.self, from: url, format: CSVFormat(separator: .semicolon)) { _ in steps += 1 }
    }
    #expect(error.failures.map { $0.place?.description } == ["a.csv:3:1 /"])
    #expect(steps > 0 && !context.hasChanges)
    #expect(throws: JSONExportError.self) { try context.exportCSV(Author.all, columns: ["nothing"]) }
    #expect("\(CSVFormat(separator: .tab))" == "CSV with tabs")
  }
}
