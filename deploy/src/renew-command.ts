// Writes what is made from the code and kept alongside it: refusals, configuration, OpenAPI, dashboards, rules.
import { writeFileSync } from 'node:fs'
import { documents, fileOf } from './documents/documents.ts'

for (const [document, content] of Object.entries(documents)) {
  writeFileSync(fileOf(document), content())
  process.stdout.write(`${document}\n`)
}
