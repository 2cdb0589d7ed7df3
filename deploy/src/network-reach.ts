import type { Manifest } from './render.ts'

interface Selector {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'; values?: string[] }[]
}

interface Policy {
  podSelector: Selector
  policyTypes?: string[]
  egress?: { to?: { ipBlock?: IpBlock }[]; ports?: { port: number }[] }[]
}

export interface IpBlock {
  cidr: string
  except?: string[]
}

const NAME = 'app.kubernetes.io/name'

/** What the network policies let pods reach, by the pods' `app.kubernetes.io/name`. */
export function networkReach(manifests: readonly Manifest[]) {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec as Policy)
  const waysOut = (name: string) =>
    policies.filter(({ podSelector }) => selects(podSelector, name)).flatMap(({ egress }) => egress ?? [])

  return {
    /** Those for whom everything is forbidden that isn't allowed, in both directions. */
    isolated: (names: readonly string[]) =>
      names.filter((name) =>
        ['Ingress', 'Egress'].every((way) =>
          policies.some(({ podSelector, policyTypes }) => selects(podSelector, name) && policyTypes?.includes(way)),
        ),
      ),
    /** Those who may reach every public address. */
    toTheFixture: (names: readonly string[]) =>
      names.filter((name) =>
        waysOut(name).some(({ to }) => to === undefined || to.some(({ ipBlock }) => ipBlock?.cidr === '0.0.0.0/0')),
      ),
    /** The ways out to all addresses of a family but those excepted. */
    everywhere: () =>
      policies
        .flatMap(({ egress = [] }) => egress.flatMap(({ to = [] }) => to.map(({ ipBlock }) => ipBlock)))
        .filter((block): block is IpBlock => block?.cidr === '0.0.0.0/0' || block?.cidr === '::/0'),
    /** Those who may reach a port. */
    toPort: (port: number, names: readonly string[]) =>
      names.filter((name) =>
        waysOut(name).some(({ ports }) => ports === undefined || ports.some((allowed) => allowed.port === port)),
      ),
  }
}

function selects({ matchLabels = {}, matchExpressions = [] }: Selector, name: string): boolean {
  const labels: Record<string, string> = { [NAME]: name, 'app.kubernetes.io/part-of': 'model-gateway' }
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key]
      switch (operator) {
        case 'In':
          return value !== undefined && values.includes(value)
        case 'NotIn':
          return value === undefined || !values.includes(value)
        case 'Exists':
          return value !== undefined
        case 'DoesNotExist':
          return value === undefined
      }
    })
  )
}
