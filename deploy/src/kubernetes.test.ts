import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { times } from '@gateway/api/limits'
import { describe, expect, test } from 'vitest'
import { privateRanges } from '@gateway/service-kit/public-network/public-lookup'
import { gatewayConfig } from '@gateway/gateway/config'
import { assetsVolume, mountedAt, environmentOf, workloadsOf, type Workload } from './workloads.ts'
import { dockerTargets } from './dockerfile.ts'
import { environmentProblems, type Given } from './environment-problems.ts'
import { problemsOf } from './kubernetes-schema.ts'
import { type IpBlock, networkReach } from './network-reach.ts'
import { isProgram, programs, services } from './programs.ts'
import { canRender, overlays, renderFolder, renderOverlay } from './render.ts'

// The manifests without a cluster. What they say of names, ports and paths is held against the services' own code.

const possible = await canRender()
if (!possible) console.warn('The manifests are not checked: there is no kubectl on this machine to render them.')
const reads = (name: string, variable: string) => isProgram(name) && variable in programs[name].variables.shape
const labelOf = ({ labels }: Workload) => labels['app.kubernetes.io/name'] ?? ''

describe.skipIf(!possible).each(overlays)('overlay %s', async (overlay) => {
  const manifests = possible ? await renderOverlay(overlay) : []
  const workloads = workloadsOf(manifests)
  const ours = workloads.filter((workload) => isProgram(labelOf(workload)))
  const deployments = ours.filter(({ kind }) => kind === 'Deployment')
  const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind)
  const settings = (workload: Workload) => environmentOf(workload.pod.containers[0]!, manifests)

  // spec: can/deployment
  test('every object fits the schema of its kind', async () => {
    const problems = await Promise.all(manifests.map(problemsOf))
    expect(problems.flat()).toEqual([])
  })

  test('the four services and the migration are there', () => {
    expect(deployments.map(labelOf).toSorted()).toEqual([...services].toSorted())
    expect(ours.filter(({ kind }) => kind === 'Job').map(labelOf)).toContain('migrate')
  })

  test.each(ours)('the environment of $name is what it reads', (workload) => {
    const name = labelOf(workload)
    expect(isProgram(name) && environmentProblems(programs[name], settings(workload))).toEqual([])
  })

  test('each variable of the migration can be set', () => {
    const given = Object.keys(settings(ours.find((workload) => labelOf(workload) === 'migrate')!))
    expect(given.map((name) => name.replace(/_FILE$/, '')).toSorted()).toEqual(
      Object.keys(programs.migrate.variables.shape).toSorted(),
    )
  })

  test.each(ours)('the image of $name is a target of the Dockerfile', ({ pod }) => {
    const [, target] = /model-gateway\/([a-z]+):/.exec(pod.containers[0]!.image) ?? []
    expect(Object.keys(dockerTargets())).toContain(target)
  })

  test.each(deployments)('$name listens where its port, probes and scrapes are', (workload) => {
    const [container] = workload.pod.containers
    const ports = container!.ports ?? []
    const { HOST, PORT, METRICS_HOST, METRICS_PORT } = settings(workload)
    expect(Object.fromEntries(ports.map(({ name, containerPort }) => [name, String(containerPort)]))).toEqual({
      http: PORT,
      metrics: METRICS_PORT,
    })
    expect([HOST, METRICS_HOST]).toEqual(['0.0.0.0', '0.0.0.0'])

    const routes = programs[labelOf(workload) as (typeof services)[number]].routes()
    const { startupProbe, livenessProbe, readinessProbe } = container!
    for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
      expect(routes).toContain(`GET ${probe?.httpGet?.path}`)
      expect(ports.map(({ name }) => name)).toContain(probe?.httpGet?.port)
    }
    // A restart heals only what is wrong with the process itself.
    expect(livenessProbe?.httpGet?.path).toBe('/health/live')
    expect(readinessProbe?.httpGet?.path).toBe('/health/ready')

    const template = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === workload.name)
    const { annotations } = (template!['spec'] as { template: { metadata: { annotations: Record<string, string> } } })
      .template.metadata
    expect(annotations['prometheus.io/port']).toBe(METRICS_PORT)
    expect(annotations['prometheus.io/path']).toBe('/metrics')
    expect(routes).not.toContain('GET /metrics')
  })

  test('nothing but Prometheus reaches what is measured', () => {
    const [measured] = deployments.map((workload) => Number(settings(workload)['METRICS_PORT']))
    const rules = ofKind('NetworkPolicy').flatMap(({ spec }) => (spec as { ingress?: IngressRule[] }).ingress ?? [])
    const open = rules.filter(({ ports }) => ports?.some(({ port }) => port === measured) ?? true)
    expect(open).toEqual([
      {
        from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
        ports: [{ port: measured }],
      },
    ])
    for (const { spec } of ofKind('Service'))
      for (const { port, targetPort } of (spec as { ports: { port: number; targetPort?: number | string }[] }).ports)
        expect([measured, 'metrics']).not.toContain(targetPort ?? port)
  })

  test('addresses of services are those of Services, and each Service finds pods', () => {
    const listening = ofKind('Service').map(({ metadata, spec }) => {
      const { ports, selector } = spec as { ports: { port: number }[]; selector: Record<string, string> }
      const found = workloads.filter(({ labels }) =>
        Object.entries(selector).every(([key, value]) => labels[key] === value),
      )
      expect([metadata.name, found.length]).toEqual([metadata.name, 1])
      return `http://${metadata.name}:${ports[0]!.port}`
    })
    for (const workload of ours)
      for (const name of ['LEDGER_URL', 'CONSOLE_URL'])
        if (settings(workload)[name] !== undefined) expect(listening).toContain(settings(workload)[name])
  })

  test.each(deployments)('$name has the time that its drain takes', (workload) => {
    const drainMs = Number(settings(workload)['DRAIN_MS'])
    const { terminationGracePeriodSeconds: graceS = 30, containers } = workload.pod
    const beforeS = containers[0]!.lifecycle?.preStop?.sleep?.seconds ?? 0
    expect(beforeS).toBeGreaterThan(0)
    // What follows the drain: settlements, the queue, the pools, telemetry.
    expect(graceS * 1_000).toBeGreaterThanOrEqual(beforeS * 1_000 + drainMs + 20_000)
    if (overlay === 'production' && ['gateway', 'worker'].includes(labelOf(workload)))
      expect(drainMs).toBeGreaterThan(times.callMs)
  })

  test.each(workloads)('$name keeps to what a restricted pod may', ({ kind, pod }) => {
    expect(pod.automountServiceAccountToken).toBe(false)
    expect(pod.enableServiceLinks).toBe(false)
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(Object.keys(container.resources?.requests ?? {})).toEqual(['cpu', 'memory'])
      expect(container.resources?.limits?.['memory']).toBeDefined()
    }
    if (kind === 'Deployment') expect(pod.topologySpreadConstraints).toHaveLength(2)
  })

  test('only gateway and worker reach out, and only ledger and console reach Postgres', () => {
    const reach = networkReach(manifests)
    const names = workloads.map(labelOf)
    const jobs = ours.filter(({ kind }) => kind === 'Job' || kind === 'CronJob').map(labelOf)
    expect(reach.isolated(names)).toEqual(names) // nothing is possible that no policy allows
    expect(reach.toTheFixture(names).toSorted()).toEqual(['gateway', 'worker'])
    expect(reach.toPort(5432, names).toSorted()).toEqual(['console', 'ledger', ...jobs].toSorted())
    expect(reach.toPort(6379, names).toSorted()).toEqual(names.filter((name) => reads(name, 'REDIS_URL')).toSorted())
  })

  test('who may reach every public address reaches none that the services take for private', () => {
    expect(networkReach(manifests).everywhere().map(exceptions)).toEqual(publicInternet)
  })

  test('who stores or reads assets does so in one place that outlives them, and has room for them on their way', () => {
    const stores = deployments.filter((workload) => reads(labelOf(workload), 'ASSETS_FOLDER'))
    expect(stores.map(labelOf).toSorted()).toEqual(['console', 'gateway', 'worker'])
    const [place, ...others] = stores.map((workload) => assetsVolume(workload, settings(workload)))
    for (const other of others) expect(other).toEqual(place)
    if ('claimName' in place!)
      expect(ofKind('PersistentVolumeClaim').map(({ metadata }) => metadata.name)).toContain(place.claimName)
    // A pod beyond its limit is evicted, so there is room for what a killed container left as well.
    for (const workload of stores) {
      const { sizeLimit = '0Gi' } = mountedAt(workload.pod, '/tmp')?.emptyDir ?? {}
      expect([workload.name, mebibytes(sizeLimit)]).toEqual([workload.name, 2 * mostOnTheirWay(settings(workload))])
    }
  })

  test('the memory limit of the gateway covers its streams, images and vectors at their limits', () => {
    const gateway = deployments.find((workload) => labelOf(workload) === 'gateway')!
    const limit = gateway.pod.containers[0]!.resources?.limits?.['memory']
    expect(mebibytes(limit ?? '')).toBeGreaterThanOrEqual(mostMemory(settings(gateway)))
  })

  test('the base address leads to what is public, and to nothing else', () => {
    const [ingress] = ofKind('Ingress')
    const { paths } = (ingress!['spec'] as { rules: { http: { paths: IngressPath[] } }[] }).rules[0]!.http
    const leads = Object.fromEntries(paths.map(({ path, backend }) => [path, backend.service.name]))
    expect(leads).toEqual({
      '/v1': 'gateway',
      '/docs': 'gateway',
      '/llms.txt': 'gateway',
      '/openapi.json': 'gateway',
      '/api/v2': 'console',
      '/console': 'console',
    })
    for (const service of ['gateway', 'console'] as const) {
      const own = Object.keys(leads).filter((path) => leads[path] === service)
      const inside = programs[service]
        .routes()
        .map((route) => route.split(' ')[1]!)
        .filter((path) => !own.some((prefix) => path === prefix || path.startsWith(`${prefix}/`)))
      expect(inside.filter((path) => path !== '/').toSorted()).toEqual(['/health/live', '/health/ready'])
    }
  })

  test.runIf(overlay === 'production')(
    'the archive is kept where it outlives its job, and the ledger watches over it',
    () => {
      const archive = ours.find((workload) => labelOf(workload) === 'archive')!
      expect(archive.kind).toBe('CronJob')
      const { ARCHIVE_FOLDER: folder = '', ARCHIVE_AFTER_DAYS: afterDays } = settings(archive)
      const claim = mountedAt(archive.pod, folder!)?.persistentVolumeClaim?.claimName
      expect(ofKind('PersistentVolumeClaim').map(({ metadata }) => metadata.name)).toContain(claim)
      const ledger = deployments.find((workload) => labelOf(workload) === 'ledger')!
      expect(settings(ledger)['ARCHIVE_AFTER_DAYS']).toBe(afterDays)
    },
  )

  test('disruption budgets and autoscalers are for pods that are there', () => {
    for (const { spec } of ofKind('PodDisruptionBudget')) {
      const { matchLabels } = (spec as { selector: { matchLabels: Record<string, string> } }).selector
      expect(deployments.map(labelOf)).toContain(matchLabels['app.kubernetes.io/name'])
    }
    const scaled = [...ofKind('HorizontalPodAutoscaler'), ...ofKind('ScaledObject')].map(
      ({ spec }) => (spec as { scaleTargetRef: { name: string } }).scaleTargetRef.name,
    )
    if (overlay === 'production') expect(scaled.toSorted()).toEqual(['gateway', 'ledger', 'worker'])
    for (const { metadata, spec } of ofKind('Deployment'))
      if (scaled.includes(metadata.name)) expect(spec).not.toHaveProperty('replicas') // else each rollout would reset it
  })

  test.runIf(overlay === 'production')(
    'a restore starts what neither the overlay nor an autoscaler starts from 0',
    async () => {
      const page = await readFile(path.join(import.meta.dirname, '../../docs/operating.md'), 'utf8')
      const [, restore] = /\nRestore:\n([^]*?)\n## /.exec(page)!
      const started = [...restore!.matchAll(/kubectl [^`]*scale ([^`]*)--replicas=[1-9]/g)].map(([, names]) => names)
      const without = ofKind('Deployment').filter(({ spec }) => !('replicas' in (spec as object)))
      expect(without.length).toBeGreaterThan(0)
      for (const { metadata } of without) expect(started.join(' ')).toContain(`deploy/${metadata.name} `)
      // In a new cluster, the ledger comes first.
      const [, names] = /--selector 'app\.kubernetes\.io\/name notin \(([^)]*)\)'/.exec(restore!)!
      const first = [...ofKind('Deployment'), ...ofKind('CronJob')].map(({ metadata }) => metadata)
      const left = first.filter(({ labels }) => !names!.split(',').includes(labels!['app.kubernetes.io/name']!))
      expect(left.map(({ name }) => name)).toEqual(['ledger'])
    },
  )

  test.runIf(overlay === 'production')('workers scale by what waits, and stay while three quarters are busy', () => {
    const [scaler] = ofKind('ScaledObject')
    const { triggers } = scaler!['spec'] as { triggers: { name: string; metadata: { threshold: string } }[] }
    const thresholds = Object.fromEntries(triggers.map(({ name, metadata }) => [name, Number(metadata.threshold)]))
    const worker = deployments.find((workload) => labelOf(workload) === 'worker')!
    const atOnce = Number(settings(worker)['CONCURRENCY'])
    expect(thresholds).toMatchObject({ waiting: atOnce, busy: (atOnce * 3) / 4 })
  })

  test('rate limits are divided among as many gateways as there can be', () => {
    const specOf = (kind: string) =>
      ofKind(kind).find(({ metadata }) => metadata.name === 'gateway')?.['spec'] as Record<string, number> | undefined
    const most = specOf('HorizontalPodAutoscaler')?.['maxReplicas'] ?? specOf('Deployment')?.['replicas']
    const { RATE_SHARES } = settings(deployments.find((workload) => labelOf(workload) === 'gateway')!)
    expect(gatewayConfig.shape.RATE_SHARES.parse(RATE_SHARES ?? undefined)).toBe(most)
  })

  test('secrets are referred to, and kept elsewhere in production', () => {
    if (overlay === 'production') expect(ofKind('Secret')).toEqual([])
  })
})

