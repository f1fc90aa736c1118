import CSQLite
import Foundation
import TrellisAdoption
import TrellisTestSupport

/// A SQLite file of another program, and the place of the store that is made of it.
struct AdoptionTestFile {
  let folder: TestFolder
  let source: URL
  let target: URL

  init(_ sql: String, name: String = "Shop") throws {
    folder = try TestFolder()
    source = folder.file("\(name).sqlite")
    target = folder.file("\(name).db")
    try Data().write(to: source)
    try OtherProgram(source).run(sql)
  }

  func database(name: String? = nil, sample: Int = AdoptedDatabase.defaultSample) throws -> AdoptedDatabase {
    try AdoptedDatabase(sqlite: source, name: name, sample: sample)
  }

  /// The lines of the model that have a text.
  func lines(_ text: String) throws -> [String] {
    try database().modelText().split(separator: "\n").map(String.init).filter { $0.contains(text) }
  }

  /// The values of a query of the new store, which has plain tables.
  func copied(_ sql: String) throws -> [String] { try OtherProgram(target).texts(sql) }
}
