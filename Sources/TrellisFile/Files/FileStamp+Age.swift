import Foundation
import TrellisStorage

extension FileStamp {
  /// Whether the file was written so lately that another write could have the same time. Two seconds is the coarsest clock
  /// of a file system in use.
  var isYoung: Bool { abs(Date().timeIntervalSince1970 - Double(modifiedSeconds)) < 3 }
}
