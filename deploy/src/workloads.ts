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
