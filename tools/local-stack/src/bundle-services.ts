import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import path from 'node:path'
import { type BundledModule, bundlePrograms, projectFolder } from '@gateway/bundler/bundle-programs'

// Bundles of the services, to start them on this machine. They are built when a source changes, and kept in the
// project's cache. A bundle reads the files next to its modules, such as pages and migrations, in the sources.

export type BundledProgram = 'gateway' | 'worker' | 'ledger' | 'console' | 'provider'

const cacheFolder = path.join(projectFolder, '.cache/services')

const programs: Record<BundledProgram, string> = {
  gateway: 'services/gateway/src/main.ts',
  worker: 'services/worker/src/main.ts',
  ledger: 'services/ledger/src/main.ts',
  console: 'services/console/src/main.ts',
  provider: 'tools/simulated-provider/src/main.ts',
}
const sourceFolders = ['services', 'packages', 'tools/simulated-provider', 'tools/bundler']
/** The console page is built separately, in `dist-<process ID>`, and the console reads it as files from `dist`. */
const leftOut = /^packages\/console-page\/(?:page|dist|dist-\d+)$/
/** Bundles of other sources are kept this long after their last use: a running service still reads from its bundle. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000

let made: Promise<Record<BundledProgram, string>> | undefined

/** Returns the file of each program, built from the sources as of the first call in a process. */
export function bundleServices(): Promise<Record<BundledProgram, string>> {
  return (made ??= bundle())
}

async function bundle(): Promise<Record<BundledProgram, string>> {
  const folder = path.join(cacheFolder, fingerprint())
  if (await exists(folder)) await utimes(folder, new Date(), new Date())
  else await make(folder)
  const names = Object.keys(programs) as BundledProgram[]
  return Object.fromEntries(names.map((name) => [name, path.join(folder, `${name}.js`)])) as Record<
    BundledProgram,
    string
  >
}

/** The folder is complete or absent, even if two processes build it concurrently. */
async function make(folder: string): Promise<void> {
  const work = `${folder}-${process.pid}`
  await mkdir(cacheFolder, { recursive: true })
  await removeOld()
  try {
    checkSeen(await bundlePrograms({ programs, folder: work }))
    await rename(work, folder).catch(async (error: unknown) => {
      if (!(await exists(folder))) throw error // otherwise another process was faster
    })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Otherwise an old bundle would miss a change of such a file. */
function checkSeen(modules: readonly BundledModule[]): void {
  const seen = new Set(sourceFolders.flatMap(sourcesIn))
  const unseen = modules.map(({ file }) => file).filter((file) => !file.includes('node_modules') && !seen.has(file))
  if (unseen.length > 0) throw new Error(`The bundles hold what their fingerprint does not see: ${unseen.join(', ')}`)
}

async function removeOld(): Promise<void> {
  for (const name of await readdir(cacheFolder)) {
    const folder = path.join(cacheFolder, name)
    if (Date.now() - (await stat(folder)).mtimeMs > KEPT_MS) await rm(folder, { recursive: true, force: true })
  }
}

const exists = (folder: string) =>
  stat(folder).then(
    () => true,
    () => false,
  )

/** Covers everything that a bundle depends on: the sources, and the versions of their imports. */
function fingerprint(): string {
  const hash = createHash('sha256').update(readFileSync(path.join(projectFolder, 'pnpm-lock.yaml')))
  hash.update(readFileSync(import.meta.filename))
  for (const folder of sourceFolders)
    for (const file of sourcesIn(folder)) hash.update(`\0${file}\0`).update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}

function sourcesIn(folder: string): string[] {
  return readdirSync(path.join(projectFolder, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' || leftOut.test(name) ? [] : sourcesIn(name)
    const isSource = /\.(?:ts|js|json)$/.test(entry.name) && !/\.(?:test|fixture)\.ts$/.test(entry.name)
    return isSource ? [path.join(projectFolder, name)] : []
  })
}
