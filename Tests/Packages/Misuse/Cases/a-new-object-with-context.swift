// expect: write in: for the context, and the attributes that need a value
import MisuseModel
import Trellis

func misuse(_ context: ManagedObjectContext) {
  let note = Note(context: context)
  note.text = "a"
}
