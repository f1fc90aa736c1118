import Foundation
import Trellis
import TrellisSync

func run(_ words: [String], in folder: URL) async throws {
  let name = words.first ?? "server"
  let shared = folder.appending(path: "shared")
  try FileManager.default.createDirectory(at: shared, withIntermediateDirectories: true)
  let container = try PersistentContainer(
    model: .diaries, store: .sqlite(at: folder.appending(path: "\(name).sqlite")))
  if name == "server" {
    await FolderServer(try SyncServer(container), in: shared).run()
    return
  }
  let context = container.newContext()
  if words.count > 1 {
    _ = Entry(in: context, text: words[1])
    try context.save()
  }
  let session = try SyncSession(container)
  session.start(with: FolderTransport(shared))
  try await session.now()
  for entry in try context.fetch(Entry.all.sorted { $0.writtenAt }) { print("\(name): \(entry.text)") }
}

/// The last line of the sample's program.
func runAsProgram() async throws {
  try await run(Array(CommandLine.arguments.dropFirst()), in: URL(filePath: "."))
}
