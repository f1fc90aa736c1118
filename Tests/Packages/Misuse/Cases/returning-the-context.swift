// expect: a context stays where it was made; use container.perform or a context of your own
import MisuseModel
import Trellis

private func misuse(_ container: PersistentContainer) async throws {
  _ = try await container.perform { context in context }
}
