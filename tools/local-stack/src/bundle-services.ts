import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import path from 'node:path'

// Bundles of the services, to start them on this machine: a process that reads one file is ready about a second sooner
// than one that strips the types of a thousand. A bundle is built when a source changes, and kept in the project's
// cache. The sources stay in place: a bundle reads the files next to its modules, such as pages and migrations, there.

export type BundledProgram = 'gateway' | 'worker' | 'ledger' | 'console' | 'provider'

const projectFolder = path.resolve(import.meta.dirname, '../../..')
const cacheFolder = path.join(projectFolder, '.cache/services')

const programs: Record<BundledProgram, string> = {
  gateway: 'services/gateway/src/main.ts',
  worker: 'services/worker/src/main.ts',
  ledger: 'services/ledger/src/main.ts',
  console: 'services/console/src/main.ts',
  provider: 'tools/simulated-provider/src/main.ts',
}
const sourceFolders = ['services', 'packages', 'tools/simulated-provider']
/** The console page is built separately, and the console reads it as files. */
const leftOut = new Set(['packages/console-page/page', 'packages/console-page/dist'])
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
  const { rolldown } = await import('rolldown')
  const work = `${folder}-${process.pid}`
  const input = Object.fromEntries(
    Object.entries(programs).map(([name, file]) => [name, path.join(projectFolder, file)]),
  )
  await mkdir(cacheFolder, { recursive: true })
  await removeOld()
  try {
    const build = await rolldown({ input, platform: 'node', plugins: [{ name: 'places', transform: keepPlaces }] })
    const naming = { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' }
    const { output } = await build.write({ dir: work, format: 'esm', ...naming })
    await build.close()
    checkSeen(output.flatMap((part) => ('moduleIds' in part ? part.moduleIds : [])))
    await rename(work, folder).catch(async (error: unknown) => {
      if (!(await exists(folder))) throw error // otherwise another process was faster
    })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/**
 * Replaces a module's location by that of its source, since the bundles are in a cache folder.
 * @returns null if the module does not locate itself
 * @throws Error if it does so in a way that would yield the location of the bundle
 */
export function keepPlaces(code: string, id: string): string | null {
  if (!code.includes('import.meta.') || id.includes('node_modules')) return null
  const relative = path.relative(path.join(cacheFolder, '_'), id).split(path.sep).map(encodeURIComponent).join('/')
  const own = `new URL(${JSON.stringify(relative)}, import.meta.url)`
  const file = `process.getBuiltinModule('node:url').fileURLToPath(${own})`
  const from: Record<string, string> = {
    dirname: `process.getBuiltinModule('node:path').dirname(${file})`,
    url: `${own}.href`,
  }
  return code.replaceAll(/import\.meta\.(\w+)/g, (_, name: string) => {
    if (from[name] === undefined)
      throw new Error(`${id} uses import.meta.${name}, which a bundle would answer wrongly.`)
    return from[name]
  })
}

/** Otherwise an old bundle would miss a change of such a file. */
function checkSeen(modules: readonly string[]): void {
  const seen = new Set(sourceFolders.flatMap(sourcesIn))
  const unseen = modules.filter((id) => path.isAbsolute(id) && !id.includes('node_modules') && !seen.has(id))
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
    if (entry.isDirectory()) return entry.name === 'node_modules' || leftOut.has(name) ? [] : sourcesIn(name)
    const isSource = /\.(?:ts|js|json)$/.test(entry.name) && !/\.(?:test|fixture)\.ts$/.test(entry.name)
    return isSource ? [path.join(projectFolder, name)] : []
  })
}
