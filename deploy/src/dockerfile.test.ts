import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { dockerStages, dockerTargets } from './dockerfile.ts'
import { projectFolder } from './render.ts'

// deploy/Dockerfile without an engine: each target holds what its process imports, and nothing that is for tests.

const read = (file: string) => readFileSync(path.join(projectFolder, file), 'utf8')
const stages = dockerStages()
const targets = Object.entries(dockerTargets())

interface WorkspacePackage {
  name: string
  folder: string
  dependencies: string[]
}

const workspace: WorkspacePackage[] = ['packages', 'services', 'tools']
  .flatMap((above) => readdirSync(path.join(projectFolder, above)).map((name) => `${above}/${name}`))
  .concat('prisma')
  .filter((folder) => existsSync(path.join(projectFolder, folder, 'package.json')))
  .map((folder) => {
    const { name, dependencies = {} } = JSON.parse(read(`${folder}/package.json`)) as {
      name: string
      dependencies?: Record<string, string>
    }
    return { name, folder, dependencies: Object.keys(dependencies) }
  })

/** A package of the workspace and all that it needs at run time. */
function needed(name: string, found = new Map<string, WorkspacePackage>()): WorkspacePackage[] {
  const one = workspace.find((each) => each.name === name)
  if (one && !found.has(name)) {
    found.set(name, one)
    for (const dependency of one.dependencies) needed(dependency, found)
  }
  return [...found.values()]
}

/** Instructions of a stage and of those that it is on. */
function linesOf(name: string): string[] {
  const stage = stages[name]
  return stage ? [...linesOf(stage.from), ...stage.lines] : []
}

test('Node and pnpm are those of the project', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: { node: string } }
  const images = Object.values(stages).map(({ from }) => from.replace(/@sha256:[0-9a-f]{64}$/, ''))
  expect(new Set(images.filter((from) => from.startsWith('node:')))).toEqual(
    new Set([`node:${devDependencies.node}-slim`]),
  )
  const [, pnpm] = /'pnpm@(\d+\.\d+\.\d+)'/.exec(read('bootstrap/install.js')) ?? []
  const { optionalDependencies } = JSON.parse(read('deploy/pnpm/package.json')) as { optionalDependencies: object }
  expect(new Set(Object.values(optionalDependencies))).toEqual(new Set([pnpm]))
  expect(linesOf('sources').join('\n')).toMatch(/^RUN npm ci --prefix \/opt\/pnpm /m)
  const { packages } = JSON.parse(read('deploy/pnpm/package-lock.json')) as {
    packages: Record<string, { integrity: string }>
  }
  for (const [name, { integrity }] of Object.entries(packages).slice(1))
    expect([name, integrity]).toEqual([name, expect.stringMatching(/^sha512-/)])
})

test.each(targets)('%s runs as no one, a program that is there', (name) => {
  const lines = linesOf(name)
  expect(lines.findLast((line) => line.startsWith('USER '))).toBe('USER 1000:1000')
  const [, command] = /^CMD (\[.*\])$/.exec(lines.findLast((line) => line.startsWith('CMD '))!) ?? []
  const [node, file] = JSON.parse(command!) as string[]
  expect(node).toBe('node')
  expect([file, existsSync(path.join(projectFolder, file!))]).toEqual([file, true])
})

// spec: can/deployment
test.each(targets)('%s holds what its process imports', (_name, { lines }) => {
  const [, from] = /--from=([a-z-]+) \/app \/app/.exec(lines.join('\n')) ?? []
  const made = linesOf(from!)
  const [, root] = /--filter-prod (@gateway\/[a-z-]+)\.\.\./.exec(made.join('\n')) ?? []
  const copied = made.flatMap((line) => /^COPY (.+) \S+$/.exec(line)?.[1]?.split(' ') ?? [])
  const packages = needed(root!)
  expect(packages.length).toBeGreaterThan(0)

  const ignored = read('.dockerignore').split('\n')
  for (const { folder } of packages) {
    expect([folder, copied.some((source) => folder === source || folder.startsWith(`${source}/`))]).toEqual([
      folder,
      true,
    ])
    expect([folder, ignored.includes(folder)]).toEqual([folder, false])
  }
  // Who has a database has a client to be generated; who has none must not have one.
  const generates = made.some((line) => line.includes('generate-command.ts'))
  expect(generates).toBe(packages.some((each) => each.name === '@gateway/database'))
  // Its entry is in what was copied.
  const [, file] = /"node", "([^"]+)"/.exec(lines.join('\n')) ?? []
  expect(copied.some((source) => file!.startsWith(`${source}/`))).toBe(true)
})

test('nothing of the machine that builds comes into an image', () => {
  const [first, ...rest] = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect(first).toBe('*')
  const left = ['**/node_modules', '**/generated', '**/*.test.ts', '**/fixtures', 'services/ledger/oracle']
  expect(rest).toEqual(expect.arrayContaining(left))
  const allowed = rest.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  const copied = linesOf('sources').flatMap((line) => /^COPY (.+) \S+$/.exec(line)?.[1]?.split(' ') ?? [])
  for (const source of copied) expect(allowed).toContain(source)
})
