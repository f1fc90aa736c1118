// expect: begin with all: EmotionDiary.all.sorted
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.all.sorted { $0.stars })
  #else
    _ = try context.fetch(Note.sorted { $0.stars })
  #endif
}
