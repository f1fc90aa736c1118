// expect: sending 'note' risks causing data races
import MisuseModel
import Trellis

private actor Keeper {
  func keep(_ note: Note) {}
}

@MainActor private func misuse(_ note: Note, _ keeper: Keeper) async {
  await keeper.keep(note)
}
