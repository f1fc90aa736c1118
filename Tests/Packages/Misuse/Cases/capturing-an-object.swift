// expect: sending
import MisuseModel
import Trellis

@MainActor private func misuse(_ container: PersistentContainer, _ note: Note) async throws {
  try await container.perform { _ in note.text = "other" }
}
