import SwiftUI
import Trellis
import TrellisUI

/// The scene of an app.
@MainActor func diaryScene(_ container: PersistentContainer) -> some Scene {
  WindowGroup { DiaryScreen() }.trellisContainer(container)
}
