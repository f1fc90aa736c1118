// expect: an attribute without a default needs a value
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) {
  #if REPAIRED
    let page = Page(in: context, size: 3)
  #else
    let page = Page(in: context)
  #endif
}
