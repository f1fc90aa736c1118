// expect: begin with all: EmotionDiary.all.limit(count)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.all.limit(3))
  #else
    _ = try context.fetch(Note.limit(3))
  #endif
}
