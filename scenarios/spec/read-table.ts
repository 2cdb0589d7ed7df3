import { readFileSync } from 'node:fs'
import path from 'node:path'
import { checkCapabilities } from './check-capabilities.ts'
import { checkTable, type Problem, type Row } from './check-table.ts'
import { openSuite } from './open-suite.ts'
import { splitSpecification, type Statement } from './split-specification.ts'
import { capabilities } from './table/capabilities.ts'
import { table } from './table/table.ts'

const folder = path.resolve(import.meta.dirname, '../..')

/** The specification, the table beside it, and what that and the list of capabilities lack. */
export function readTable(): { statements: Statement[]; problems: Problem[]; rowOf(id: string): Row | undefined } {
  const statements = splitSpecification(readFileSync(path.join(folder, 'docs/specification.md'), 'utf8'))
  const suite = openSuite(folder)
  return {
    statements,
    problems: [...checkTable(statements, table, suite), ...checkCapabilities(capabilities, statements, suite)],
    rowOf: (id) => (table as Record<string, Row | undefined>)[id],
  }
}
