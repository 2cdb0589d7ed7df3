import type { Change } from '../core/overlay.ts'

/** What became of a part, with a sign, so that it is not told by its colour alone. */
export const changeLabels: Readonly<Record<Change, string>> = {
  added: '+ added',
  removed: '− removed',
  changed: '≠ changed',
  moved: '↔ moved',
  same: '',
}
