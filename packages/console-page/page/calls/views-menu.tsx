import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMe, useScope } from '../api/session.ts'
import { FormDialog } from '../components/dialog.tsx'
import { TextField } from '../components/fields.tsx'
import { Menu, MenuGroup, MenuItem, MenuSeparator } from '../components/menu.tsx'
import type { CallFilters } from './call-filters.ts'
import { readViews, type SavedView, withoutView, withView } from './saved-views.ts'

const MAX_NAME = 60

/** Named filters of the calls of a project. They are kept in this browser, for this user. */
export function SavedViews({ filters }: { filters: CallFilters }) {
  const params = useScope()
  const navigate = useNavigate()
  const [views, change] = useSavedViews()
  const [isNaming, setNaming] = useState(false)
  const current = views.find((view) => JSON.stringify(view.filters) === JSON.stringify(filters))
  return (
    <>
      <Menu
        align="start"
        opener={
          <button type="button" className="button small">
            {current ? `View: ${current.name}` : 'Views'}
          </button>
        }
      >
        {views.length > 0 && (
          <MenuGroup title="Saved in this browser">
            {views.map(({ name, filters: search }) => (
              <MenuItem
                key={name}
                onChoose={() => void navigate({ to: '/projects/$tenant/$project/calls', params, search })}
              >
                {name}
              </MenuItem>
            ))}
          </MenuGroup>
        )}
        {views.length > 0 && <MenuSeparator />}
        <MenuItem onChoose={() => setNaming(true)}>Save this view…</MenuItem>
        {current && (
          <MenuItem isDanger onChoose={() => change((all) => withoutView(all, current.name))}>
            Delete view {current.name}
          </MenuItem>
        )}
      </Menu>
      {isNaming && (
        <SaveViewDialog
          onSave={(name) => change((all) => withView(all, { name, filters }))}
          onClose={() => setNaming(false)}
        />
      )}
    </>
  )
}

function SaveViewDialog({ onSave, onClose }: { onSave: (name: string) => void; onClose: () => void }) {
  const [name, setName] = useState('')
  const change = {
    error: null,
    isPending: false,
    mutate(_: undefined, { onSuccess }: { onSuccess: (saved: void) => void }) {
      onSave(name.trim())
      onSuccess()
    },
  }
  return (
    <FormDialog title="Save this view" submit="Save" isReady={name.trim() !== ''} change={change} onClose={onClose}>
      <TextField
        label="Name"
        hint="Keeps the filters and the order in this browser. A view of the same name is replaced."
        required
        maxLength={MAX_NAME}
        value={name}
        onChange={setName}
      />
    </FormDialog>
  )
}

/** Views of the user and project, and how to change them: those that another window has saved since are kept. */
function useSavedViews(): [SavedView[], (next: (views: SavedView[]) => SavedView[]) => void] {
  const { id } = useMe()
  const { project } = useScope()
  const stored = `console-call-views-${id}-${project}`
  const read = () => readViews(localStorage.getItem(stored))
  const [views, setViews] = useState(read)
  const change = (next: (views: SavedView[]) => SavedView[]) => {
    const changed = next(read())
    localStorage.setItem(stored, JSON.stringify(changed))
    setViews(changed)
  }
  return [views, change]
}
