import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { pin, unpinned } from './pinned.ts'
import { projectFolder } from './render.ts'

const digest = `sha256:${'a'.repeat(64)}`
const commit = 'b'.repeat(40)
const read = (file: string) => readFileSync(path.join(projectFolder, file), 'utf8')

const dockerfile = `FROM node:24.21.0-slim AS runtime
FROM node:24.21.0-slim AS sources
FROM sources AS gateway
`
const workflow = `    steps:
      - &checkout
        uses: actions/checkout@v5
      - uses: actions/cache@v4
      - *checkout
`
const manifest = `          image: model-gateway/gateway
          image: redis:8.2-alpine
    image: otel/opentelemetry-collector:0.137.0
    image: postgres:18.1
`

test('finds every image and action that a tag alone names', () => {
  expect(unpinned(dockerfile).map(({ text }) => text)).toEqual(['node:24.21.0-slim'])
  expect(unpinned(workflow).map(({ text }) => text)).toEqual(['actions/checkout@v5', 'actions/cache@v4'])
  expect(unpinned(manifest).map(({ text }) => text)).toEqual([
    'redis:8.2-alpine',
    'otel/opentelemetry-collector:0.137.0',
    'postgres:18.1',
  ])
})

test('pins each and keeps its tag; a second time there is nothing to do', () => {
  const pins = new Map([
    ['node:24.21.0-slim', digest],
    ['actions/checkout@v5', commit],
    ['actions/cache@v4', commit],
    ['redis:8.2-alpine', digest],
    ['otel/opentelemetry-collector:0.137.0', digest],
    ['postgres:18.1', digest],
  ])
  expect(pin(dockerfile, pins)).toBe(`FROM node:24.21.0-slim@${digest} AS runtime
FROM node:24.21.0-slim@${digest} AS sources
FROM sources AS gateway
`)
  expect(pin(workflow, pins)).toContain(`uses: actions/checkout@${commit} # v5\n`)
  for (const text of [dockerfile, workflow, manifest]) {
    expect(unpinned(pin(text, pins))).toEqual([])
    expect(pin(pin(text, pins), pins)).toBe(pin(text, pins))
  }
})

test('every action of the workflow is pinned, and no image floats', () => {
  expect(unpinned(read('.github/workflows/ci.yaml')).filter(({ kind }) => kind === 'action')).toEqual([])
  expect(unpinned(read('docker-compose.yml')).length).toBeLessThanOrEqual(8)
  for (const file of ['deploy/Dockerfile', 'docker-compose.yml', '.github/workflows/ci.yaml'])
    expect(read(file)).not.toMatch(/:latest\b|@(main|master)\b/)
})

test('the workflow scans the dependencies, and builds each image with a list of its contents', () => {
  const { jobs } = parse(read('.github/workflows/ci.yaml'), { merge: true }) as {
    jobs: Record<string, { steps: { run?: string }[]; strategy?: { matrix: { target?: string[] } } }>
  }
  const commands = (job: string) => jobs[job]!.steps.map(({ run }) => run ?? '').join('\n')
  expect(commands('vulnerabilities')).toContain('--lockfile /src/pnpm-lock.yaml')
  expect(commands('images')).toContain('--sbom=true')
  expect(jobs['images']!.strategy!.matrix.target).toEqual(['gateway', 'worker', 'ledger', 'console', 'migrate'])
})

test('updates wait a week, and new versions are installed three days after their release at the earliest', () => {
  const { updates } = parse(read('.github/dependabot.yml')) as {
    updates: { 'package-ecosystem': string; cooldown: object }[]
  }
  expect(updates.map((update) => update['package-ecosystem'])).toEqual([
    'npm',
    'github-actions',
    'docker',
    'docker-compose',
  ])
  for (const { cooldown } of updates) expect(cooldown).toEqual({ 'default-days': 7 })
  expect(parse(read('pnpm-workspace.yaml'))).toMatchObject({ minimumReleaseAge: 4_320 })
})
