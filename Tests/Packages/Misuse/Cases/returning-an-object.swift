// expect: objects belong to their context; pass the objectID or the snapshot instead
import MisuseModel
import Trellis

private func misuse(_ container: PersistentContainer) async throws {
  _ = try await container.perform { context in try context.fetch(Note.all) }
}
