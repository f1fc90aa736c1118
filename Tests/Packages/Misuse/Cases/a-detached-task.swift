// expect: sending
import MisuseModel
import Trellis

@MainActor private func misuse(_ note: Note) {
  Task.detached { print(note.text) }
}
