// expect: 'newBackgroundContext()' has been renamed to 'newContext()'
import MisuseModel
import Trellis

@MainActor private func misuse(_ container: PersistentContainer) {
  #if REPAIRED
    _ = container.newContext()
  #else
    _ = container.newBackgroundContext()
  #endif
}
