import Foundation
import ImportModel
import Trellis
import TrellisJSON

// import-trellis STORE SPECIES CREATURES [LINES]: imports the documents, and prints what there is.
let arguments = CommandLine.arguments
let container = try PersistentContainer(
  model: .creatures, store: .sqlite(at: URL(filePath: arguments[1]), durability: .relaxed), log: nil)
let context = container.newContext()
try context.importJSON(Species.self, from: URL(filePath: arguments[2]))
let report = try context.importJSON(Creature.self, from: URL(filePath: arguments[3]))
let problems = report.rejected + report.unresolved
guard problems.isEmpty else { fatalError("\(problems.prefix(3))") }
print(report.inserted.count, report.updated.count, report.unchanged.count)
