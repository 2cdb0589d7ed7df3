import type { Change } from '../core/overlay.ts'

/** Labels of changes. Each has a sign, so that color is not the only cue. */
export const changeLabels: Readonly<Record<Change, string>> = {
  added: '+ added',
  removed: '− removed',
  changed: '≠ changed',
  moved: '↔ moved',
  same: '',
}
