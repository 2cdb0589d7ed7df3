import type { Bench } from './bench.ts'
import { cells } from './cells/cells.ts'
import { clientSize } from './client-size/client-size.ts'
import { chatPath } from './chat-path/chat-path.ts'
import { consoleLists } from './console-lists/console-lists.ts'
import { consolePage } from './console-page/console-page.ts'
import { counting } from './counting/counting.ts'
import { onEdge } from './edge/edge.ts'
import { floodOfSockets } from './edge/idle-sockets.ts'
import { neighbours } from './edge/neighbours.ts'
import { sharedLimits } from './edge/shared-limits.ts'
import { slowBodies } from './edge/slow-bodies.ts'
import { storedAssets } from './edge/stored-assets.ts'
import { silentNames, silentWebhooks } from './edge/silent-webhooks.ts'
import { fairProviders } from './fair-providers/fair-providers.ts'
import { followers } from './followers/followers.ts'
import { flow } from './flow/flow.ts'
import { growth } from './growth/growth.ts'
import { histories } from './histories/histories.ts'
import { hotWallet } from './hot-wallet/hot-wallet.ts'
import { overhead } from './overhead/overhead.ts'
import { openStreams } from './open-streams/open-streams.ts'
import { recovery } from './recovery/recovery.ts'
import { signIn } from './sign-in/sign-in.ts'
import { slowDisk } from './slow-disk/slow-disk.ts'
import { soak } from './soak/soak.ts'
import { streams } from './streams/streams.ts'
import { wires } from './wires/wires.ts'
import { turns } from './turns/turns.ts'
import { usagePage } from './usage-page/usage-page.ts'

export const benches: Record<string, Bench> = {
  'hot-wallet': {
    title: 'admissions on one wallet, batched in batchers, against a Prisma transaction each',
    rounds: 5,
    seconds: 2,
    profiles: ['ledger'],
    run: hotWallet,
  },
  'chat-path': {
    title: 'a chat call through everything, against the bare provider, a bare proxy and the Portkey gateway',
    rounds: 5,
    seconds: 3,
    profiles: ['gateway', 'ledger'],
    run: chatPath,
  },
  turns: {
    title: 'the chat call of this checkout and of another one, in turns',
    rounds: 12,
    seconds: 2,
    profiles: [],
    comparesCheckouts: true,
    run: turns,
  },
  overhead: {
    title: 'what a call takes longer than at the provider, at fixed rates, next to Portkey and a bare proxy',
    rounds: 3,
    seconds: 6,
    profiles: [],
    run: overhead,
  },
  'slow-disk': {
    title: 'a lone call on a disk that takes 2 ms, with and without an idempotency key',
    rounds: 5,
    seconds: 6,
    profiles: [],
    run: slowDisk,
  },
  'open-streams': {
    title: '9,800 slow streams on one gateway: memory of each, and what a neighbour and the event loop notice',
    rounds: 1,
    seconds: 5,
    profiles: [],
    run: openStreams,
  },
  streams: {
    title: 'what a chunk of a stream costs the gateway, next to a bare pipe, fast and at the pace of a model',
    rounds: 3,
    seconds: 4,
    profiles: ['gateway'],
    run: streams,
  },
  wires: {
    title: 'the same call on each wire, whole and as a stream, in processor time of the gateway',
    rounds: 5,
    seconds: 3,
    profiles: ['gateway'],
    run: wires,
  },
  soak: {
    title: 'ten times more calls than the stack can take: who is let in, who is refused, and what it costs in memory',
    rounds: 10,
    seconds: 30,
    profiles: [],
    run: soak,
  },
  'fair-providers': {
    title: 'a neighbour of 1,500 slow calls at the same provider: its p99 before and meanwhile',
    rounds: 3,
    seconds: 5,
    profiles: [],
    run: fairProviders,
  },
  flow: {
    title: 'a linear free flow through worker processes, against DBOS on the same Postgres, and with more workers',
    rounds: 3,
    seconds: 5,
    profiles: [],
    run: flow,
  },
  'idle-sockets': {
    title: '5,000 idle sockets of forged keys: calls of new keys meanwhile, when all are closed, and the memory',
    rounds: 1,
    seconds: 1,
    profiles: [],
    run: onEdge(floodOfSockets),
  },
  'slow-bodies': {
    title: 'bodies made to be slow to parse, with forged and real keys, and what other callers notice',
    rounds: 1,
    seconds: 15,
    profiles: [],
    run: onEdge(slowBodies),
  },
  'rate-limits': {
    title: 'limits of requests and tokens per minute over three gateways, at ten times their rate',
    rounds: 1,
    seconds: 1,
    profiles: [],
    run: onEdge(sharedLimits),
  },
  neighbours: {
    title: 'estimates, slow readers and slow uploads of one project, and what the calls of another one notice',
    rounds: 3,
    seconds: 30,
    profiles: [],
    run: onEdge(neighbours, async () => ({ consoles: 1 })),
  },
  webhooks: {
    title: '20 webhooks on a host whose name servers never answer: calls, notices and revocations of others',
    rounds: 1,
    seconds: 30,
    profiles: [],
    run: onEdge(silentWebhooks, silentNames),
  },
  storage: {
    title: '10 GB of uploads by a project with funds and by one without',
    rounds: 1,
    seconds: 1,
    profiles: [],
    run: onEdge(storedAssets),
  },
  recovery: {
    title: 'workers killed with -9: how long until another one has taken up what they were running',
    rounds: 10,
    seconds: 1,
    profiles: [],
    run: recovery,
  },
  'sign-in': {
    title: 'eighty connections that guess passwords: how long a user on a new device takes to sign in meanwhile',
    rounds: 1,
    seconds: 5,
    profiles: [],
    run: signIn,
  },
  followers: {
    title:
      'five hundred followers of one execution by one user: what a neighbor notices, and how fast it revokes a key',
    rounds: 5,
    seconds: 3,
    profiles: [],
    run: followers,
  },
  'usage-page': {
    title: 'a page of usage of a month with a million calls: from hours, against from every call',
    rounds: 5,
    seconds: 1,
    profiles: [],
    run: usagePage,
  },
  histories: {
    title:
      'random histories, by SQL and by the pure decision: 100,000 operations a round, every outcome and balance compared',
    rounds: 10,
    seconds: 1,
    profiles: [],
    run: histories,
  },
  counting: {
    title:
      'how long until the tokens of a prompt are counted: new, known, made to be slow, and alongside a busy project',
    rounds: 5,
    seconds: 2,
    profiles: [],
    run: counting,
  },
  cells: {
    title: 'projects divided over several primaries by a fixed map: how evenly, and what a new one moves',
    rounds: 1,
    seconds: 1,
    profiles: [],
    run: cells,
  },
  'client-size': {
    title: 'what the client for TypeScript adds to a page',
    rounds: 1,
    seconds: 1,
    profiles: [],
    run: clientSize,
  },
  'console-page': {
    title: 'the console in a browser: until it can be used, the largest flow under the mouse, and a year of usage',
    rounds: 5,
    seconds: 3,
    profiles: [],
    run: consolePage,
  },
  'console-lists': {
    title: 'every list and chart of the console at its API: a project with a million calls among 10,000 projects',
    rounds: 1,
    seconds: 3,
    profiles: [],
    calls: 1_000_000,
    run: consoleLists,
  },
  growth: {
    title: 'the same questions to empty books, to 100,000 calls, to a million and to ten million (one size a round)',
    rounds: 3,
    seconds: 3,
    profiles: [],
    run: growth,
  },
}
