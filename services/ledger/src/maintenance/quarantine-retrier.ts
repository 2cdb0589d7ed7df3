import type { Deps } from '../deps.ts'
import { forgetKeptItems, takeKeptItems, type KeptItem } from '../quarantine/kept-items.ts'

// Resubmits kept settlements and completions (quarantine/kept-items.ts) as ordinary items. Most of them are answered at
// once from memory; one in a while is tried. Once one of a project succeeds, all the others of it follow.

const MAX_ITEMS = 20
const BUDGET_MS = 10_000

type RetrierDeps = Pick<Deps, 'reads' | 'quarantine' | 'admissionBatcher' | 'nodeBatcher'>

export async function retryQuarantined(deps: RetrierDeps): Promise<{ written: number }> {
  let written = 0
  for (;;) {
    const kept = await takeKeptItems(deps, MAX_ITEMS)
    const kinds = await Promise.all(kept.map(({ item }) => submit(deps, item)))
    const decided = kept.filter((_, n) => kinds[n] !== 'undecided' && kinds[n] !== 'quarantined')
    if (decided.length > 0) await forgetKeptItems(deps, decided)
    written += decided.length
    if (decided.length === 0) return { written }
  }
}

async function submit({ admissionBatcher, nodeBatcher }: RetrierDeps, item: KeptItem): Promise<string> {
  const outcome =
    item.op === 'settle' ? await admissionBatcher.submit(item, BUDGET_MS) : await nodeBatcher.submit(item, BUDGET_MS)
  return outcome.kind
}
