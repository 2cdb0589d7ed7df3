// Who may know whom: services → packages → api, ledger-protocol → pricing. One table; the rule alongside it only reads it.

/** What each package may import of the others. A package that is not listed may import what anyPackageMayKnow says. */
const packagesMayKnow = {
  pricing: [],
  api: ['pricing'],
  'ledger-protocol': ['api', 'pricing'],
  'api-client': ['api'], // its types alone
  'service-kit': ['api'],
  // Assets come and go as bodies of requests and answers. Their limits are configuration, and are measured.
  assets: ['service-kit/async', 'api', 'pricing', 'service-kit/http', 'service-kit/process'],
  'simulated-provider': [],
  typescript: ['api-client', 'api'], // clients/typescript runs wherever there is fetch
  cli: ['api-client', 'api', 'flow', 'mcp-bridge', 'pricing'], // bundled whole: nothing of a service is in it
  'mcp-bridge': ['api', 'pricing', 'service-kit/process'],
  // A worker posts to webhooks what the ledger has signed; estimates are computed from its facts.
  'ledger-client': [
    'service-kit/async',
    'api',
    'flow',
    'ledger-protocol',
    'pricing',
    'service-kit/process',
    'service-kit/public-network',
  ],
  providers: ['service-kit/async', 'api', 'pricing', 'service-kit/public-network', 'service-kit/text'],
  capture: ['service-kit/async', 'api', 'ledger-client', 'ledger-protocol', 'pricing', 'service-kit/text'],
  tokens: ['service-kit/async', 'api', 'ledger-protocol', 'pricing', 'service-kit/process', 'providers'],
  'node-queue': ['service-kit/async', 'api', 'pricing', 'service-kit/process', 'service-kit/redis'],
  'console-page': ['api-client', 'api', 'flow', 'pricing'], // it runs in browsers: of ours only what is pure
  'local-stack': [
    'bundler',
    'api',
    'pricing',
    'database',
    'service-kit/process',
    'simulated-provider',
    'providers',
    'ledger-client',
    'prisma',
  ],
  testbed: 'all',
  fuzz: ['api', 'pricing', 'testbed'],
}
const anyPackageMayKnow = ['service-kit/async', 'api', 'pricing']

const services = ['gateway', 'worker', 'ledger', 'console']

/** What only a few may import, anyone who they are: names, who may, and why. */
const reserved = [
  {
    names: /^express($|\/)/,
    allowed: ({ floor, room }) => room === 'service-kit' || ['services', 'bench', 'scenarios'].includes(floor),
    reason:
      'Express stays in the services and in service-kit, which is their shell: no other package knows how its caller is reached.',
  },
  {
    names: /^bullmq/,
    allowed: ({ room }) => room === 'node-queue' || room === 'bench',
    reason: 'node-queue is the only place that knows BullMQ, so that the queue stays a doorbell that can be replaced.',
  },
  {
    names: /^(@prisma\/|prisma($|\/))/,
    allowed: ({ room, floor }) =>
      room === 'database' || (floor === 'services' && ['ledger', 'console'].includes(room)) || room === 'bench',
    reason: 'Prisma stays in database, ledger and console: anyone who has no database can do no harm to the books.',
  },
  {
    names: /^pg($|\/)/,
    allowed: ({ room, floor, isTest }) =>
      ['database', 'testbed', 'bench'].includes(room) || floor === 'prisma' || isTest,
    reason: 'Connections to Postgres are made by the database package.',
  },
  {
    names: /^@gateway\/database($|\/)/,
    allowed: ({ room, floor, isTest }) =>
      (floor === 'services' && ['ledger', 'console'].includes(room)) ||
      ['local-stack', 'testbed', 'bench', 'scenarios', 'prisma'].includes(room) ||
      isTest,
    reason: 'Only ledger and console reach the database: gateway and worker hold no credentials of it.',
  },
  {
    names: /^(@gateway\/testbed($|\/)|vitest($|\/)|fast-check$|testcontainers$)/,
    allowed: ({ room, isTest }) => isTest || ['testbed', 'fuzz', 'bench', 'scenarios'].includes(room),
    reason: 'What is made for tests never runs in production.',
  },
  {
    names: /^@gateway\/ledger-protocol($|\/)/,
    allowed: ({ room, floor }) =>
      floor !== 'clients' && !['api', 'pricing', 'flow', 'api-client', 'console-page'].includes(room),
    reason:
      'The wire to the ledger is private and may change with any release: what strangers, the page or a client have to know is in api.',
  },
  {
    names: /^@gateway\/(local-stack|simulated-provider|prisma)($|\/)/,
    allowed: ({ room, isTest }) =>
      isTest ||
      ['local-stack', 'simulated-provider', 'testbed', 'bench', 'scenarios', 'prisma', 'deploy'].includes(room),
    reason:
      'The local stack, its simulated provider and the seed are around the stack; no part of the stack knows them.',
  },
]

/** Why this place may not import that name, or null if it may. */
export function objection(place, name) {
  const found = reserved.find(({ names, allowed }) => names.test(name) && !allowed(place))
  if (found) return found.reason

  // The kit is many small rooms, each allowed by itself.
  const [, room] = /^@gateway\/(service-kit\/[^/]+|[^/]+)/.exec(name) ?? []
  if (!room || room.split('/')[0] === place.room) return null
  if (services.includes(room)) return serviceObjection(place)
  if (!['packages', 'clients', 'tools'].includes(place.floor)) return null
  const known = packagesMayKnow[place.room] ?? anyPackageMayKnow
  if (
    known === 'all' ||
    known.includes(room) ||
    (place.isTest && ['testbed', 'local-stack', 'simulated-provider'].includes(room))
  )
    return null
  return `Imports go services → packages → api, ledger-protocol → pricing; ${place.room} may know ${known.join(', ') || 'no other package'}.`
}

function serviceObjection({ floor }) {
  if (['scenarios', 'bench', 'deploy'].includes(floor)) return null
  return floor === 'services'
    ? 'A service never imports a service: they meet only over the wire, in the shapes of api and ledger-protocol.'
    : 'A package never imports a service: it would no longer be usable by the others.'
}
