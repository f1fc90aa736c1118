// expect: ask the context: try context.fetch(EmotionDiary.all)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.all)
  #else
    _ = try Note.fetchAll(context)
  #endif
}
