import type { Figures } from '../load/figures.ts'

/** A Markdown table whose columns also align in plain text. The first column is text, the others are figures. */
export function table(head: string[], rows: string[][]): string {
  const widths = head.map((_, n) => Math.max(3, ...[head, ...rows].map((row) => (row[n] ?? '').length)))
  const line = (row: string[]) =>
    `| ${widths.map((width, n) => (n === 0 ? (row[n] ?? '').padEnd(width) : (row[n] ?? '').padStart(width))).join(' | ')} |`
  const rule = `| ${widths.map((width, n) => (n === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

/** Calls per second, p50 and p99 as cells. */
export function cells({ perSecond, p50Ms, p99Ms }: Figures): string[] {
  return [whole(perSecond), ms(p50Ms), ms(p99Ms)]
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

export function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 1)} ms`
}

/** `44.1×` */
export function times(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 1)}×`
}
