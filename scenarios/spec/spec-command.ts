import { readTable } from './read-table.ts'
import type { Statement } from './split-specification.ts'
import { capabilities } from './table/capabilities.ts'

// `npm run spec`: how many statements of the specification have their tests, by section, and what lacks something.
// `npm run spec -- 4.2/s7`: what proves that one; `4.2`: what proves each of that section.

const { statements, problems, rowOf } = readTable()
const [wanted] = process.argv.slice(2)
const lines = wanted === undefined ? summary() : statements.filter(({ id }) => isOf(id, wanted)).flatMap(detailsOf)
process.stdout.write(lines.length === 0 ? `The specification has no ${wanted}.\n` : `${lines.join('\n')}\n`)
process.exitCode = lines.length === 0 || problems.length > 0 ? 1 : 0

function isOf(id: string, wanted: string): boolean {
  return id === wanted || id.startsWith(`${wanted}/`)
}

function detailsOf({ id, says }: Statement): string[] {
  const row = rowOf(id)
  if (row === undefined) return [`${id}  ${says}`, '  has no row']
  if (!('provedBy' in row)) return [`${id}  ${says}`, `  ${'because' in row ? row.because : row.lacks}`]
  return [
    `${id}  ${says}`,
    ...row.provedBy.map(([file, title, of]) => `  ${file}: ${title}${of === undefined ? '' : ` (${of})`}`),
  ]
}

function summary(): string[] {
  const sections = Map.groupBy(statements, ({ id }) => id.split('/')[0]!)
  return [
    inColumns('section', 'statements', 'proved', 'need no proof', 'tests', 'lacking'),
    ...[...sections].map(([section, those]) => inColumns(section, ...figuresOf(those))),
    inColumns('all', ...figuresOf(statements)),
    inColumns('capabilities', capabilities.length),
    ...problems.map(({ id, what }) => `  ${id} ${what}`),
  ]
}

function figuresOf(those: readonly Statement[]): number[] {
  const rows = those.map(({ id }) => rowOf(id))
  const proofs = rows.flatMap((row) => (row && 'provedBy' in row ? [row.provedBy] : []))
  const tests = new Set(proofs.flat().map(([file, title]) => `${file} ${title}`))
  const lacking = those.filter(({ id }) => problems.some((problem) => problem.id === id))
  const noProof = rows.filter((row) => row && 'because' in row)
  return [those.length, proofs.length, noProof.length, tests.size, lacking.length]
}

function inColumns(...cells: (string | number)[]): string {
  return cells.map((cell) => String(cell).padStart(14)).join('')
}
