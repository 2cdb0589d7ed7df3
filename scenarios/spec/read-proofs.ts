import { globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { capabilities } from './capabilities.ts'
import { checkProofs, digestOf, type Problem, type Proofs } from './check-proofs.ts'
import { nothingToProve } from './nothing-to-prove.ts'
import { splitSpecification, type Statement } from './split-specification.ts'
import { tagsIn } from './tags-in.ts'

const folder = path.resolve(import.meta.dirname, '../..')
const digestsFile = path.join(import.meta.dirname, 'digests.txt')
const exclude = (name: string) => /(^|\/)(node_modules$|\.)/.test(name)

/** The statements of the specification and our capabilities, the tests that prove them, and the problems found. */
export function readProofs(): { statements: Statement[]; tests: Proofs['tests']; problems: Problem[] } {
  const statements = readStatements()
  const files = globSync('**/*.{test,scenario}.ts', { cwd: folder, exclude }).toSorted()
  const read = files.flatMap((file) => {
    const source = readFileSync(path.join(folder, file), 'utf8')
    return source.includes('spec:') ? [{ file, ...tagsIn(file, source) }] : []
  })
  const tests = read.flatMap(({ file, tests }) => tests.map((test) => ({ file, ...test })))
  const lost = read.flatMap(({ file, lost }) => lost.map((id) => ({ file, id })))
  const digests = Object.fromEntries(
    [...readFileSync(digestsFile, 'utf8').matchAll(/(\S+) (\S+)/g)].map(([, id, digest]) => [id!, digest!]),
  )
  return { statements, tests, problems: checkProofs(statements, { tests, lost, nothingToProve, digests }) }
}

/** Writes the digests of the current statements, one line per section. */
export function acceptStatements(): void {
  const sections = Map.groupBy(readStatements(), ({ id }) => id.split('/')[0]!)
  const lines = [...sections.values()].map((those) => those.map((one) => `${one.id} ${digestOf(one)}`).join(' '))
  writeFileSync(digestsFile, `${lines.join('\n')}\n`)
}

function readStatements(): Statement[] {
  const asked = splitSpecification(readFileSync(path.join(folder, 'docs/specification.md'), 'utf8'))
  return [...asked, ...Object.entries(capabilities).map(([id, says]) => ({ id, says }))]
}
