// expect: the members have no order: write remove(object), or "ordered": true in the model
import MisuseModel
import Trellis

private func misuse(_ note: Note, _ tag: Tag) {
  #if REPAIRED
    note.tags.remove(tag)
  #else
    note.tags.remove(at: 0)
  #endif
}
