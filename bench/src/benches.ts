import type { Bench } from './bench.ts'
import { chatPath } from './chat-path/chat-path.ts'
import { flow } from './flow/flow.ts'
import { hotWallet } from './hot-wallet/hot-wallet.ts'
import { recovery } from './recovery/recovery.ts'
import { soak } from './soak/soak.ts'
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
}
