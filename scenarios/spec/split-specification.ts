/** A sentence (`4.2/s7`) or a table row (`8.1/r3`) of the specification. */
export interface Statement {
  id: string
  says: string
}

/** A lowercase word after a period continues the sentence, as after an abbreviation. */
const BETWEEN_SENTENCES = /(?<=\.[`)]?) +(?=[A-Z`])/
const SEPARATOR = /^\|[\s:|-]+\|$/

/**
 * Every sentence and table row of the specification, in order. Sentences and rows are numbered separately within their section; text
 * before the first section is section 0. Headings and table headers are skipped.
 */
export function splitSpecification(markdown: string): Statement[] {
  const statements: Statement[] = []
  let section = '0'
  let count = { s: 0, r: 0 }
  const add = (kind: 's' | 'r', says: string) => statements.push({ id: `${section}/${kind}${++count[kind]}`, says })

  const lines = markdown.split('\n').map((line) => line.trim())
  for (const [n, line] of lines.entries()) {
    const [, number] = /^#+ (\d+(?:\.\d+)?)/.exec(line) ?? []
    if (number !== undefined) [section, count] = [number, { s: 0, r: 0 }]
    if (line === '' || line.startsWith('#') || SEPARATOR.test(line)) continue
    if (line.startsWith('|')) {
      if (!SEPARATOR.test(lines[n + 1] ?? '')) add('r', line)
    } else for (const sentence of line.replace(/^(?:[-*]|\d+\.) /, '').split(BETWEEN_SENTENCES)) add('s', sentence)
  }
  return statements
}
