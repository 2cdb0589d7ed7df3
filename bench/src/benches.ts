import type { Bench } from './bench.ts'
import { clientSize } from './client-size/client-size.ts'
import { chatPath } from './chat-path/chat-path.ts'
import { checkRound } from './check/check-books.ts'
import { consolePage } from './console-page/console-page.ts'
import { counting } from './counting/counting.ts'
import { crashes } from './crashes/crashes.ts'
import { flow } from './flow/flow.ts'
import { growth } from './growth/growth.ts'
import { histories } from './histories/histories.ts'
import { hotWallet } from './hot-wallet/hot-wallet.ts'
import { longSnapshot } from './long-snapshot/long-snapshot.ts'
import { recovery } from './recovery/recovery.ts'
import { soak } from './soak/soak.ts'
import { start } from './start/start.ts'
import { usagePage } from './usage-page/usage-page.ts'
import { wrongRow } from './wrong-row/wrong-row.ts'

export const benches: Record<string, Bench> = {
  'hot-wallet': {
    title: 'admissions on one wallet, batched in batchers, against a Prisma transaction each',
    rounds: 5,
    seconds: 2,
    profiles: ['ledger'],
    run: hotWallet,
  },
  'wrong-row': {
    title: 'a busy project beside one whose wallet is wrong, against the busy one alone',
    rounds: 5,
    seconds: 5,
    profiles: ['ledger'],
    run: wrongRow,
  },
  'chat-path': {
    title: 'a chat call through everything, against the bare provider, a bare proxy and the Portkey gateway',
    rounds: 5,
    seconds: 3,
    profiles: ['gateway', 'ledger'],
    run: chatPath,
  },
  soak: {
    title: 'ten times more calls than the stack can take: who is let in, who is refused, and what it costs in memory',
    rounds: 10,
    seconds: 30,
    profiles: [],
    run: soak,
  },
  flow: {
    title: 'a linear free flow through worker processes, against DBOS on the same Postgres, and with more workers',
    rounds: 3,
    seconds: 5,
    profiles: [],
    run: flow,
  },
  recovery: {
    title: 'workers killed with -9: how long until another one has taken up what they were running',
    rounds: 10,
    seconds: 1,
    profiles: [],
    run: recovery,
  },
  'long-snapshot': {
    title: 'one busy wallet while somebody keeps a snapshot of the primary, and the console as that somebody',
    rounds: 1,
    seconds: 60,
    profiles: [],
    run: longSnapshot,
  },
  'usage-page': {
    title: 'a page of usage of a month with a million calls: from hours, against from every call',
    rounds: 5,
    seconds: 1,
    profiles: [],
    run: usagePage,
  },
  crashes: {
    title: 'the scenario of crashes again and again, with a busy loop on each processor beside it: does any round fail',
    rounds: 30,
    seconds: 1,
    profiles: [],
    run: crashes,
  },
  histories: {
    title:
      'random histories, by SQL and by the pure decision: 100,000 operations a round, every outcome and balance compared',
    rounds: 10,
    seconds: 1,
    profiles: [],
    run: histories,
  },
  'check-books': {
    title:
      'a round of the check of the books: nothing has moved, few wallets have, and those that stand still are compared',
    rounds: 5,
    seconds: 1,
    profiles: [],
    run: checkRound,
  },
  counting: {
    title: 'how long until the tokens of a prompt are counted: new, known, made to be slow, and beside a busy project',
    rounds: 5,
    seconds: 2,
    profiles: [],
    run: counting,
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
  start: {
    title: 'npm start where nothing has changed, against the same without the step that builds the console’s page',
    rounds: 5,
    seconds: 1,
    profiles: [],
    run: start,
  },
  growth: {
    title: 'the same questions to empty books, to 100,000 calls, to a million and to ten million (one size a round)',
    rounds: 3,
    seconds: 3,
    profiles: [],
    run: growth,
  },
}
