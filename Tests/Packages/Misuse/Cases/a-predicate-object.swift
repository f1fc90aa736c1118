// expect: write the format itself, where("number > %d", 3), or a block
import Foundation
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext, _ predicate: NSPredicate) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where("stars > %d", 3))
  #else
    _ = try context.fetch(Note.where(predicate))
  #endif
}
