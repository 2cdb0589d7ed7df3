import { execFile } from 'node:child_process'
import { access, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const cache = path.resolve(import.meta.dirname, '../../.cache/programs')

/** A program from the registry that our packages come from, which needs no script to be installed. */
export interface RegistryProgram {
  title: string
  /** Of the package. */
  name: string
  version: string
  /** The file in the package. */
  program: string
}

/** Where the program is, fetched once; null where the registry has none for this machine. */
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
