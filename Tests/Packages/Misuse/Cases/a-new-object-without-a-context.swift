// expect: write in: for the context, and the attributes that need a value
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) {
  #if REPAIRED
    let page = Page(in: context, size: 3)
  #else
    let page = Page()
  #endif
}
