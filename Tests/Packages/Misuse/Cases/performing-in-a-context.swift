// expect: use the context where it was made
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) {
  #if REPAIRED
    print(context.hasChanges)
  #else
    context.perform { print(context.hasChanges) }
  #endif
}
