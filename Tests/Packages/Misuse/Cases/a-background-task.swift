// expect: write try await container.perform { context in … }
import MisuseModel
import Trellis

@MainActor private func misuse(_ container: PersistentContainer) async throws {
  #if REPAIRED
    try await container.perform { context in print(context.hasChanges) }
  #else
    container.performBackgroundTask { context in print(context.hasChanges) }
  #endif
}
