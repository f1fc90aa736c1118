// expect: an object belongs to a context from the start
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext, _ note: Note) {
  #if REPAIRED
    _ = Page(in: context, size: 3, note: note)
  #else
    context.insert(note)
  #endif
}
