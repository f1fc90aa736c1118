// expect: stored property 'note' of 'Sendable'-conforming struct 'Shared' has non-Sendable type 'Note'
import MisuseModel
import Trellis

private struct Shared: Sendable {
  let note: Note
}