/** What the address filter leaves open, family by family. */
const publicInternet = [
  ['0.0.0.0/0', privateRanges.ipv4.toSorted()],
  ['::/0', privateRanges.ipv6.toSorted()],
]

function exceptions({ cidr, except = [] }: IpBlock) {
  return [cidr, except.toSorted()]
}

function mebibytes(size: string): number {
  const [, count = '', unit] = /^(\d+)(Gi|Mi)$/.exec(size) ?? []
  return Number(count) * (unit === 'Gi' ? 1024 : 1)
}

/** Mebibytes of files on their way into the asset store. */
function mostOnTheirWay({ MAX_CONCURRENT_ASSET_BYTES: bytes }: Given): number {
  return gatewayConfig.shape.MAX_CONCURRENT_ASSET_BYTES.parse(bytes ?? undefined) / 1024 ** 2
}

/** Mebibytes with all limits reached: idle, streams, both budgets times five, two counting threads (docs/growing.md). */
function mostMemory({ MAX_CONCURRENT_CALLS: calls, MAX_CONCURRENT_IMAGE_BYTES: bytes }: Given): number {
  const { MAX_CONCURRENT_CALLS, MAX_CONCURRENT_IMAGE_BYTES } = gatewayConfig.shape
  const streams = (MAX_CONCURRENT_CALLS.parse(calls ?? undefined) * 60) / 1024
  const budget = MAX_CONCURRENT_IMAGE_BYTES.parse(bytes ?? undefined) / 1024 ** 2
  return 196 + streams + 2 * 5 * budget + 2 * 70
}

