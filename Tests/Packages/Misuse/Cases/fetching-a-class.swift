// expect: fetch takes a request: fetch(EmotionDiary.all), or fetch(EmotionDiary.where { … })
import MisuseModel
import Trellis

func misuse(_ context: ManagedObjectContext) throws {
  for note in try context.fetch(Note.self) { print(note.text) }
}
