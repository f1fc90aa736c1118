// expect: write deleteAll(EmotionDiary.all)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    try context.deleteAll(Note.all)
  #else
    try context.delete(model: Note.self)
  #endif
}
