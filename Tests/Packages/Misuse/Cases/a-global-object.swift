// expect: objects belong to their context; pass the objectID or the snapshot instead
import MisuseModel
import Trellis

struct Shared: Sendable {
  let note: Note
}
