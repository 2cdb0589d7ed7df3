// Makes what was cloned able to run: plain JavaScript for any Node >= 20, with nothing installed yet.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const projectFolder = fileURLToPath(new URL('..', import.meta.url))
const binFolder = join(projectFolder, 'node_modules', '.bin')
/** Node 24, which comes with the other packages from the registry. */
export const nodeBinary = join(binFolder, 'node')

const stampFile = join(projectFolder, 'node_modules', '.installed')
/** Halves the time of a step that has nothing to do, which every command waits for. */
const compileCache = join(projectFolder, 'node_modules', '.compile-cache')
/** The same in deploy/pnpm, which images install it from. */
const pnpm = ['--yes', 'pnpm@12.21.0']

/** Installs what is missing or has changed, generates the database client and builds the console's page. Ends the process with one message if it can't. */
export async function ensureInstalled() {
  const wanted = fingerprint()
  if (!existsSync(nodeBinary) || readOr(stampFile, '') !== wanted) {
    rmSync(stampFile, { force: true }) // an interrupted install leaves packages that no stamp describes
    await phase('Installing packages', install)
    mkdirSync(join(projectFolder, 'node_modules'), { recursive: true })
    writeFileSync(stampFile, fingerprint())
  }
  const [generated, built] = await Promise.all(
    ['packages/database/src/generate-command.ts', 'packages/console-page/src/build-command.ts'].map((file) =>
      collect(nodeBinary, [join(projectFolder, file)], environment({ NODE_COMPILE_CACHE: compileCache })),
    ),
  )
  if (generated.code !== 0) stopWith('The database client could not be generated.', generated.output)
  if (built.code !== 0) stopWith("The console's page could not be built.", built.output)
}

/** The environment in which our programs and tools find Node 24 first. */
export function environment(more = {}) {
  const { npm_config_loglevel: _, ...inherited } = process.env // `npm --silent` is meant for npm alone
  return { ...inherited, PATH: `${binFolder}${delimiter}${process.env.PATH ?? ''}`, ...more }
}

async function install() {
  const always = ['install', '--config.confirmModulesPurge=false']
  const frozen = await collect('npx', [...pnpm, ...always, '--frozen-lockfile'])
  if (frozen.code === 0) return
  const outdated = frozen.output.includes('OUTDATED_LOCKFILE')
  if (!outdated || process.env.CI) {
    stopWith(
      outdated
        ? 'pnpm-lock.yaml does not match the package.json files. Run `npx pnpm@12.21.0 install` and commit it.'
        : 'Packages could not be installed. The npm registry must be reachable, and the disk must have room for about 1 GB.',
      frozen.output,
    )
  }
  process.stderr.write('  pnpm-lock.yaml does not match the package.json files. Updating it; commit the change.\n')
  const loose = await collect('npx', [...pnpm, ...always, '--no-frozen-lockfile'])
  if (loose.code !== 0) stopWith('Packages could not be installed.', loose.output)
}

/** Changes whenever another install is needed. */
function fingerprint() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`)
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', ...workspaceManifests()]) {
    hash.update(`\n${file}\n`).update(readOr(join(projectFolder, file), ''))
  }
  return hash.digest('hex')
}

/** The package.json of every workspace folder that pnpm-workspace.yaml lists, such as `packages/*` or `bench`. */
function workspaceManifests() {
  const listed = /^packages:\n((?: +- .+\n)+)/m.exec(readOr(join(projectFolder, 'pnpm-workspace.yaml'), ''))?.[1] ?? ''
  const folders = [...listed.matchAll(/- (\S+)/g)].flatMap(([, pattern]) => {
    if (!pattern.endsWith('/*')) return [pattern]
    const above = pattern.slice(0, -2)
    return readdirSync(join(projectFolder, above)).map((name) => join(above, name))
  })
  return folders.toSorted((one, other) => (one < other ? -1 : 1)).map((folder) => join(folder, 'package.json'))
}

/** Said on standard error, so that a command's own output stays what it is. */
async function phase(title, work) {
  const startedAt = performance.now()
  process.stderr.write(`  ${title} (the first time takes a minute)…\n`)
  await work()
  process.stderr.write(`  ${title}: done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`)
}

/** Runs a program to its end and answers its exit code and everything it wrote. */
export function collect(command, args, env = environment()) {
  return new Promise((resolve) => {
    let output = ''
    const child = spawn(command, args, { cwd: projectFolder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', (text) => (output += text))
    child.stderr.on('data', (text) => (output += text))
    child.on('error', (error) => resolve({ code: 1, output: `${command}: ${error.message}\n` }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

function stopWith(message, output) {
  process.stderr.write(`\n${output}\n${message}\n`)
  process.exit(1)
}

function readOr(file, otherwise) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return otherwise
  }
}
