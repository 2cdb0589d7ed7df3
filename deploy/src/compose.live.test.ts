import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { asByDefault, readComposeFile, type ComposeService } from './compose-file.ts'
import { dockerStages, dockerTargets } from './dockerfile.ts'
import { environmentProblems } from './environment-problems.ts'
import { isProgram, programs, services } from './programs.ts'
import { projectFolder } from './render.ts'

// docker-compose.yml without an engine. What it says of names, ports and paths is held against the services' own code.

const run = promisify(execFile)
const compose = readComposeFile()
const all = Object.entries(compose.services)
const ours = all.filter(([name]) => isProgram(name))
const environmentOf = ({ environment }: ComposeService) =>
  Object.fromEntries(Object.entries(environment).map(([name, text]) => [name, asByDefault(text)]))

/** The container's own defaults. */
const ofImage = { HOST: '0.0.0.0', PORT: '8080', METRICS_HOST: '0.0.0.0', METRICS_PORT: '9464' }

test('every program of the stack is in it', () => {
  expect(ours.map(([name]) => name).toSorted()).toEqual(Object.keys(programs).toSorted())
})

test.each(ours)('the environment of %s is what it reads', (name, service) => {
  expect(isProgram(name) && environmentProblems(programs[name], environmentOf(service))).toEqual([])
})

test('each variable of the migration can be set', () => {
  const given = Object.keys(compose.services['migrate']!.environment).map((name) => name.replace(/_FILE$/, ''))
  expect(given.toSorted()).toEqual(Object.keys(programs.migrate.variables.shape).toSorted())
})

test.each(ours)('%s is a target of the Dockerfile, and may do little', (_name, service) => {
  const built = service.build ?? all.find(([, { build, image }]) => build && image === service.image)?.[1].build
  expect(built?.dockerfile).toBe('deploy/Dockerfile')
  expect(Object.keys(dockerTargets())).toContain(built?.target)
  expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
})

test.each(all)('%s can neither gain privileges nor use the whole machine', (_name, service) => {
  expect(service).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  const mebibytes = (text: string) => Number(text.slice(0, -1)) * (text.endsWith('g') ? 1_024 : 1)
  expect(mebibytes(service.mem_limit)).toBeLessThanOrEqual(2_048)
  expect(service.pids_limit).toBeLessThanOrEqual(512)
  for (const mount of service.tmpfs ?? []) {
    const size = /:size=(\d+m)$/.exec(mount)?.[1]
    expect([mount, size !== undefined && mebibytes(size) < mebibytes(service.mem_limit)]).toEqual([mount, true])
  }
})

test.each(ours)('%s is asked for its health where it answers', (name, service) => {
  const routes = isProgram(name) ? programs[name].routes() : []
  if (routes.length === 0) return expect(service.healthcheck).toBeUndefined()
  const [, port, asked] = /127\.0\.0\.1:(\d+)(\/[a-z/]+)/.exec(service.healthcheck?.test.join(' ') ?? '') ?? []
  expect(routes).toContain(`GET ${asked}`)
  expect(port).toBe(ofImage.PORT)
})

test('no port is published but that of the API, and those of what looks into the stack', () => {
  for (const [name, service] of ours)
    expect([name, service.ports?.map((port) => port.split(':').at(-1))]).toEqual([
      name,
      name === 'gateway' ? [ofImage.PORT] : undefined,
    ])
})

test('addresses lead to services that share a network with anyone who asks', () => {
  for (const [name, service] of all)
    for (const [variable, text] of Object.entries(environmentOf(service))) {
      const [, host, port] = /^[a-z]+:\/\/([a-z]+):(\d+)$/.exec(text) ?? []
      if (host === undefined) continue
      const target = compose.services[host]
      expect([name, variable, target !== undefined]).toEqual([name, variable, true])
      expect([name, variable, shared(service, target!).length > 0]).toEqual([name, variable, true])
      if (isProgram(host)) expect([name, variable, port]).toEqual([name, variable, ofImage.PORT])
    }
})

test('each network has these members, and no service reaches another but through one', () => {
  const members = Object.keys(compose.networks).map((network) => [
    network,
    all.filter(([, { networks }]) => networks?.includes(network)).map(([name]) => name),
  ])
  expect(Object.fromEntries(members)).toEqual({
    books: ['ledger', 'console', 'migrate', 'postgres', 'archive', 'seed'],
    stack: ['gateway', 'worker', 'ledger', 'console', 'redis', 'collector', 'prometheus', 'seed'],
    outside: ['gateway', 'worker'],
    errands: ['console'],
    simulated: ['gateway', 'worker', 'provider'],
    watch: ['collector', 'jaeger', 'prometheus', 'grafana'],
  })
  expect(compose.networks).toMatchObject({
    books: { internal: true },
    stack: { internal: true },
    simulated: { internal: true },
  })
  expect(all.filter(([, { networks, network_mode }]) => !networks && network_mode !== 'none')).toEqual([])
})

test('who waits for another waits for something that comes', () => {
  for (const [name, { depends_on }] of all)
    for (const [other, { condition }] of Object.entries(depends_on)) {
      const target = compose.services[other]
      expect([name, other, target !== undefined]).toEqual([name, other, true])
      if (condition === 'service_healthy')
        expect([name, other, target?.healthcheck]).not.toEqual([name, other, undefined])
      if (condition === 'service_completed_successfully')
        expect([name, other, target?.restart ?? 'no']).toEqual([name, other, 'no'])
      // Anyone who starts without a profile needs no one who has one.
      if (target?.profiles) expect(compose.services[name]?.profiles).toEqual(target.profiles)
      expect(waitsFor(other)).not.toContain(name)
    }
  expect(waitsFor('gateway')).toEqual(expect.arrayContaining(['ledger', 'migrate', 'postgres', 'redis', 'secrets']))
})

