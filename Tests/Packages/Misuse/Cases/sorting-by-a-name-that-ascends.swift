// expect: write sorted(by: "name"), or sorted(by: "-name")
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.all.sorted(by: "-stars"))
  #else
    _ = try context.fetch(Note.all.sorted(by: "stars", ascending: false))
  #endif
}
