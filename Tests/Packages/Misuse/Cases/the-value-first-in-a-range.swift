// expect: write the attribute first: $0.number >= 3
import Foundation
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext, _ begin: Date, _ end: Date) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.sentAt >= begin && $0.sentAt < end })
  #else
    _ = try context.fetch(Note.where { begin <= $0.sentAt && $0.sentAt < end })
  #endif
}
