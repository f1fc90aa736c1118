// expect: read the property: object.content
import MisuseModel
import Trellis

private func misuse(_ note: Note) {
  #if REPAIRED
    _ = note.text
  #else
    _ = note.value(forKey: "text")
  #endif
}
