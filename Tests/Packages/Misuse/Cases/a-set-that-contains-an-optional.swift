// expect: write isIn after the attribute: $0.number.isIn([1, 2])
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext, _ memos: Set<String>) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.memo.isIn(memos.map(Optional.some)) })
  #else
    _ = try context.fetch(Note.where { memos.contains($0.memo) })
  #endif
}
