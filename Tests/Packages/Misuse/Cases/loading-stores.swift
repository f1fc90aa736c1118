// expect: PersistentContainer(model:store:) opens the store
import MisuseModel
import Trellis

@MainActor private func misuse(_ container: PersistentContainer) {
  #if REPAIRED
    container.close()
  #else
    container.loadPersistentStores { _, _ in }
  #endif
}
