// expect: write remove(object), or remove(at: count - 1) if it is ordered
import MisuseModel
import Trellis

private func misuse(_ note: Note) {
  #if REPAIRED
    note.pages.remove(at: note.pages.count - 1)
  #else
    note.pages.removeLast()
  #endif
}