test('volumes are declared, and files that are mounted are there', () => {
  const mounted = all.flatMap(([, { volumes }]) => volumes.map((volume) => asByDefault(volume).split(':')[0]!))
  for (const source of mounted)
    if (source.startsWith('./')) expect([source, existsSync(path.join(projectFolder, source))]).toEqual([source, true])
    else expect(Object.keys(compose.volumes)).toContain(source)
  expect(new Set(mounted)).toEqual(new Set([...mounted, ...Object.keys(compose.volumes)]))
})

test('each service can write to these places, and to no other', () => {
  const places = all.map(([name, { read_only, tmpfs = [], volumes }]) => [
    name,
    [
      ...(read_only ? [] : ['/']),
      ...tmpfs.map((mount) => mount.split(':')[0]),
      ...volumes.filter((volume) => !volume.endsWith(':ro')).map((volume) => volume.split(':').at(-1)),
    ],
  ])
  const stores = ['/tmp', '/assets']
  expect(Object.fromEntries(places)).toEqual({
    gateway: stores,
    worker: stores,
    console: stores,
    ledger: ['/tmp'],
    migrate: ['/tmp'],
    archive: ['/tmp', '/archive'],
    provider: ['/tmp'],
    seed: ['/tmp', '/seeded'],
    secrets: ['all', ...Object.keys(compose.volumes).flatMap((name) => /^(.+)-secrets$/.exec(name)?.[1] ?? [])].map(
      (name) => `/secrets/${name}`,
    ),
    redis: ['/tmp', '/data'],
    collector: ['/tmp'],
    jaeger: ['/tmp'],
    prometheus: ['/tmp', '/prometheus'],
    // These images write into their root at a start.
    postgres: ['/', '/tmp', '/var/lib/postgresql'],
    grafana: ['/', '/tmp'],
  })
})

test('who stores or reads assets does so in one volume, and has room for them on their way', () => {
  const stores = ours.filter(([name]) => isProgram(name) && 'ASSETS_FOLDER' in programs[name].variables.shape)
  expect(stores.map(([name]) => name).toSorted()).toEqual(['console', 'gateway', 'worker'])
  for (const [name, service] of stores) {
    const folder = environmentOf(service)['ASSETS_FOLDER']
    expect([name, folder]).toEqual([name, '/assets'])
    expect([name, service.volumes.includes(`assets:${folder}`)]).toEqual([name, true])
    const mebibytes = Number(environmentOf(service)['MAX_CONCURRENT_ASSET_BYTES']) / 1024 ** 2
    expect([name, service.tmpfs]).toEqual([name, [`/tmp:size=${1.25 * mebibytes}m`]])
    // A new volume is its that owns the folder in the image.
    expect(dockerStages()['runtime']?.lines.join('\n')).toMatch(/--owner=1000 .*\/assets$/m)
  }
})

describe('docs/operating.md', () => {
  const page = readFileSync(path.join(projectFolder, 'docs/operating.md'), 'utf8')

  test('has every setting of the services in .env, where each later command finds it', () => {
    const [, block] = /`\.env`[^]*?```\w*\n([^]*?)```/.exec(page.split('### On one machine, with Docker Compose')[1]!)!
    const settings = services.flatMap(
      (name) => JSON.stringify(compose.services[name]).match(/(?<=\$\{)\w+(?=:-\})/g) ?? [],
    )
    const named = block!.match(/\b[A-Z_]+(?==)/g)!
    expect(named.toSorted()).toEqual([...new Set(['PROVIDERS_PATH', ...settings])].toSorted())
    const ignored = readFileSync(path.join(projectFolder, '.gitignore'), 'utf8').split('\n')
    const files = all.flatMap(([, { env_file = [] }]) => env_file.map(({ path: file }) => file))
    expect(ignored).toEqual(expect.arrayContaining(['.env', ...files]))
  })

  test('starts the stack with no setting that the next start would lose', () => {
    const starts = [...page.matchAll(/((?:[A-Z_]+=\S+ )*)docker compose up\b/g)]
    expect(starts.length).toBeGreaterThan(3)
    const inline = starts.flatMap(([, given]) => given!.match(/[A-Z_]+(?==)/g) ?? [])
    expect([...new Set(inline)].toSorted()).toEqual(['OPERATOR_EMAIL', 'OPERATOR_TOKEN'])
  })

  test('upgrades with compose', () => {
    const [, upgrade] = /^## Upgrade\n([^]*?)\n## /m.exec(page)!
    expect(upgrade).toMatch(/```sh\ndocker compose build\n[^`]*docker compose up --detach/)
  })
})

const hasCompose = await run('docker', ['compose', 'version']).then(
  () => true,
  () => false,
)
if (!hasCompose) console.warn('docker compose config is not asked: there is no docker compose on this machine.')

// spec: can/deployment
test.skipIf(!hasCompose)('docker compose takes it', async () => {
  const file = path.join(projectFolder, 'docker-compose.yml')
  const { stdout } = await run('docker', ['compose', '--file', file, '--profile', '*', 'config', '--services'])
  expect(stdout.trim().split('\n').toSorted()).toEqual(all.map(([name]) => name).toSorted())
})

function shared(one: ComposeService, other: ComposeService): string[] {
  return (one.networks ?? []).filter((network) => other.networks?.includes(network))
}

/** All that have to come before, also those of others. */
function waitsFor(name: string, seen = new Set<string>()): string[] {
  for (const other of Object.keys(compose.services[name]?.depends_on ?? {}))
    if (!seen.has(other)) {
      seen.add(other)
      waitsFor(other, seen)
    }
  return [...seen]
}
