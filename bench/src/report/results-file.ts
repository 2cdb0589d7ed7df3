import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

const file = path.resolve(import.meta.dirname, '../../RESULTS.md')
const head = `# Measured

Each section is written by \`npm run bench <name> -- --keep\`. Load, services and Postgres share one machine, so read the
ratios, which were taken in one run of the bench and in turns; the absolute figures log how fast that machine was.
`

/** Rewrites the section of one bench and returns the file's path. */
export async function keepResults(name: string, report: string): Promise<string> {
  await writeFile(file, withSection(await readFile(file, 'utf8').catch(() => head), name, report))
  return file
}

/** Returns the text with the section `## name` replaced, or appended. */
export function withSection(text: string, name: string, report: string): string {
  const section = `## ${name}\n\n${report.trim()}\n`
  const parts = text.split(/^(?=## )/m)
  const at = parts.findIndex((part) => part.startsWith(`## ${name}\n`))
  if (at < 0) parts.push(section)
  else parts[at] = section
  return `${parts.map((part) => part.trim()).join('\n\n')}\n`
}
