import { execFileSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** The files of the repository, as paths from its root with forward slashes. */
export interface Repository {
  paths: readonly string[]
  read(file: string): string
  /** Whether the file exists, or a folder with files in it. */
  has(file: string): boolean
}

/** A reference to something that does not exist. */
export interface Finding {
  file: string
  line: number
  said: string
  why: string
}

export function openRepository(folder: string): Repository {
  return repositoryOf(pathsIn(folder), (file) => readFileSync(path.join(folder, file), 'utf8'))
}

export function repositoryOf(paths: readonly string[], read: (file: string) => string): Repository {
  const known = new Set(paths)
  for (const file of paths)
    for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) known.add(file.slice(0, at))
  return { paths, read, has: (file) => known.has(file.replace(/\/$/, '')) }
}

/** Includes new files that are not ignored; without git, all files except products of installing or running. */
function pathsIn(folder: string): string[] {
  try {
    const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
    const listed = execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return listed
      .split('\0')
      .filter((file) => file !== '' && lstatSync(path.join(folder, file), { throwIfNoEntry: false })?.isFile())
  } catch {
    return walk(folder, '')
  }
}

const MADE = new Set(['node_modules', 'generated', '.git', '.cache', '.local', '.peers'])

function walk(folder: string, below: string): string[] {
  return readdirSync(path.join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const inside = below === '' ? entry.name : `${below}/${entry.name}`
    if (MADE.has(entry.name)) return []
    return entry.isDirectory() ? walk(folder, inside) : [inside]
  })
}
