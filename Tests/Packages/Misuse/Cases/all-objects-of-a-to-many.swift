// expect: objects is an array of its members
import MisuseModel
import Trellis

private func misuse(_ note: Note) {
  #if REPAIRED
    let pages = note.pages.objects
  #else
    let pages = note.pages.allObjects
  #endif
}
