import type { Given } from './environment-problems.ts'
import type { Manifest } from './render.ts'

export interface Probe {
  httpGet?: { path: string; port: string | number }
}

export interface Container {
  name: string
  image: string
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef?: { name: string; key: string } } }[]
  envFrom?: { configMapRef?: { name: string }; secretRef?: { name: string } }[]
  ports?: { name: string; containerPort: number }[]
  startupProbe?: Probe
  livenessProbe?: Probe
  readinessProbe?: Probe
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> }
  securityContext?: Record<string, unknown>
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[]
  lifecycle?: { preStop?: { sleep?: { seconds: number } } }
}

export interface Workload {
  kind: string
  name: string
  labels: Record<string, string>
  pod: {
    containers: Container[]
    initContainers?: Container[]
    volumes?: {
      name: string
      emptyDir?: { sizeLimit?: string }
      persistentVolumeClaim?: { claimName: string }
      secret?: { secretName: string; defaultMode?: number }
    }[]
    securityContext?: Record<string, unknown>
    automountServiceAccountToken?: boolean
    enableServiceLinks?: boolean
    terminationGracePeriodSeconds?: number
    topologySpreadConstraints?: unknown[]
  }
}

interface Runs {
  template?: { metadata?: { labels?: Record<string, string> }; spec?: unknown }
}

/** Anything that runs pods. */
export function workloadsOf(manifests: readonly Manifest[]): Workload[] {
  return manifests.flatMap((manifest) => {
    const { kind, metadata, spec } = manifest
    if (kind === 'Pod')
      return [{ kind, name: metadata.name, labels: metadata.labels ?? {}, pod: spec as Workload['pod'] }]
    const { template } = ((spec as { jobTemplate?: { spec: Runs } } | undefined)?.jobTemplate?.spec ??
      spec ??
      {}) as Runs
    if (template?.spec === undefined) return []
    const labels = template.metadata?.labels ?? {}
    return [{ kind, name: metadata.name, labels, pod: template.spec as Workload['pod'] }]
  })
}

/** What a container finds in its environment. @throws Error where it refers to a map that is not there */
export function environmentOf(container: Container, manifests: readonly Manifest[]): Given {
  const given: Given = {}
  for (const { configMapRef } of container.envFrom ?? []) {
    const map = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMapRef?.name)
    if (map === undefined) throw new Error(`${container.name} refers to ${configMapRef?.name}, which does not exist`)
    Object.assign(given, map['data'])
  }
  for (const { name, value, valueFrom } of container.env ?? []) given[name] = valueFrom ? null : (value ?? '')
  return given
}

/**
 * Where a workload keeps assets, to be held against that of others: a bucket, or a claim that is mounted at its folder.
 * @throws Error where they would be lost with the pod
 */
export function assetsVolume({ name, pod }: Workload, settings: Given): object {
  const { ASSETS_FOLDER: folder, ASSETS_S3_BUCKET: bucket } = settings
  if (bucket !== undefined) return bucketOf(settings)
  const claimName = mountedAt(pod, folder ?? '')?.persistentVolumeClaim?.claimName
  if (claimName === undefined) throw new Error(`${name} would keep assets in ${folder}, which ends with it`)
  return { claimName, folder }
}

/** The volume that a pod's first container can write to at a path. */
export function mountedAt({ containers, volumes = [] }: Workload['pod'], path: string) {
  const mount = containers[0]?.volumeMounts?.find(({ mountPath, readOnly }) => mountPath === path && readOnly !== true)
  return volumes.find(({ name }) => name === mount?.name)
}

function bucketOf(settings: Given): Given {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => name.startsWith('ASSETS_')))
}
