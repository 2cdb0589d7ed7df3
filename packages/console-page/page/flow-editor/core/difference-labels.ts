import type { Difference } from '@gateway/flow/compare/difference'

const SHOWN = 3

/** One-line summary of how the canvas differs from a saved revision. */
export function differenceLabels({ parts, moved, runsTheSame }: Difference): string {
  if (parts.length === 0 && moved.length === 0) return 'Same as the canvas'
  if (parts.length === 0) return 'Only positions differ'
  const named = parts.slice(0, SHOWN).map(({ key, change, fields }) => {
    const what = change === 'changed' ? `${fields.join(' and ')} changed` : change
    return `${key.replace(/^node /, '')}: ${what}`
  })
  const more = parts.length > SHOWN ? ` and ${parts.length - SHOWN} more` : ''
  return `On the canvas ${named.join(', ')}${more}${runsTheSame ? ' (runs the same)' : ''}`
}
