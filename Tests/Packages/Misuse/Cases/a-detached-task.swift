// expect: sending
import MisuseModel
import Trellis

@MainActor func misuse(_ note: Note) {
  Task.detached { print(note.text) }
}
