// expect: write EmotionDiary.all or EmotionDiary.where { … }
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.all)
  #else
    _ = try context.fetch(Note.fetchRequest())
  #endif
}
