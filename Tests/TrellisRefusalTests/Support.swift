import Foundation
import Testing
import Trellis
import TrellisTestSupport

extension Trait where Self == TimeLimitTrait {
  /// Far more than is needed: what is meant is that it ends.
  static var ends: Self { .timeLimit(.minutes(60)) }
}
