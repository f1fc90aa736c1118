// expect: write append(object)
import MisuseModel
import Trellis

private func misuse(_ note: Note, _ page: Page) {
  #if REPAIRED
    note.pages.append(page)
  #else
    note.pages.insert(page)
  #endif
}
