import Foundation
import ImportModel
import Trellis
import TrellisJSON

// import-trellis STORE SPECIES CREATURES: imports the documents, and prints the numbers of objects, and the most memory used.
let arguments = CommandLine.arguments
let container = try PersistentContainer(
  model: .creatures, store: .sqlite(at: URL(filePath: arguments[1]), durability: .relaxed), log: nil)
let context = container.newContext()
try context.importJSON(Species.self, from: URL(filePath: arguments[2]))
let report = try context.importJSON(Creature.self, from: URL(filePath: arguments[3]))
let problems = report.rejected + report.unresolved
guard problems.isEmpty else { fatalError("\(problems.prefix(3))") }
print(report.inserted.count, report.updated.count, report.unchanged.count)
// A parent's memory would count in the figure that the system tells a parent.
if let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) {
  print(status.split(separator: "\n").first { $0.hasPrefix("VmHWM") } ?? "")
}
