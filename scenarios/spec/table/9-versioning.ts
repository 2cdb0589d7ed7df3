import type { Table } from '../check-table.ts'

const documentedRoutes = 'scenarios/documented-routes.test.ts'
const failover = 'scenarios/failover.scenario.ts'
const nothingLeaks = 'scenarios/nothing-leaks.scenario.ts'
const specifiedClaims = 'scenarios/spec/specified-claims.test.ts'
const products = 'services/console/src/catalogue/products.live.test.ts'
const rotateKey = 'services/console/src/keys/rotate-key.live.test.ts'
const revisions = 'services/console/src/sandboxes/revisions.live.test.ts'
const invoke = 'services/gateway/src/routes/v1/sandbox/invoke.live.test.ts'

export const versioning = {
  '9/s1': {
    says: 'Public model and sandbox endpoints live under the path prefix `/v1`.',
    provedBy: [
      [
        specifiedClaims,
        'the endpoints › of keys are below /v1 and those of persons below /api/v2, each kind behind its credential',
      ],
      [documentedRoutes, 'every route is described, and every described one is served'],
    ],
  },
  '9/s2': {
    says: 'The key-management console API lives under `/api/v2`.',
    provedBy: [
      [
        specifiedClaims,
        'the endpoints › of keys are below /v1 and those of persons below /api/v2, each kind behind its credential',
      ],
      [specifiedClaims, 'the endpoints › that the headings name are served'],
    ],
  },
  '9/s3': {
    says: 'Model ids are stable; the service reports the model, never the provider or origin behind it, so providers can change without integrations changing.',
    provedBy: [
      [products, 'a patch changes what it names and nothing else [not_found]'],
      [nothingLeaks, "no answer shows the provider › ${what}${stream ? ', streamed' : ''}"],
      [failover, 'who is asked › a provider that dies under load: every call is answered once and charged once'],
    ],
  },
  '9/s4': {
    says: 'Sandbox revisions are immutable and numbered; only the active revision answers external calls; an invoke body may name a revision but it must be the active one.',
    provedBy: [
      [revisions, 'an earlier revision is never changed by a later save'],
      [
        revisions,
        'a revision that an earlier release has saved and activated stays as it is when this one activates it',
      ],
      [revisions, 'a save is a revision of its own with a package, whose digest is that of its text'],
      [
        invoke,
        'what is refused begins no execution and charges nothing › of a revision that is not active, of a flow that is suspended, and of one that never was [revision_not_active]',
      ],
      [invoke, 'an invocation › may name the active revision'],
    ],
  },
  '9/s5': {
    says: 'Key rotation keeps lineage between old and new secrets.',
    provedBy: [[rotateKey, 'a replacement keeps everything but the secret, and the lineage says so']],
  },
  '9/s6': {
    says: 'Deprecation and compatibility policy for API versions: not shown.',
    because: 'left open; rules §1.2 says that there is none',
  },
} satisfies Table
