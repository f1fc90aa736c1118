// expect: value of type 'Note' has no member 'addToPages'
import MisuseModel
import Trellis

private func misuse(_ note: Note, _ page: Page) {
  #if REPAIRED
    note.pages.append(page)
  #else
    note.addToPages(page)
  #endif
}
