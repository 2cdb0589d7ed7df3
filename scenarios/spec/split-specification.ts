/** What the specification says in one place: a sentence (`4.2/s7`) or a row of a table (`8.1/r3`). */
export interface Statement {
  id: string
  says: string
}

/** Behind an abbreviation a sentence continues in lower case. */
const BETWEEN_SENTENCES = /(?<=\.[`)]?) +(?=[A-Z`])/
const SEPARATOR = /^\|[\s:|-]+\|$/

/**
 * Every sentence and every table row of the specification, in its order. They are numbered within their section, sentences
 * and rows by themselves; what stands before the first section is of section 0. A heading and the head of a table say nothing.
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
