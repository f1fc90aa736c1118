import Foundation
import Trellis
import TrellisDexModel
import TrellisJSON

// `swift run dex` imports documents in the shape of PokeAPI, and prints what a live list of the quick creatures reports.
let container = try PersistentContainer(model: .dex, store: .memory)
let context = container.newContext()
let live = try context.live(Pokemon.where { $0.speed >= 50 }.sorted { $0.speed.descending }.limit(5))

/// Prints a title, and the changes of the list that some work leads to.
@MainActor func tell(_ title: String, _ work: () throws -> Void) async throws {
  print("\n\(title)")
  let changes = live.changes
  try work()
  for await change in changes {
    try show(change)
    break
  }
  print("  now: \(live.map { "\($0.title) \($0.speed)" }.joined(separator: ", "))")
}

@MainActor func show(_ change: LiveChange<Pokemon>) throws {
  func name(_ id: Pokemon.ID) throws -> String { try context.object(with: id)?.name ?? "\(id)" }
  for step in change.steps {
    switch step {
    case .delete(let id, let place): print("  - \(place)  \(id)")
    case .insert(let id, let place): print("  + \(place)  \(try name(id))")
    case .move(let id, let source, let target): print("  > \(source) to \(target)  \(try name(id))")
    case .update(let id, let place): print("  ~ \(place)  \(try name(id))")
    }
  }
}

func show(_ report: JSONImportReport) {
  print("  \(report.inserted.count) new, \(report.updated.count) changed, \(report.unchanged.count) as before")
  for failure in report.unresolved { print("  open: \(failure)") }
  for failure in report.rejected { print("  left out: \(failure)") }
}

print("Species, and an evolution chain that refers to them")
show(try context.importJSON(Species.self, from: Data(Documents.species.utf8), layout: .lines))
show(try context.importJSON(EvolutionChain.self, from: Data(Documents.chain.utf8)))
var step = try context.first(EvolutionChain.all)?.first
while let link = step {
  print("  \(link.species?.koreanName ?? "") \(link.species?.name ?? ""), by \(link.trigger ?? "birth")")
  step = link.evolvesTo.first
}

try await tell("The first import of creatures") {
  show(try context.importJSON(Pokemon.self, from: Data(Documents.first.utf8)))
}
try await tell("A nickname, which no document knows") {
  try context.first(Pokemon.where { $0.number == 25 })?.nickname = "Volt"
  try context.save()
}
try await tell("The second import: one is quicker, one is new, one is impossible") {
  show(try context.importJSON(Pokemon.self, from: Data(Documents.second.utf8)))
}

print("\nThe first one again, where it may only fill gaps")
show(try context.importJSON(Pokemon.self, from: Data(Documents.first.utf8), mergePolicy: .storeTrump))
print("  charmander keeps \(try context.first(Pokemon.where { $0.number == 4 })?.speed ?? 0)")

print("\nOne creature as a document")
let creature = Pokemon.where { $0.number == 25 }
print(String(decoding: try context.exportJSON(creature, layout: .lines), as: UTF8.self), terminator: "")
