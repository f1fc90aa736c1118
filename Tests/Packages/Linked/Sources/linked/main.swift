import Foundation
import Trellis
import TrellisLinkedSQLite

// Works on a new store with the library that this program is linked with.
let folder = FileManager.default.temporaryDirectory.appending(path: "linked-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

try SQLiteLibrary.linked.use()
let file = folder.appending(path: "shelf.store")
let container = try PersistentContainer(model: .shelf, store: .sqlite(at: file), log: nil)
let context = container.newContext()
for number in 1...100 { _ = Book(in: context, title: "Book \(number)") }
try context.save()
let found = try context.count(Book.where("title CONTAINS[c] 'book 1'"))
let findings = try container.check()
container.close()
// Nothing was loaded at run time.
let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
let files = Set(maps.split(separator: "\n").compactMap { $0.split(separator: "/").last })
let loaded = files.filter { $0.contains(".so") }.sorted()
print("found \(found), findings \(findings.count), \(loaded.count) dynamic libraries: \(loaded)")
guard found == 12, findings.isEmpty else { exit(1) }
