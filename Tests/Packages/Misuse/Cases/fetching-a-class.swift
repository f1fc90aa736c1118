// expect: fetch takes a request: fetch(EmotionDiary.all), or fetch(EmotionDiary.where { … })
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    for note in try context.fetch(Note.all) { print(note.text) }
  #else
    for note in try context.fetch(Note.self) { print(note.text) }
  #endif
}
