// expect: 'viewContext' has been renamed to 'mainContext'
import MisuseModel
import Trellis

@MainActor private func misuse(_ container: PersistentContainer) {
  #if REPAIRED
    _ = container.mainContext
  #else
    _ = container.viewContext
  #endif
}
