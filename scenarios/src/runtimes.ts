import { execFile } from 'node:child_process'
import { access, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

// Other runtimes than ours, from the registry that our packages come from: each is a package that holds the program, without a script.

const run = promisify(execFile)
const cache = path.resolve(import.meta.dirname, '../../.cache/runtimes')
const { platform, arch } = process

export interface Runtime {
  title: string
  /** Package and version. */
  name: string
  version: string
  program: string
  /** Before the file that it runs. */
  args: string[]
}

export const runtimes: Runtime[] = [
  { title: 'Node 20', name: `node-${platform}-${arch}`, version: '20.20.2', program: 'bin/node', args: [] },
  {
    title: 'Deno',
    name: `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`,
    version: '2.9.5',
    program: 'deno',
    args: ['run', '--no-lock', '--no-remote', '--allow-net', '--allow-env', '--allow-read'],
  },
  {
    title: 'Bun',
    name: `@oven/bun-${platform}-${arch === 'x64' ? 'x64-baseline' : arch}`, // for processors without AVX2, too
    version: '1.4.5',
    program: 'bin/bun',
    args: ['run'],
  },
]

/** Where the program is, fetched once; null where the registry has none for this machine. */
export async function runtimeProgram({ name, version, program }: Runtime): Promise<string | null> {
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