interface IngressRule {
  from?: object[]
  ports?: { port: number }[]
}

interface IngressPath {
  path: string
  backend: { service: { name: string } }
}

test.skipIf(!possible).for([
  ['sign-in-provider', 443],
  ['mail-server', 465],
  ['mail-server', 587],
] as const)('the component %s lets the console alone reach port %s', async ([component, port]) => {
  const manifests = await renderFolder(`components/${component}`)
  expect((await Promise.all(manifests.map(problemsOf))).flat()).toEqual([])
  expect(networkReach(manifests).toPort(port, [...services])).toEqual(['console'])
})

test.skipIf(!possible)('the component pod-identity lets those who use the bucket reach the agent of EKS', async () => {
  const manifests = await renderFolder('components/pod-identity')
  expect((await Promise.all(manifests.map(problemsOf))).flat()).toEqual([])
  expect(networkReach(manifests).toPort(80, [...services])).toEqual(['gateway', 'worker', 'console'])
})

test.skipIf(!possible)(
  'workers of an overlay in another namespace scale by the figures of that namespace',
  async () => {
    const manifests = await renderFolder('overlays/production', async (copy) => {
      const file = path.join(copy, 'overlays/production/kustomization.yaml')
      await writeFile(file, (await readFile(file, 'utf8')).replace(/^namespace: .*$/m, 'namespace: elsewhere'))
    })
    const { triggers } = manifests.find(({ kind }) => kind === 'ScaledObject')!['spec'] as {
      triggers: { metadata: { query: string } }[]
    }
    const namespaces = triggers.map(({ metadata }) => /\{namespace="([^"]*)"\}/.exec(metadata.query)?.[1])
    expect(namespaces).toEqual(triggers.map(() => 'elsewhere'))
  },
)
