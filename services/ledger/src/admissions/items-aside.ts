import type { Deps } from '../deps.ts'
import { openAside, type Aside } from '../set-aside/aside.ts'
import { halvesOf } from '../set-aside/halves-of.ts'
import { openKeptItems, type KeepDeps } from '../set-aside/kept-items.ts'
import { projectsOfReservations } from '../set-aside/projects-of.ts'
import type { Group, Remembered } from '../set-aside/set-aside.ts'
import { isAdmission, type ClosingItem, type Waiting } from './waiting-items.ts'

interface How {
  tryAlone: (entry: Waiting) => Promise<void>
  drop: (entry: Waiting) => void
}

/** Admissions and closings that go with no batch, and what they are answered in the meantime (set-aside.ts). */
export function openItemsAside(deps: KeepDeps, { tryAlone, drop }: How): Aside<Waiting> {
  const keep = openKeptItems(deps)

  /** A3 of set-aside.ts: what is given up is answered with an end. */
  async function answer(entry: Waiting, { givenUp, error }: Remembered): Promise<void> {
    const { item, ambiguous } = entry
    if (!givenUp || item.op === 'expire') return drop(entry)
    if (isAdmission(item)) {
      if (ambiguous) drop(entry) // it may have been written: whoever asked releases it
      else entry.answer({ kind: 'refused', code: 'unavailable', facts: {} })
      return
    }
    if (item.op === 'release' || (await keep(item, error))) entry.answer({ kind: 'set-aside' })
    else drop(entry)
  }

  return openAside({ setAside: deps.setAside, idOf: ({ item }) => item.id, groupsOf, tryAlone, answer })
}

/** While a project's closings can't be written nothing is admitted to it: nobody could be charged for it. */
function groupsOf({ item, project }: Waiting): Group[] {
  if (project === undefined || project === null) return []
  return isAdmission(item) ? [`admissions ${project}`, `closings ${project}`] : [`closings ${project}`]
}

/** Notes the projects of closings, by their reservations. Where that fails they stay unknown. */
export async function identifyClosings(deps: Pick<Deps, 'reads'>, entries: readonly Waiting[]): Promise<void> {
  const unknown = entries.filter((entry): entry is Waiting<ClosingItem> => entry.project === undefined)
  if (unknown.length === 0) return
  const projects = await projectsOfReservations(
    deps,
    unknown.map(({ item }) => item.id),
  ).catch(() => null)
  if (projects !== null) for (const entry of unknown) entry.project = projects.get(entry.item.id) ?? null
}

export function isOfOneProject(entries: readonly Waiting[]): boolean {
  const [first, ...rest] = entries
  return typeof first?.project === 'string' && rest.every(({ project }) => project === first.project)
}

/** Two parts, of different projects where there are several: so few batches find the one that is wrong. */
export function partsOf(entries: readonly Waiting[]): Waiting[][] {
  const projects = [...Map.groupBy(entries, ({ project }) => project ?? '').values()]
  if (projects.length === 1) return halvesOf(entries)
  return halvesOf(projects).map((half) => half.flat())
}
