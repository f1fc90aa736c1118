import Foundation
import Trellis
import TrellisDexModel

// `swift run dex` imports a catalogue three times, and prints the changes that a live list of the quick ones reports.
let container = try PersistentContainer(model: .dex, store: .memory)
let context = container.newContext()
let live = try context.live(Pokemon.where { $0.speed >= 45 }.sorted { $0.name }.limit(5))

/// Prints the result of some work, step by step.
@MainActor func tell(_ title: String, _ work: () throws -> Void) async throws {
  print("\n\(title)")
  let changes = live.changes
  try work()
  for await change in changes {
    try show(change)
    break
  }
  print("  now: \(live.map(\.name).joined(separator: ", "))")
}

@MainActor func show(_ change: LiveChange<Pokemon>) throws {
  for step in change.steps {
    switch step {
    case .delete(let id, let place): print("  - \(place)  \(id)")
    case .insert(let id, let place): print("  + \(place)  \(try context.object(with: id)?.name ?? "\(id)")")
    case .move(let id, let source, let target):
      print("  > \(source) to \(target)  \(try context.object(with: id)?.name ?? "\(id)")")
    case .update(let id, let place): print("  ~ \(place)  \(try context.object(with: id)?.name ?? "\(id)")")
    }
  }
}

try await tell("The first import") {
  let count = try Pokemon.importCatalogue(Data(Catalogue.first.utf8), into: context)
  print("  \(count) new")
}
try await tell("A nickname, which no catalogue knows") {
  try context.first(Pokemon.where { $0.number == 25 })?.nickname = "Volt"
  try context.save()
}
try await tell("The second import: one is quicker now, one has another name, one is new") {
  let count = try Pokemon.importCatalogue(Data(Catalogue.second.utf8), into: context)
  print("  \(count) new, \(try context.count(Pokemon.all)) in all")
}
try await tell("The first one again, where it may only fill gaps: one of its creatures was let go") {
  if let bulbasaur = try context.first(Pokemon.where { $0.number == 1 }) { try context.delete(bulbasaur) }
  try context.save()
  let count = try Pokemon.importCatalogue(Data(Catalogue.first.utf8), into: context, .storeTrump)
  print("  \(count) new, Zippo is still \(try context.first(Pokemon.where { $0.number == 4 })?.name ?? "gone")")
}
try await tell("One is let go") {
  if let pikachu = try context.first(Pokemon.where { $0.number == 25 }) {
    print("  good-bye, \(pikachu.nickname ?? pikachu.name)")
    try context.delete(pikachu)
  }
  try context.save()
}
