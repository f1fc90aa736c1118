// expect: sending 'note' risks causing data races
import MisuseModel
import Trellis

actor Keeper {
  func keep(_ note: Note) {}
}

@MainActor func misuse(_ note: Note, _ keeper: Keeper) async {
  await keeper.keep(note)
}
