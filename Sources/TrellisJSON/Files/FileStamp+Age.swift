import Foundation
import TrellisStorage

extension FileStamp {
  /// Whether the file was written so recently that another write could have the same time. The coarsest file system
  /// clock in use has a resolution of two seconds.
  var isYoung: Bool { abs(Date().timeIntervalSince1970 - Double(modifiedSeconds)) < 3 }
}
