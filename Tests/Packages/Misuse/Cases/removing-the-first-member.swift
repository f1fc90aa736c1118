// expect: write remove(object), or remove(at: 0) if it is ordered
import MisuseModel
import Trellis

private func misuse(_ note: Note) {
  #if REPAIRED
    note.pages.remove(at: 0)
  #else
    note.pages.removeFirst()
  #endif
}
