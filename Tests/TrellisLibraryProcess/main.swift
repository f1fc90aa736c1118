// Chooses libraries in the order of its arguments, works on the store whose path is the first one, and prints what comes of each.
// A process has one library, so each test has a process.

import CTestLibrary
import Foundation
import Trellis

let words = Array(CommandLine.arguments.dropFirst())
let url = URL(filePath: words.first ?? "")

func table(_ fault: test_library_fault, lacking name: String? = nil) throws -> SQLiteLibrary {
  guard let table = test_library(fault, name) else { throw CocoaError(.featureUnsupported) }
  return .functions(table)
}

func work(key: (@Sendable () throws -> Data)? = nil) throws -> String {
  let container = try PersistentContainer(model: .shelf, store: .sqlite(at: url, key: key), log: nil)
  defer { container.close() }
  let context = container.newContext()
  _ = Book(in: context, title: "No. \(try context.count(Book.all) + 1)")
  try context.save()
  return "\(try context.count(Book.where("title CONTAINS 'No.'"))) books, \(try container.check().count) findings"
}

func outcome(of word: String) throws -> String {
  let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
  switch parts[0] {
  case "system": try SQLiteLibrary.system.use()
  case "file": try SQLiteLibrary.file(parts[1]).use()
  case "table": try table(test_library_none).use()
  case "lacking": try table(test_library_none, lacking: parts[1]).use()
  case "old": try table(test_library_is_old).use()
  case "newer": try table(test_library_is_newer).use()
  case "pretending": try table(test_library_pretends_to_encrypt).use()
  case "work": return try work()
  case "key": return try work { Data("a key".utf8) }
  case "openings": return test_library_openings() > 0 ? "opened through the table" : "not opened through the table"
  default: return "unknown"
  }
  return "chosen"
}

for word in words.dropFirst() {
  do {
    print("\(word): \(try outcome(of: word))")
  } catch {
    print("\(word): \(error)")
  }
}
