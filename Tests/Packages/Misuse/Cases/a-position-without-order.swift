// expect: the members have no order: write append(object), or "ordered": true in the model
import MisuseModel
import Trellis

private func misuse(_ note: Note, _ tag: Tag) {
  #if REPAIRED
    note.tags.append(tag)
  #else
    note.tags.insert(tag, at: 0)
  #endif
}
