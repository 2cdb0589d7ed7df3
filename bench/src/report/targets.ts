export interface Target {
  what: string
  wanted: number
  found: number
  /** Whether higher or lower is better. */
  better: 'more' | 'less'
  say: (value: number) => string
}

/** One line per target: met or missed, and by how much. */
export function formatTargets(targets: Target[]): string {
  return targets.map(formatTarget).join('\n')
}

function formatTarget({ what, wanted, found, better, say }: Target): string {
  const met = better === 'more' ? found >= wanted : found <= wanted
  const sign = better === 'more' ? '≥' : '≤'
  const percent = (Math.abs(found / wanted - 1) * 100).toFixed(0)
  const off = wanted === 0 ? '' : ` (${percent} % ${found >= wanted ? 'above' : 'below'})`
  return `- ${what} ${sign} ${say(wanted)}: ${say(found)}, **${met ? 'met' : 'missed'}**${off}`
}
