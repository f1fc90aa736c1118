// One program for all targets beside this one: what a consumer writes builds and runs under the settings that people use.
import Foundation
import Trellis

nonisolated extension Entry {
  static func willSave(_ entry: Entry) throws { entry.draft = "saved" }
  static func didFetch(_ entry: Entry) { entry.draft = "fetched" }
  static func validateInsert(_ entry: Entry) throws {
    if entry.title == "refused" { throw CocoaError(.userCancelled) }
  }
}

func check(_ condition: Bool, _ line: Int = #line) {
  if !condition { fatalError("line \(line)") }
}

/// What a program does with a request and its results.
struct Shelf {
  var request: Entry.FetchRequest = Entry.where { $0.mood == .good }.sorted { $0.day.descending }

  func titles(in context: ManagedObjectContext) throws -> [String] { try context.fetch(request).map(\.title) }
}

let container = try PersistentContainer(model: .journal, store: .memory)
let context = container.mainContext
let entry = LongEntry(in: context, title: "one", place: Place(city: "Seoul"), price: 12.5, picture: Data([1, 2]))
entry.pages = [Page(in: context, number: 1), Page(in: context, number: 2)]
entry.pages.move(from: 1, to: 0)
entry.labels.append(Label(in: context, name: "first"))
try context.save()
check(entry.draft == "saved" && entry.pages.map(\.number) == [2, 1])

check(try Shelf().titles(in: context) == ["one"])
check(try context.fetch(Entry.where("title BEGINSWITH \("on") AND ANY pages.number > %d", 1)).count == 1)
check(try context.fetch(Entry.titled(title: "one", moods: [.good])).first?.place?.city == "Seoul")
check(try context.fetch(Entry.where { $0.pages.any { $0.number == 2 } }).first === entry)
let live: Entry.LiveResults = try context.live(Entry.all)
check(live.count == 1)

let snapshot = entry.snapshot
let decoded = try JSONDecoder().decode(LongEntry.Snapshot.self, from: JSONEncoder().encode(snapshot))
check(decoded == snapshot && decoded.weight == .heavy)

let titles = try await container.perform { context in
  _ = Entry(in: context, title: "two", mood: .bad)
  try context.save()
  return try context.fetch(Entry.all.sorted { $0.title }).map(\.snapshot.title)
}
check(titles == ["one", "two"])

_ = Entry(in: context, title: "")
do {
  try context.save()
  check(false)
} catch let error as ValidationError {
  check(error.failures.map(\.property) == ["title"])
}
context.rollback()
check(context.hasChanges == false)
