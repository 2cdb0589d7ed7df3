import { nothingToProve } from './nothing-to-prove.ts'
import { acceptStatements, readProofs } from './read-proofs.ts'
import type { Statement } from './split-specification.ts'

// `npm run spec`: number of proved statements by section, and all problems.
// `npm run spec -- 4.2/s7`: tests that prove this statement; `4.2`: tests that prove each statement of the section.
// `npm run spec -- --accept`: accepts changed statements after their tests and tags were reviewed.

const accepts = process.argv[2] === '--accept'
if (accepts) acceptStatements()
const wanted = accepts ? undefined : process.argv[2]
const { statements, tests, problems } = readProofs()
const lines = wanted === undefined ? summary() : statements.filter(({ id }) => isOf(id, wanted)).flatMap(detailsOf)
process.stdout.write(lines.length === 0 ? `The specification has no statement ${wanted}.\n` : `${lines.join('\n')}\n`)
process.exitCode = lines.length === 0 || problems.length > 0 ? 1 : 0

function isOf(id: string, wanted: string): boolean {
  return id === wanted || id.startsWith(`${wanted}/`)
}

function detailsOf({ id, says }: Statement): string[] {
  const proofs = tests.filter(({ proves }) => proves.includes(id)).map(({ file, title }) => `${file}: ${title}`)
  const reasons = proofs.length > 0 ? proofs : [nothingToProve[id] ?? 'has no test']
  return [`${id}  ${says}`, ...reasons.map((one) => `  ${one}`)]
}

function summary(): string[] {
  const sections = Map.groupBy(statements, ({ id }) => id.split('/')[0]!)
  return [
    inColumns('section', 'statements', 'proved', 'exempt', 'tests', 'problems'),
    ...[...sections].map(([section, those]) => inColumns(section, ...figuresOf(those))),
    inColumns('all', ...figuresOf(statements)),
    ...problems.map(({ id, what }) => `  ${id} ${what}`),
  ]
}

function figuresOf(those: readonly Statement[]): number[] {
  const ids = new Set(those.map(({ id }) => id))
  const proofs = tests.filter(({ proves }) => proves.some((id) => ids.has(id)))
  const proved = new Set(proofs.flatMap(({ proves }) => proves)).intersection(ids)
  const lacking = new Set(problems.map(({ id }) => id)).intersection(ids)
  const noProof = new Set(Object.keys(nothingToProve)).intersection(ids)
  return [ids.size, proved.size, noProof.size, proofs.length, lacking.size]
}

function inColumns(...cells: (string | number)[]): string {
  return cells.map((cell) => String(cell).padStart(14)).join('')
}
