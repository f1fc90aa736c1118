// expect: set the property: object.content = text
import MisuseModel
import Trellis

private func misuse(_ note: Note) {
  #if REPAIRED
    note.text = "a"
  #else
    note.setValue("a", forKey: "text")
  #endif
}
