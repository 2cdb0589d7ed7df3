import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/** A function or view, as `<schema>/<name>.sql` says it is now. */
export interface FunctionFile {
  /** `<schema>.<name>` */
  name: string
  sql: string
  checksum: string
  /** Names of the files that have to be applied before: those of its lines `-- needs: <name>`. */
  needs: string[]
}

export interface FunctionFolder {
  /** Each behind what it needs. */
  files: FunctionFile[]
  /** `grants.sql`: who may use all this. null: there is none. */
  grants: FunctionFile | null
}

/** Reads a folder of functions. Throws if a file is not what its name says, or needs one that is not there. */
export async function readFunctions(folder: string): Promise<FunctionFolder> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = await Promise.all(
    entries
      .filter((entry) => entry.isFile() && entry.name.endsWith('.sql'))
      .map(async (entry) => {
        const file = path.join(entry.parentPath, entry.name)
        return readFunction(path.relative(folder, file), await readFile(file, 'utf8'))
      }),
  )
  return {
    files: inOrder(files.filter(({ name }) => name !== 'grants').toSorted((a, b) => (a.name < b.name ? -1 : 1))),
    grants: files.find(({ name }) => name === 'grants') ?? null,
  }
}

function readFunction(file: string, sql: string): FunctionFile {
  const name = file.slice(0, -'.sql'.length).replaceAll(path.sep, '.')
  const made = [...sql.matchAll(/^CREATE OR REPLACE (?:FUNCTION|VIEW) ([\w.]+)/gm)].map(([, each]) => each)
  if (name !== 'grants' && (made.length !== 1 || made[0] !== name))
    throw new Error(`${file} has to hold one CREATE OR REPLACE FUNCTION or VIEW, that of ${name}.`)
  const needs = [...sql.matchAll(/^-- needs: (.+)$/gm)].flatMap(([, names]) => names!.split(/,\s*/))
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex'), needs }
}

function inOrder(files: FunctionFile[]): FunctionFile[] {
  const byName = new Map(files.map((file) => [file.name, file]))
  const ordered = new Set<FunctionFile>()
  const add = (file: FunctionFile, askedBy: readonly string[]) => {
    if (ordered.has(file)) return
    if (askedBy.includes(file.name)) throw new Error(`These need each other: ${askedBy.join(', ')}.`)
    for (const name of file.needs) {
      const needed = byName.get(name)
      if (!needed) throw new Error(`${file.name} needs ${name}, which has no file.`)
      add(needed, [...askedBy, file.name])
    }
    ordered.add(file)
  }
  for (const file of files) add(file, [])
  return [...ordered]
}
