import { callFilters, type CallFilters } from './call-filters.ts'

/** Filters under a name. */
export interface SavedView {
  name: string
  filters: CallFilters
}

/** Most views of a project; the oldest gives way. */
export const MAX_VIEWS = 20

/** Reads stored views; what is unreadable is left out. */
export function readViews(text: string | null): SavedView[] {
  const stored = parsed(text)
  if (!Array.isArray(stored)) return []
  return (stored as Partial<SavedView>[]).flatMap((view) =>
    typeof view?.name === 'string' && typeof view.filters === 'object'
      ? [{ name: view.name, filters: callFilters({ ...view.filters }) }]
      : [],
  )
}

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '[]')
  } catch {
    return null
  }
}

/** Adds a view, or replaces the one of the same name. */
export function withView(views: readonly SavedView[], view: SavedView): SavedView[] {
  return [...withoutView(views, view.name), view].slice(-MAX_VIEWS)
}

export function withoutView(views: readonly SavedView[], name: string): SavedView[] {
  return views.filter((each) => each.name !== name)
}
