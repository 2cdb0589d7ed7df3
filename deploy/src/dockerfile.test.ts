import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { images, type ImageName } from '@gateway/bundler/images'
import { dockerStages, dockerTargets } from './dockerfile.ts'
import { projectFolder } from './render.ts'

// deploy/Dockerfile without an engine: the build has what the images need, and nothing that is for tests.

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
  expect(linesOf('build').join('\n')).toMatch(/^RUN npm ci --prefix \/opt\/pnpm /m)
  const { packages } = JSON.parse(read('deploy/pnpm/package-lock.json')) as {
    packages: Record<string, { integrity: string }>
  }
  for (const [name, { integrity }] of Object.entries(packages).slice(1))
    expect([name, integrity]).toEqual([name, expect.stringMatching(/^sha512-/)])
})

test('each image of the Dockerfile has its contents listed', () => {
  expect(targets.map(([name]) => name).toSorted()).toEqual(Object.keys(images).toSorted())
})

test.each(targets)('%s runs without root one of the programs that it holds', (name) => {
  const lines = linesOf(name)
  expect(lines.findLast((line) => line.startsWith('USER '))).toBe('USER 1000:1000')
  expect(lines).toContain(`COPY --from=build /images/${name} /app`)
  const [, program] = /^CMD \["node", "bin\/(.+)"\]$/.exec(lines.findLast((line) => line.startsWith('CMD '))!) ?? []
  expect(Object.keys(images[name as ImageName].programs)).toContain(program)
})

// spec: can/deployment
test.each(targets)('the build of %s has everything that its programs need', (name) => {
  const copied = linesOf('build').flatMap((line) => /^COPY (.+) \S+$/.exec(line)?.[1]?.split(' ') ?? [])
  const ignored = read('.dockerignore').split('\n')
  const { programs, files }: { programs: Record<string, string>; files: string[] } = images[name as ImageName]
  const roots = Object.values(programs).map((file) => workspace.find(({ folder }) => file.startsWith(`${folder}/`))!)
  const packages = roots.flatMap((root) => needed(root.name)).map(({ folder }) => folder)
  for (const needs of [...packages, ...files, ...Object.values(programs)]) {
    expect([needs, copied.some((source) => needs === source || needs.startsWith(`${source}/`))]).toEqual([needs, true])
    expect([needs, ignored.includes(needs)]).toEqual([needs, false])
  }
})

test('nothing of the machine that builds comes into an image', () => {
  const [first, ...rest] = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect(first).toBe('*')
  const left = ['**/node_modules', '**/generated', '**/*.test.ts', '**/fixtures', 'services/ledger/oracle']
  expect(rest).toEqual(expect.arrayContaining(left))
  const allowed = rest.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  const copied = linesOf('build').flatMap((line) => /^COPY (.+) \S+$/.exec(line)?.[1]?.split(' ') ?? [])
  for (const source of copied) expect(allowed).toContain(source)
})
